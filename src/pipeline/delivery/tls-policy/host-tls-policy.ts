/** On which policy one MX host is spoken to: the strictest that apply to it. */
import type { SecureContext } from 'node:tls'
import type { Clock } from '../../../lib/clock.ts'
import { createExpiringMap, type ExpiringMap } from '../../../lib/expiring-map.ts'
import { createTickets, type Tickets } from '../smtp-client/tickets.ts'
import { createClientContext, createReducedContext } from '../smtp-client/tls.ts'
import type { SessionOptions, SmtpFailure } from '../smtp-client/types.ts'
import type { Dane } from './dane.ts'
import type { NextHop } from './next-hop.ts'
import { fitsPolicy } from './sts-policy.ts'
import { chainOf, daneFault, type Tlsa, tlsaText } from './tlsa.ts'

/**
 * By which rule TLS is demanded: none, the sending domain's or message's wish, the receiving domain's policy,
 * the setting of the smart host.
 */
export const POLICY_NAMES = ['none', 'domain', 'mta-sts', 'dane', 'smart-host'] as const
export type PolicyName = (typeof POLICY_NAMES)[number]

export interface HostTlsPolicy {
  policy: PolicyName
  /** Why it is plain text from the start. */
  brokenTls: string | null
  /** The TLSA records that decide, as text. */
  tlsa?: readonly string[]
  /** What a session on these policy is opened with. */
  options: Pick<
    SessionOptions,
    | 'tls'
    | 'secureContext'
    | 'fallbackContext'
    | 'rejectUnauthorized'
    | 'tickets'
    | 'checkPeer'
    | 'pipelining'
  >
}

/** With its type in a TLS report (RFC 8460 §4.3). */
export interface HostRefusal {
  refusal: string
  policyType: 'sts' | 'tlsa'
  result: 'validation-failure' | 'dnssec-invalid'
}

export interface HostTlsPolicies {
  /** Or why the host is not spoken to. */
  policyFor(nextHop: NextHop, host: string): Promise<HostTlsPolicy | HostRefusal>
  /** A session had to go on in plain text. */
  recordTlsFailure(host: string, failure: SmtpFailure): void
  /** It takes nothing in plain text: TLS is tried again. */
  recordTlsRequired(host: string): void
  /** A handshake came about only when less was offered. */
  recordHandshakeFailure(host: string, failure: SmtpFailure): void
  /** It offers PIPELINING, and did not answer what followed the first command. */
  recordPipeliningFailure(host: string): void
}

interface TermsOptions {
  clock: Clock
  /** PEM of the authorities to trust, in place of the runtime's. */
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
      if (usable) return danePolicy(contexts, found.records, [host, domain], clock)
    }
    if (sts?.mode === 'enforce')
      return fitsPolicy(sts, host) ? bySts : refusedBySts(`${host} is not in the MTA-STS policy of ${domain}`)
    if (mustVerify) return nextHop.smartHost ? bySmartHost : verified
    const brokenTls = plainTextHosts.get(host)
    return brokenTls === undefined ? loose : { policy: 'none', brokenTls, options: { tls: 'none' } }
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

/** Tickets of what was negotiated otherwise are not good there. */
function withReducedOffer({ options, ...policy }: HostTlsPolicy): HostTlsPolicy {
  const { secureContext, fallbackContext = secureContext, tickets: _, ...others } = options
  return { ...policy, options: { ...others, ...(fallbackContext && { secureContext: fallbackContext }) } }
}

/** The same policy for a host that announces PIPELINING and loses what follows the first command. */
function withoutPipelining(policy: HostTlsPolicy): HostTlsPolicy {
  return { ...policy, options: { ...policy.options, pipelining: false } }
}

function policyWith(contexts: Contexts, policy: PolicyName, tickets: Tickets): HostTlsPolicy {
  const tls = policy === 'none' ? 'opportunistic' : 'required'
  const rejectUnauthorized = policy !== 'none'
  return { policy, brokenTls: null, options: { tls, ...contexts, rejectUnauthorized, tickets } }
}

/** Without records that can be used, TLS is a must, and the certificate does not matter (RFC 7672 §2.2). */
function danePolicy(
  contexts: Contexts,
  records: readonly Tlsa[],
  names: readonly string[],
  clock: Clock,
): HostTlsPolicy {
  const checkPeer: SessionOptions['checkPeer'] = socket =>
    daneFault(records, chainOf(socket.getPeerX509Certificate()), names, clock.now())
  const options = { tls: 'required', ...contexts, ...(records.length > 0 && { checkPeer }) } as const
  return { policy: 'dane', brokenTls: null, tlsa: records.map(tlsaText), options }
}

/**
 * A host that says it cannot do TLS now may well do it the next time; one that fails at it mostly fails
 * again.
 */
function rememberBroken(hosts: HostFaults, host: string, { phase, message }: SmtpFailure) {
  if (phase === 'tls') hosts.set(host, message)
}

/** The reason of the failure, by host. */
type HostFaults = ExpiringMap<string>

const FAULT_TTL_MS = 3_600_000
const FAULTS_MAX = 5_000

/** Remembers hosts that failed at something, so that it is not tried there again for an hour. */
export function createHostFaults(clock: Clock): HostFaults {
  return createExpiringMap(clock, { keptMs: FAULT_TTL_MS, most: FAULTS_MAX })
}
