/**
 * Next hop of a message, with the TLS requirements of the recipient domain and of the sender.
 *
 * In: a route and the sender's preference. Out: the next hop, or a bounce or deferral when no connection
 * could meet the requirements. Called by `attempt.ts`.
 */
import type { MxHost } from '../../../protocols/dns/mx-hosts.ts'
import type { SmartHost } from '../destinations/smart-host.ts'
import type { Dane } from './dane.ts'
import type { MtaStsCache, StsPolicy } from './mta-sts-cache.ts'

/**
 * TLS preference for a message. `any`: TLS if possible. `enforced`: TLS with a verified certificate, by the
 * setting of the sending domain. `required`: the same, and on all later hops (RFC 8689). `waived`: delivery
 * matters more than the policies of the receiving domain (RFC 8689 §5).
 */
export type MessageTls = 'any' | 'enforced' | 'required' | 'waived'

/**
 * TLS requirements of a recipient domain, cached with its route. They are plain data, because routes are
 * passed between threads.
 */
export interface DomainSecurity {
  /** The MTA-STS policy, unless its mode is none. */
  sts: StsPolicy | null
  /** MX hosts whose names DNSSEC validates. DANE may apply to them; other hosts are not used. */
  secureHosts: readonly string[]
  /** Why the requirements are not completely known; null when they are. */
  unknown: string | null
  /** Why nothing may be sent to the domain now; null when mail may be sent. */
  bogus: string | null
}

interface RoutedDestination {
  /** Recipient domain. */
  domain: string
  hosts: readonly MxHost[]
  /** Domains with the same value share connections. */
  hostSet: string
  /** Absent when the domain has no TLS requirements. */
  security?: DomainSecurity | undefined
}

export interface NextHop {
  domain: string
  hosts: readonly MxHost[]
  /** Key of the sessions in the pool. Deliveries with the same requirements share sessions. */
  sessions: string
  /** Whether certificates must be verified. */
  verified: boolean
  sts: StsPolicy | null
  /** MX hosts whose names DNSSEC validates. If there are any, no others are used. */
  secureHosts: readonly string[]
  /** The smart host, if the next hop is one. */
  smartHost?: SmartHost
}

/** No connection could meet the requirements. */
export interface NoNextHop {
  kind: 'bounced' | 'deferred'
  enhanced: string
  reason: string
}

export function nextHopTo(
  { domain, hosts, hostSet, security }: RoutedDestination,
  messageTls: MessageTls,
): NextHop | NoNextHop {
  const insists = messageTls === 'enforced' || messageTls === 'required'
  if (security?.bogus && messageTls !== 'waived')
    return { kind: 'deferred', enhanced: '4.7.5', reason: security.bogus }
  if (messageTls === 'required') {
    const fault = faultOfNames(domain, security)
    if (fault) return fault
  }
  const { sts = null, secureHosts = [] } = (messageTls === 'waived' ? undefined : security) ?? {}
  const isEnforced = sts?.mode === 'enforce'
  let sessions = hostSet
  if (secureHosts.length > 0) sessions += ' dane'
  if (isEnforced) sessions += ` sts ${sts.mx.join(' ')}`
  else if (insists) sessions += ' verified'
  return { domain, hosts, sessions, verified: insists || isEnforced, sts, secureHosts }
}

/**
 * The operator vouches for the name of the smart host. The requirements of the recipient domain are left to
 * the smart host.
 */
export function nextHopOver(smartHost: SmartHost, domain: string, messageTls: MessageTls): NextHop {
  const { name, host, tls } = smartHost
  const insists = messageTls === 'enforced' || messageTls === 'required'
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
 * A certificate proves the name of a host. REQUIRETLS also needs proof that the name is the right one
 * (RFC 8689 §4.2.1).
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

interface SecurityOptions {
  /** Null when MTA-STS is off. */
  sts: MtaStsCache | null
  /** Null without a validating resolver. */
  dane: Dane | null
}

const NO_HOSTS: readonly string[] = []

/** Finds the TLS requirements of a recipient domain, from its MTA-STS policy and DNSSEC. */
export function createSecurityOf({ sts, dane }: SecurityOptions) {
  return async (domain: string): Promise<DomainSecurity | undefined> => {
    const [policy, hosts] = await Promise.all([
      sts ? sts.policyOf(domain) : null,
      dane ? dane.secureHosts(domain) : NO_HOSTS,
    ])
    const bogus =
      'failure' in hosts ? `the MX hosts of ${domain} cannot be validated: ${hosts.failure}` : null
    const secureHosts = 'failure' in hosts ? NO_HOSTS : hosts
    if (policy === null && !bogus && secureHosts.length === 0) return undefined
    const unknown = policy === undefined ? `the MTA-STS policy of ${domain} cannot be had` : null
    return { sts: policy ?? null, secureHosts, unknown, bogus }
  }
}
