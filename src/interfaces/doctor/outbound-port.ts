/** Checks outbound connectivity: port 25 of well-known mail servers, or the smart host. */

import type { Clock } from '../../lib/clock.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'
import { bad, type DoctorFinding, type Examination, good, unknownFinding } from './finding.ts'
import { greetingOf } from './greeting.ts'

interface OutboundPortOptions {
  resolver: Pick<Resolver, 'mx' | 'addresses4' | 'addresses6'>
  clock: Clock
  port: number
  /** Domains whose mail servers are tested; one response is enough. */
  probes: readonly string[]
  isAllowed(address: string): boolean
  /** Relay for all outbound email. */
  smartHost: { host: string; port: number } | null
}

const CHECK = 'outbound_port'
const CLOSED =
  'Many hosting providers block outbound port 25 by default. Ask yours to open it, or send through a smart host (delivery.smart_host).'

export function outboundPort(options: OutboundPortOptions): Examination {
  return {
    check: CHECK,
    examine: signal => (options.smartHost ? ofSmartHost(options, signal) : ofPort(options, signal)),
  }
}

async function ofPort(options: OutboundPortOptions, signal: AbortSignal): Promise<DoctorFinding[]> {
  const { port, probes } = options
  if (probes.length === 0) return []
  const tries = await Promise.all(probes.map(domain => tryDomain(options, domain, signal)))
  const answered = tries.find(({ greeting }) => greeting !== undefined)
  if (answered)
    return [
      good(
        CHECK,
        null,
        `Outbound port ${port} is open: ${answered.host} responded with "${answered.greeting}".`,
      ),
    ]
  const reasons = tries.map(({ host, reason }) => `${host}: ${reason}`).join('; ')
  const anyDialled = tries.some(({ wasDialled }) => wasDialled)
  if (!anyDialled) return [unknownFinding(CHECK, null, `No mail server could be tested (${reasons}).`)]
  return [bad('failed', CHECK, null, `Outbound port ${port} is blocked (${reasons}).`, CLOSED)]
}

interface Try {
  host: string
  greeting?: string
  reason?: string
  wasDialled: boolean
}

async function tryDomain(options: OutboundPortOptions, domain: string, signal: AbortSignal): Promise<Try> {
  const { resolver, clock, port, isAllowed } = options
  const mx = await resolver.mx(domain)
  if (mx.kind !== 'found')
    return { host: domain, reason: mx.kind === 'failure' ? mx.reason : 'no MX record', wasDialled: false }
  const host = mx.records.toSorted((a, b) => a.preference - b.preference)[0]!.exchange
  const address = (await addressesOf(resolver, host)).find(isAllowed)
  if (address === undefined) return { host, reason: 'no A or AAAA record', wasDialled: false }
  return greetingOf(address, port, clock, signal).then(
    greeting => ({ host, greeting, wasDialled: true }),
    error => ({ host, reason: (error as Error).message, wasDialled: true }),
  )
}

async function ofSmartHost(
  { smartHost, resolver, clock }: OutboundPortOptions,
  signal: AbortSignal,
): Promise<DoctorFinding[]> {
  const { host, port } = smartHost!
  const subject = `${host}:${port}`
  const [address = host] = await addressesOf(resolver, host)
  const advice = 'Check delivery.smart_host and the network connection to the smart host.'
  return greetingOf(address, port, clock, signal).then(
    greeting => [good(CHECK, subject, `The smart host responded with "${greeting}".`)],
    error => {
      // a client speaks first on implicit TLS, so that there is no greeting to read
      const { message } = error as Error
      if (message.startsWith('nothing within'))
        return [good(CHECK, subject, 'The smart host accepts connections.')]
      return [bad('failed', CHECK, subject, `The smart host does not respond (${message}).`, advice)]
    },
  )
}

/** Returns the addresses to try, IPv4 first. */
export async function addressesOf(
  { addresses4, addresses6 }: Pick<Resolver, 'addresses4' | 'addresses6'>,
  host: string,
): Promise<string[]> {
  const answers = await Promise.all([addresses4(host), addresses6(host)])
  return answers.flatMap(answer => (answer.kind === 'found' ? [...answer.records] : []))
}
