/**
 * What the way to a domain must fulfil: what its owner asks of senders, and what the sender asks for one
 * message.
 */
import type { MxHost } from '../../../protocols/dns/mx-hosts.ts'
import type { SmartHost } from '../smart-host.ts'
import type { StsPolicy } from './mta-sts-cache.ts'

/**
 * What the sender asks. `any`: encrypted where it can be. `enforced`: TLS with a certificate that verifies,
 * by the sending domain's setting. `required`: that, and the same of every later hop (RFC 8689). `waived`:
 * delivery matters more than the receiving domain's policies (RFC 8689 §5).
 */
export type MessageTls = 'any' | 'enforced' | 'required' | 'waived'

/** What a domain's owner asks, kept with its route. Plain data: it goes from thread to thread. */
export interface DomainSecurity {
  /** Its MTA-STS policy, unless the mode is none. */
  sts: StsPolicy | null
  /** Its MX hosts as far as DNSSEC vouches for their names: DANE may apply to them, and others are forged. */
  secureHosts: readonly string[]
  /** Why not all of this is known; null where it is. */
  unknown: string | null
  /** Why nothing may be sent to it now; null where it may. */
  bogus: string | null
}

interface RoutedDestination {
  /** The recipient's domain. */
  domain: string
  hosts: readonly MxHost[]
  /** Domains with the same share connections. */
  hostSet: string
  /** Absent where nothing is asked. */
  security?: DomainSecurity | undefined
}

export interface NextHop {
  domain: string
  hosts: readonly MxHost[]
  /** Under which its sessions are kept: shared among deliveries that ask the same of them. */
  sessions: string
  /** Whether certificates must verify. */
  verified: boolean
  sts: StsPolicy | null
  /** Those that DNSSEC vouches for; where there are any, no others are spoken to. */
  secureHosts: readonly string[]
  /** The only host, where there is one. */
  smartHost?: SmartHost
}

/** No connection could be good enough. */
interface NoNextHop {
  kind: 'bounced' | 'deferred'
  enhanced: string
  reason: string
}

export function nextHopTo(
  { domain, hosts, hostSet, security }: RoutedDestination,
  asked: MessageTls,
): NextHop | NoNextHop {
  const insists = asked === 'enforced' || asked === 'required'
  if (security?.bogus && asked !== 'waived')
    return { kind: 'deferred', enhanced: '4.7.5', reason: security.bogus }
  if (asked === 'required') {
    const fault = faultOfNames(domain, security)
    if (fault) return fault
  }
  const { sts = null, secureHosts = [] } = (asked === 'waived' ? undefined : security) ?? {}
  const isEnforced = sts?.mode === 'enforce'
  let sessions = hostSet
  if (secureHosts.length > 0) sessions += ' dane'
  if (isEnforced) sessions += ` sts ${sts.mx.join(' ')}`
  else if (insists) sessions += ' verified'
  return { domain, hosts, sessions, verified: insists || isEnforced, sts, secureHosts }
}

/** The operator answers for its name; what the recipient's domain asks is for the smart host to see to. */
export function nextHopOver(smartHost: SmartHost, domain: string, asked: MessageTls): NextHop {
  const { name, host, tls } = smartHost
  const insists = asked === 'enforced' || asked === 'required'
  const verified = insists || tls !== 'opportunistic'
  return {
    domain,
    hosts: [{ name: host, preference: 0 }],
    sessions: verified ? name : `${name} unverified`,
    verified,
    sts: null,
    secureHosts: [],
    smartHost,
  }
}

/**
 * A certificate proves a host's name; that the name is the right one must be known, too (RFC 8689 §4.2.1).
 */
function faultOfNames(domain: string, security: DomainSecurity | undefined): NoNextHop | undefined {
  if (!security) return noNames(domain)
  if (security.secureHosts.length > 0 || security.sts?.mode === 'enforce') return undefined
  if (security.unknown) return { kind: 'deferred', enhanced: '4.7.5', reason: security.unknown }
  return noNames(domain)
}

function noNames(domain: string): NoNextHop {
  const reason = `the message requires TLS, and ${domain} secures the names of its hosts neither by MTA-STS nor by DNSSEC`
  return { kind: 'bounced', enhanced: '5.7.30', reason }
}
