/**
 * Result of an attempt (`AttemptResult`), with the reply of the host. Failures of hosts are values, never
 * exceptions. Results are built here and in `result-without-host.ts`; `attempt.ts` adds the hosts.
 *
 * In: replies and failures of hosts, from `attempt.ts` and `host-session.ts`. Out: the one record of what
 * happened, which decides whether another host is tried, how the egress path is judged, and what is stored
 * (`finish.ts`).
 */

import { classify, type Meaning } from '../../../protocols/bounces/classify.ts'
import type { BounceClass } from '../../../protocols/bounces/rules/bounce-class.ts'
import type { RuleAlert } from '../../../protocols/bounces/rules/rule.ts'
import type { EnvelopeFacts } from '../../../protocols/bounces/sentence/clauses.ts'
import type { ReplyPhase } from '../../../protocols/bounces/sentence/reading.ts'
import { formatReply, type SmtpReply } from '../../../protocols/smtp/reply.ts'
import { type Cause, causeOfReply } from '../../../resources/emails/explanation/cause.ts'
import { providerOf } from '../destinations/providers.ts'
import type { CongestionSignal } from '../shaping/congestion-feedback.ts'
import type { Phase, RecipientResult, SmtpFailure } from '../smtp-client/types.ts'
import type { PolicyName } from '../tls-policy/host-tls-policy.ts'
import type { HostAttempt } from './host-attempt.ts'

/** Result of an attempt, over SMTP or not. */
export interface AttemptResult {
  kind: 'delivered' | 'deferred' | 'bounced' | 'suppressed' | 'failed'
  class: BounceClass
  /** The reason, unless it follows from the class. */
  cause?: Cause
  /** The phase that decided; `dns` when no host was tried. */
  phase: string | null
  reply: SmtpReply | null
  /** The last reply or error, shown to operators and senders. */
  text: string
  /** Enhanced status code of a result that this side decided. */
  enhanced?: string
  /** Hosts in the order in which they were tried. */
  hostAttempts: readonly HostAttempt[]
  /** The one of them that gave the result; absent when none did. */
  by?: HostAttempt
  /** Delay in ms that replaces the one of the retry schedule. */
  retryAfterMs?: number
  /** Minimum delay in ms that the other side asked for. */
  hintMs?: number
  /** Whether the address must be suppressed. */
  blamesAddress?: boolean
  /** Kind of alert to raise for the operator. */
  alert?: RuleAlert
  /** Whether the simulator produced the result. */
  simulated?: boolean
  /** Kind of restraint that the reply asks for with later mail. */
  pressure?: Meaning['pressure']
  /**
   * Whether the host failed or asked for fewer connections. Another host is tried, and the circuit breaker
   * counts a failure.
   */
  hostUnavailable?: boolean
  /**
   * Whether an extension or limit that the host announces rules the message out. Nothing was sent, and
   * another host may accept it.
   */
  unfitHost?: boolean
  /**
   * Whether the cause is on this side: a TLS policy that the host does not meet, or a lack of local
   * resources. The host may be available to others.
   */
  isLocalCause?: boolean
  /** Whether the source address was refused for its reputation, and others may be used. */
  unwantedSource?: boolean
}

/** Returns what the result says about the egress path. */
export function signalOf(result: AttemptResult): CongestionSignal {
  if (result.simulated) return 'neutral'
  if (result.unwantedSource || isBrokenOff(result)) return 'congested'
  return result.reply && !result.hostUnavailable ? 'ok' : 'neutral'
}

/** Whether no other host is tried. */
export function isDecided({ hostUnavailable, unfitHost }: AttemptResult): boolean {
  return !hostUnavailable && !unfitHost
}

/** Whether the host was unavailable. The delivery becomes due as soon as the destination answers. */
export function isBrokenOff({ hostUnavailable, isLocalCause, pressure }: AttemptResult): boolean {
  return hostUnavailable ? !isLocalCause : pressure === 'congestion'
}

/**
 * Result for a recipient of a transaction.
 * @param mxHost the host that replied
 * @param facts called for a refusal
 */
export function resultOf(
  result: RecipientResult,
  mxHost: string,
  facts?: () => EnvelopeFacts,
): AttemptResult {
  if (result.kind === 'accepted')
    return {
      kind: 'delivered',
      class: 'unknown',
      phase: result.phase,
      reply: result.reply,
      text: formatReply(result.reply),
      hostAttempts: [],
    }
  if (result.kind === 'failed') return resultOfFailure(result.failure, mxHost)
  const { phase, reply, local } = result
  const meaning = classify({
    ...reply,
    phase: replyPhaseOf(phase),
    provider: providerOf([mxHost])?.name,
    facts: facts?.(),
  })
  return {
    ...meant(meaning),
    phase,
    reply,
    text: formatReply(reply),
    hostAttempts: [],
    hostUnavailable: meaning.pressure === 'congestion',
    ...(local && { unfitHost: true }),
  }
}

/**
 * Result of a session or transaction that broke off, which is never a verdict about the recipient. After the
 * final dot the message may have been accepted, so no other host is tried in the same attempt.
 */
export function resultOfFailure(failure: SmtpFailure, mxHost: string): AttemptResult {
  const { phase, message } = failure
  // A positive reply that came at the wrong time is not the reason of the failure; the message says what is.
  const reply = failure.reply && failure.reply.code >= 400 ? failure.reply : null
  const meaning =
    reply && failure.kind === 'reply'
      ? classify({ ...reply, phase: 'host', provider: providerOf([mxHost])?.name })
      : null
  return {
    ...(meaning ? meant(meaning) : ({ kind: 'deferred', class: 'unknown' } as const)),
    phase,
    reply,
    text: reply ? formatReply(reply) : message,
    hostAttempts: [],
    ...(!meaning && { cause: causeOfFailure(failure) }),
    hostUnavailable: phase !== 'final-dot' && meaning?.class !== 'greylisted',
    ...(LOCAL_RESOURCE_ERRORS.has(failure.code ?? '') && { isLocalCause: true }),
  }
}

/** The operating system has no more files, buffers or memory. */
const LOCAL_RESOURCE_ERRORS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])

/** Returns why a session or transaction broke off without a verdict. */
function causeOfFailure({ kind, phase, code = '' }: SmtpFailure): Cause {
  if (LOCAL_RESOURCE_ERRORS.has(code)) return { code: 'internal_error' }
  if (phase === 'final-dot' && kind !== 'reply') return { code: 'unconfirmed' }
  if (kind === 'timeout' || code === 'ETIMEDOUT') return { code: 'timed_out', phase }
  if (kind === 'tls') return { code: 'tls_failed' }
  if (kind === 'protocol' || kind === 'reply') return { code: 'protocol_error' }
  if (code === 'ECONNREFUSED') return { code: 'connection_refused' }
  return phase === 'connect' ? { code: 'connection_failed' } : { code: 'connection_lost', phase }
}

const POLICY_WORDS: Readonly<Record<PolicyName, string>> = {
  none: 'The policy',
  domain: 'The sending domain',
  'mta-sts': 'MTA-STS',
  dane: 'DANE',
  'smart-host': 'The operator',
}

/**
 * Result of a connection that did not become a session. A host that does not meet our TLS policy is not
 * unavailable: others may reach it under theirs.
 */
export function resultOfOpening(failure: SmtpFailure, policy: PolicyName, mxHost: string): AttemptResult {
  const result = resultOfFailure(failure, mxHost)
  if (policy === 'none' || failure.kind !== 'tls') return result
  return { ...result, cause: { code: 'tls_policy', by: POLICY_WORDS[policy] ?? policy }, isLocalCause: true }
}

/** Returns what a negative reply means for the delivery, the address, the path and the operator. */
function meant(meaning: Meaning) {
  const { action, class: bounceClass, blamesAddress, pressure, hintMs, alert } = meaning
  return {
    kind: action === 'bounce' ? ('bounced' as const) : ('deferred' as const),
    class: bounceClass,
    cause: causeOfReply(meaning),
    pressure,
    ...(blamesAddress && { blamesAddress }),
    ...(hintMs !== undefined && { hintMs }),
    ...(alert && { alert }),
  }
}

/**
 * Result of several hosts none of which gave a verdict about the recipient. It is permanent only when every
 * host refused permanently.
 */
export function resultOfHosts(results: readonly AttemptResult[]): AttemptResult {
  return results.findLast(({ kind }) => kind === 'deferred') ?? results.at(-1)!
}

function replyPhaseOf(phase: Phase): ReplyPhase {
  switch (phase) {
    case 'mail':
    case 'rcpt':
    case 'data':
    case 'final-dot':
      return phase
    case 'body':
      return 'final-dot'
    default:
      return 'host'
  }
}

const NAMES_TLS = /\b(?:START)?TLS\b/i

/** RFC 3207 §4 defines code 530; some hosts use other codes and mention TLS in the text. */
export function requiresTls({ kind, reply }: AttemptResult): boolean {
  return kind !== 'delivered' && reply !== null && (reply.code === 530 || NAMES_TLS.test(reply.text))
}

/**
 * A refusal that the fallback to plain text has caused is not a verdict on the message: the delivery is
 * deferred until TLS works.
 */
export function waitingForTls(result: AttemptResult): AttemptResult {
  return { ...result, kind: 'deferred', cause: { code: 'tls_required' }, hostUnavailable: true }
}

/** Phases before the recipient is named. */
const PHASES_BEFORE_MAIL: ReadonlySet<string | null> = new Set([
  'dns',
  'connect',
  'banner',
  'ehlo',
  'starttls',
  'tls',
  'auth',
])
/** Codes for a missing, weak or wrong login, and for one that needs TLS (RFC 4954 §6). */
const LOGIN_FAILURE_CODES: ReadonlySet<number | undefined> = new Set([530, 534, 535, 538])

/**
 * Result of an attempt over a smart host. What fails before the envelope is never the recipient's fault:
 * mail is deferred, and a failed login raises an alert. Such a failure affects all mail to the smart host, so
 * the local cause is dropped.
 */
export function relayed({ isLocalCause: _, ...result }: AttemptResult): AttemptResult {
  const { kind, phase, reply } = result
  const isLoginFault = LOGIN_FAILURE_CODES.has(reply?.code) || (phase === 'auth' && (reply?.code ?? 0) >= 500)
  if (!isLoginFault && !PHASES_BEFORE_MAIL.has(phase)) return result
  return {
    ...result,
    ...(kind === 'bounced' && { kind: 'deferred' }),
    hostUnavailable: true,
    ...(isLoginFault && { alert: 'smart-host-login', cause: { code: 'smart_host_login' } }),
  }
}
