/**
 * Checks whether email for the provider host, such as bounces, reaches the inbound listener by its MX record.
 */

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
            'No MX record: bounces cannot be delivered.',
            'Check the provider zone.',
          ),
        ]
      return Promise.all(
        mx.records.map(async ({ exchange }) => {
          const address = (await addressesOf(resolver, exchange)).find(isAllowed)
          const advice = `Forward port ${port} of the public address to smtp.inbound.listen.`
          if (address === undefined)
            return bad('failed', CHECK, exchange, 'No A or AAAA record.', 'Add the address to dns.addresses.')
          return greetingOf(address, port, clock, signal).then(
            greeting => good(CHECK, exchange, `SMTP greeting: "${greeting}".`),
            error =>
              bad(
                'warning',
                CHECK,
                exchange,
                `No response from ${address}, port ${port} (${(error as Error).message}). Some routers block connections from this server to its own public address.`,
                advice,
              ),
          )
        }),
      )
    },
  }
}
