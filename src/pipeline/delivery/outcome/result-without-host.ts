/**
 * Results that no host on the network decided: by a route or TLS policy, by an error on this side, by the
 * inbox of a hosted domain, or by the simulator.
 *
 * In: refusals and local replies, from `attempt.ts` and the delivery runner. Out: results of attempts.
 */
import type { BounceClass } from '../../../protocols/bounces/rules/bounce-class.ts'
import { formatReply, type SmtpReply } from '../../../protocols/smtp/reply.ts'
import type { Cause } from '../../../resources/emails/explanation/cause.ts'
import type { ExplanationCode } from '../../../resources/emails/explanation/codes.ts'
import type { HostRefusal } from '../tls-policy/host-tls-policy.ts'
import type { NoNextHop } from '../tls-policy/next-hop.ts'
import type { AttemptResult } from './attempt-result.ts'

/** Unable to route (RFC 3463 §3.5). */
const NO_ROUTE = '5.4.4'

/** Result that was decided before a host was tried. */
export function resultWithoutHost(
  kind: AttemptResult['kind'],
  bounceClass: BounceClass,
  text: string,
  cause: Cause,
): AttemptResult {
  return {
    kind,
    class: bounceClass,
    phase: 'dns',
    reply: null,
    text,
    cause,
    hostAttempts: [],
    ...(bounceClass === 'no-route' && { enhanced: NO_ROUTE }),
  }
}

/** Why a host, or one of its addresses, is not tried. */
export type SkippedHost =
  | { why: 'limit'; hostCount: number }
  | { why: 'tls-policy'; host: string; refusal: HostRefusal }
  | { why: 'lookup-failed'; host: string; reason: string }
  /** `family` is null when the host has no address of any family. */
  | { why: 'no-address'; host: string; family: string | null }
  | { why: 'private-address'; host: string; address: string }

export function resultOfSkipped(skipped: SkippedHost): AttemptResult {
  switch (skipped.why) {
    case 'limit':
      return resultWithoutHost('deferred', 'unknown', `${skipped.hostCount} more hosts were not tried`, {
        code: 'connection_failed',
      })
    case 'tls-policy': {
      const { host, refusal } = skipped
      const by = refusal.policyType === 'sts' ? 'MTA-STS' : 'DANE'
      return resultWithoutHost('deferred', 'policy', refusal.refusal, { code: 'tls_policy', host, by })
    }
    case 'lookup-failed':
      return lookupFailed(`the address of ${skipped.host} is not known: ${skipped.reason}`)
    case 'no-address': {
      const family = skipped.family === null ? '' : `${skipped.family} `
      return resultWithoutHost('bounced', 'no-route', `${skipped.host} has no ${family}address`, NO_HOST)
    }
    case 'private-address': {
      const text = `${skipped.host} has the private address ${skipped.address}`
      return resultWithoutHost('bounced', 'no-route', text, NO_HOST)
    }
  }
}

const NO_HOST = { code: 'no_mail_host' } as const

/** Result of a DNS lookup that failed and is repeated later. */
export function lookupFailed(reason: string): AttemptResult {
  return {
    ...resultWithoutHost('deferred', 'unknown', reason, { code: 'dns_failed' }),
    hostUnavailable: true,
  }
}

/** The domain does not exist. A zone that is broken for a moment can cause the same answer. */
export const NO_DOMAIN = '5.1.2'
/** The domain declares that it accepts no mail (RFC 7505). */
const NULL_MX = '5.1.10'
/** Mail for the domain would come back here. */
const LOOP = '5.4.6'
const NO_ROUTE_CODES: Readonly<Record<string, ExplanationCode>> = {
  [NO_DOMAIN]: 'domain_not_found',
  [NULL_MX]: 'null_mx',
  [LOOP]: 'mail_loop',
}
/** Minimum time in ms between two answers that the domain does not exist. */
export const CONFIRMATION_MS_MIN = 300_000

/**
 * Result of a delivery whose domain has no mail host.
 * @param mayReturn whether the domain is missing and a later attempt must confirm it
 */
export function resultWithoutRoute(
  { enhanced, reason }: { enhanced: string; reason: string },
  mayReturn: boolean,
): AttemptResult {
  const blamesAddress = enhanced === NO_DOMAIN || enhanced === NULL_MX
  const bounceClass = blamesAddress ? 'bad-domain' : 'no-route'
  const cause = { code: NO_ROUTE_CODES[enhanced] ?? 'no_mail_host' }
  if (mayReturn)
    return {
      ...resultWithoutHost('deferred', bounceClass, reason, cause),
      hintMs: CONFIRMATION_MS_MIN,
    }
  return { ...resultWithoutHost('bounced', bounceClass, reason, cause), enhanced, blamesAddress }
}

/**
 * Result of a message whose TLS requirements no connection can meet.
 * @param by whose requirements they are
 */
export function resultWithoutNextHop({ kind, reason, enhanced }: NoNextHop, by: string): AttemptResult {
  return { ...resultWithoutHost(kind, 'policy', reason, { code: 'tls_policy', by }), enhanced }
}

/** Result of an email for which no message can be built. */
export function notSendable(reason: string): AttemptResult {
  return resultWithoutHost('failed', 'unknown', reason, { code: 'not_sendable', by: reason })
}

export function internalError(): AttemptResult {
  return resultWithoutHost('deferred', 'unknown', 'an internal error', { code: 'internal_error' })
}

/** Result of a delivery to an inbox of this installation, which refuses only messages that loop. */
export function resultOfInbox(reply: SmtpReply): AttemptResult {
  const isRefusal = reply.code >= 500
  return {
    kind: isRefusal ? 'bounced' : 'delivered',
    class: isRefusal ? 'no-route' : 'unknown',
    ...(isRefusal && { cause: { code: 'mail_loop' as const } }),
    phase: 'final-dot',
    reply,
    text: formatReply(reply),
    hostAttempts: [],
  }
}

/** What the simulator answers. */
export interface SimulatedReply extends Pick<AttemptResult, 'class' | 'retryAfterMs'> {
  outcome: AttemptResult['kind']
  reply: SmtpReply
}

export function resultOfSimulation({
  outcome,
  class: bounceClass,
  reply,
  retryAfterMs,
}: SimulatedReply): AttemptResult {
  return {
    kind: outcome,
    class: bounceClass,
    phase: outcome === 'delivered' ? 'final-dot' : 'rcpt',
    reply,
    text: formatReply(reply),
    hostAttempts: [],
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    simulated: true,
  }
}
