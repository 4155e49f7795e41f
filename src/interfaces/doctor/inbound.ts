/** Whether mail for the provider host itself, bounces first of all, reaches us by its MX record. */

import type { Clock } from '../../lib/clock.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'
import { bad, type Examination, good, unknownFinding } from './finding.ts'
import { greetingOf } from './greeting.ts'
import { addressesOf } from './outbound-port.ts'

interface InboundOptions {
  resolver: Pick<Resolver, 'mx' | 'addresses4' | 'addresses6'>
  clock: Clock
  mailHost: string
  port: number
  isAllowed(address: string): boolean
}

const CHECK = 'inbound_mail'

export function inboundMail({ resolver, clock, mailHost, port, isAllowed }: InboundOptions): Examination {
  return {
    check: CHECK,
    async examine(signal) {
      const mx = await resolver.mx(mailHost)
      if (mx.kind === 'failure') return [unknownFinding(CHECK, mailHost, `${mx.reason}.`)]
      if (mx.kind !== 'found')
        return [
          bad(
            'failed',
            CHECK,
            mailHost,
            'It has no MX record: bounces do not come back.',
            'See to the provider zone.',
          ),
        ]
      return Promise.all(
        mx.records.map(async ({ exchange }) => {
          const address = (await addressesOf(resolver, exchange)).find(isAllowed)
          const advice = `Let port ${port} of its address lead to smtp.inbound.listen.`
          if (address === undefined)
            return bad('failed', CHECK, exchange, 'It has no address.', 'Name it in dns.addresses.')
          return greetingOf(address, port, clock, signal).then(
            greeting => good(CHECK, exchange, `It answers: "${greeting}".`),
            error =>
              bad(
                'warning',
                CHECK,
                exchange,
                `It does not answer at ${address}, port ${port} (${(error as Error).message}); seen from here, which a router may not allow.`,
                advice,
              ),
          )
        }),
      )
    },
  }
}
