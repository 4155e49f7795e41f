/**
 * TLS policy for one MX host: the strictest of those that apply.
 *
 * In: a next hop and a host name. Out: TLS options of the session, or a refusal. Also remembers hosts where
 * TLS or pipelining failed. Called by `addresses.ts` and `host-session.ts`.
 */
import type { SecureContext } from 'node:tls'
import type { Clock } from '../../../lib/clock.ts'
import { createExpiringMap, type ExpiringMap } from '../../../lib/expiring-map.ts'
import { createTickets, type Tickets } from '../smtp-client/tickets.ts'
import { createClientContext, createReducedContext } from '../smtp-client/tls.ts'
import type { SmtpFailure, TlsOptions } from '../smtp-client/types.ts'
import type { Dane } from './dane.ts'
import type { NextHop } from './next-hop.ts'
import { fitsPolicy } from './sts-policy.ts'
import { chainOf, daneFault, type Tlsa, tlsaText } from './tlsa.ts'

/**
 * The rule that requires TLS: `domain` is the setting of the sending domain or the preference of the message;
 * `mta-sts` and `dane` are policies of the receiving domain; `smart-host` is the setting of the smart host.
 */
export const POLICY_NAMES = ['none', 'domain', 'mta-sts', 'dane', 'smart-host'] as const
export type PolicyName = (typeof POLICY_NAMES)[number]

export interface HostTlsPolicy {
  policy: PolicyName
  /** Why the session is opened in plain text. */
  brokenTls: string | null
  /** The TLSA records that apply, in zone file syntax. */
  tlsa?: readonly string[]
  /** Implements the policy. */
  tls: TlsOptions
  /** False for a host that loses pipelined commands. */
  pipelining?: false
}

/** Why a host is not used, with the type for TLS reports (RFC 8460 §4.3). */
export interface HostRefusal {
  refusal: string
  policyType: 'sts' | 'tlsa'
  result: 'validation-failure' | 'dnssec-invalid'
}

export interface HostTlsPolicies {
  /** @returns a refusal when the host must not be used */
  policyFor(nextHop: NextHop, host: string): Promise<HostTlsPolicy | HostRefusal>
  /** Records that a session fell back to plain text. The next one is opened in plain text. */
  recordTlsFailure(host: string, failure: SmtpFailure): void
  /** Records that the host refuses plain text. The next session uses TLS again. */
  recordTlsRequired(host: string): void
  /** Records that the handshake succeeded only with reduced TLS options. */
  recordHandshakeFailure(host: string, failure: SmtpFailure): void
  /** Records that the host announces PIPELINING but does not answer commands after the first one. */
  recordPipeliningFailure(host: string): void
}

interface TermsOptions {
  clock: Clock
  /** PEM certificates of the trusted authorities; the runtime's when absent. */
  authorities?: string[] | undefined
  /** Null without a validating resolver. */
  dane: Pick<Dane, 'tlsaOf'> | null
}

export function createHostTlsPolicies({ clock, authorities, dane }: TermsOptions): HostTlsPolicies {
  const contexts: Contexts = {
    secureContext: createClientContext(authorities),
    fallbackContext: createReducedContext(authorities),
  }
  const plainTextHosts = createHostFaults(clock)
  const reducedHosts = createHostFaults(clock)
  const unpipelinedHosts = createHostFaults(clock)
  const loose = policyWith(contexts, 'none', createTickets(clock))
  const verifiedTickets = createTickets(clock)
  const verified = policyWith(contexts, 'domain', verifiedTickets)
  const bySmartHost = policyWith(contexts, 'smart-host', verifiedTickets)
  const bySts = policyWith(contexts, 'mta-sts', verifiedTickets)

  const policyFor = async (nextHop: NextHop, host: string): Promise<HostTlsPolicy | HostRefusal> => {
    const { domain, verified: mustVerify, sts, secureHosts } = nextHop
    if (dane && secureHosts.length > 0) {
      if (!secureHosts.includes(host)) return refusedByDane(`DNSSEC knows no MX host ${host} of ${domain}`)
      const found = await dane.tlsaOf(host)
      if (found.kind === 'failure') return refusedByDane(`DANE for ${host}: ${found.reason}`)
      const usable = found.kind === 'records' && (found.records.length > 0 || !mustVerify)
      if (usable) return danePolicy(contexts, found, [found.baseDomain, host, domain], clock)
    }
    if (sts?.mode === 'enforce')
      return fitsPolicy(sts, host) ? bySts : refusedBySts(`${host} is not in the MTA-STS policy of ${domain}`)
    if (mustVerify) return nextHop.smartHost ? bySmartHost : verified
    const brokenTls = plainTextHosts.get(host)
    return brokenTls === undefined ? loose : { policy: 'none', brokenTls, tls: { mode: 'none' } }
  }
  return {
    async policyFor(nextHop, host) {
      const policy = await policyFor(nextHop, host)
      if ('refusal' in policy) return policy
      const offered = reducedHosts.get(host) === undefined ? policy : withReducedOffer(policy)
      return unpipelinedHosts.get(host) === undefined ? offered : withoutPipelining(offered)
    },
    recordTlsFailure: (host, failure) => rememberBroken(plainTextHosts, host, failure),
    recordTlsRequired: host => plainTextHosts.delete(host),
    recordHandshakeFailure: (host, { message }) => reducedHosts.set(host, message),
    recordPipeliningFailure: host => unpipelinedHosts.set(host, 'what follows MAIL is lost'),
  }
}

function refusedByDane(refusal: string): HostRefusal {
  return { refusal, policyType: 'tlsa', result: 'dnssec-invalid' }
}

function refusedBySts(refusal: string): HostRefusal {
  return { refusal, policyType: 'sts', result: 'validation-failure' }
}

interface Contexts {
  secureContext: SecureContext
  fallbackContext: SecureContext
}

/** Session tickets that were negotiated with other TLS options cannot be used. */
function withReducedOffer({ tls, ...policy }: HostTlsPolicy): HostTlsPolicy {
  const { secureContext, fallbackContext = secureContext, tickets: _, ...others } = tls
  return { ...policy, tls: { ...others, ...(fallbackContext && { secureContext: fallbackContext }) } }
}

/** Returns the same policy without pipelining. */
export function withoutPipelining(policy: HostTlsPolicy): HostTlsPolicy {
  return { ...policy, pipelining: false }
}

function policyWith(contexts: Contexts, policy: PolicyName, tickets: Tickets): HostTlsPolicy {
  const mode = policy === 'none' ? 'opportunistic' : 'required'
  const rejectUnauthorized = policy !== 'none'
  return { policy, brokenTls: null, tls: { mode, ...contexts, rejectUnauthorized, tickets } }
}

/**
 * The base domain of the records is sent as SNI (RFC 7672 §8.1). Without usable records, TLS is required and
 * the certificate is not verified (§2.2).
 */
function danePolicy(
  contexts: Contexts,
  { records, baseDomain }: { records: readonly Tlsa[]; baseDomain: string },
  names: readonly string[],
  clock: Clock,
): HostTlsPolicy {
  const checkPeer: TlsOptions['checkPeer'] = socket =>
    daneFault(records, chainOf(socket.getPeerX509Certificate()), names, clock.now())
  const tls: TlsOptions = {
    mode: 'required',
    ...contexts,
    serverName: baseDomain,
    ...(records.length > 0 && { checkPeer }),
  }
  return { policy: 'dane', brokenTls: null, tlsa: records.map(tlsaText), tls }
}

/** Remembers failed handshakes only. A host that refuses STARTTLS temporarily may accept it next time. */
function rememberBroken(hosts: HostFaults, host: string, { phase, message }: SmtpFailure) {
  if (phase === 'tls') hosts.set(host, message)
}

/** The reason of the failure, by host. */
type HostFaults = ExpiringMap<string>

const FAULT_TTL_MS = 3_600_000
const FAULTS_MAX = 5_000

/** Remembers for an hour which hosts failed at something, so that it is not tried there again. */
export function createHostFaults(clock: Clock): HostFaults {
  return createExpiringMap(clock, { ttlMs: FAULT_TTL_MS, maxEntries: FAULTS_MAX })
}
