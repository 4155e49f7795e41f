/**
 * Outcome of one attempt: delivered, deferred or bounced, with the reply of the host. Failures of hosts are
 * values, never exceptions.
 */

import { classify, type Meaning } from '../../../protocols/bounces/classify.ts'
import type { BounceClass } from '../../../protocols/bounces/rules/bounce-class.ts'
import type { RuleAlert } from '../../../protocols/bounces/rules/rule.ts'
import type { EnvelopeFacts } from '../../../protocols/bounces/sentence/clauses.ts'
import type { ReplyPhase } from '../../../protocols/bounces/sentence/reading.ts'
import { formatReply, type SmtpReply } from '../../../protocols/smtp/reply.ts'
import { providerOf } from '../destinations/providers.ts'
import type { Phase, RecipientResult, SmtpFailure } from '../smtp-client/types.ts'

type AttemptVerdict =
  | { kind: 'delivered' }
  | { kind: 'deferred'; class: BounceClass }
  | { kind: 'bounced'; class: BounceClass }

/** The verdict and the reply or error that led to it. */
export interface Outcome {
  verdict: AttemptVerdict
  /** The phase that decided; null when no host was tried. */
  phase: Phase | 'dns' | null
  reply: SmtpReply | null
  /** The reply or the error, shown to operators and senders. */
  text: string
  /** Enhanced status code of a bounce that this side decided. */
  enhanced?: string
  /**
   * Whether the host failed or asked for fewer connections. Another host is tried, and the circuit breaker
   * counts a failure.
   */
  hostUnavailable: boolean
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
  /** Meaning of a negative reply; null when there is none. */
  meaning: Meaning | null
  /** Overrides the alert of the meaning. */
  alert?: RuleAlert
}

/**
 * Outcome for a recipient of a transaction.
 * @param mxHost the host that replied
 * @param facts called for a refusal
 */
export function outcomeOf(result: RecipientResult, mxHost: string, facts?: () => EnvelopeFacts): Outcome {
  if (result.kind === 'accepted')
    return {
      verdict: { kind: 'delivered' },
      phase: result.phase,
      reply: result.reply,
      text: formatReply(result.reply),
      hostUnavailable: false,
      meaning: null,
    }
  if (result.kind === 'failed') return outcomeOfFailure(result.failure, mxHost)
  const { phase, reply, local } = result
  const meaning = classify({
    ...reply,
    phase: replyPhaseOf(phase),
    provider: providerOf([mxHost])?.name,
    facts: facts?.(),
  })
  return {
    verdict: verdictOf(meaning),
    phase,
    reply,
    text: formatReply(reply),
    hostUnavailable: meaning.pressure === 'congestion',
    ...(local && { unfitHost: true }),
    meaning,
  }
}

/**
 * Outcome of a session or transaction that broke off, which is never a verdict about the recipient. After the
 * final dot the message may have been accepted, so no other host is tried in the same attempt.
 */
export function outcomeOfFailure(failure: SmtpFailure, mxHost: string): Outcome {
  const { phase, message } = failure
  // A positive reply that came at the wrong time is not the reason of the failure; the message says what is.
  const reply = failure.reply && failure.reply.code >= 400 ? failure.reply : null
  const meaning =
    reply && failure.kind === 'reply'
      ? classify({ ...reply, phase: 'host', provider: providerOf([mxHost])?.name })
      : null
  return {
    verdict: meaning ? verdictOf(meaning) : { kind: 'deferred', class: 'unknown' },
    phase,
    reply,
    text: reply ? formatReply(reply) : message,
    hostUnavailable: phase !== 'final-dot' && meaning?.class !== 'greylisted',
    ...(LOCAL_RESOURCE_ERRORS.has(failure.code ?? '') && { isLocalCause: true }),
    meaning,
  }
}

/** The operating system has no more files, buffers or memory. */
const LOCAL_RESOURCE_ERRORS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])

/** Unable to route (RFC 3463 §3.5). */
const NO_ROUTE = '5.4.4'

/** Outcome that was decided before a host was tried. */
export function outcomeWithoutHost(
  kind: 'deferred' | 'bounced',
  bounceClass: BounceClass,
  text: string,
): Outcome {
  return {
    verdict: { kind, class: bounceClass },
    phase: 'dns',
    reply: null,
    text,
    ...(bounceClass === 'no-route' && { enhanced: NO_ROUTE }),
    hostUnavailable: false,
    meaning: null,
  }
}

function verdictOf({ action, class: bounceClass }: Meaning): AttemptVerdict {
  return { kind: action === 'bounce' ? 'bounced' : 'deferred', class: bounceClass }
}

/**
 * Outcome of several hosts none of which gave a verdict about the recipient. It is permanent only when every
 * host refused permanently.
 */
export function outcomeOfHosts(outcomes: readonly Outcome[]): Outcome {
  return outcomes.findLast(({ verdict }) => verdict.kind === 'deferred') ?? outcomes.at(-1)!
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
export function requiresTls({ verdict, reply }: Outcome): boolean {
  return verdict.kind !== 'delivered' && reply !== null && (reply.code === 530 || NAMES_TLS.test(reply.text))
}

/**
 * A refusal that the fallback to plain text has caused is not a verdict on the message: the delivery is
 * deferred until TLS works.
 */
export function waitingForTls(outcome: Outcome): Outcome {
  const { verdict } = outcome
  if (verdict.kind === 'delivered') return outcome
  return { ...outcome, verdict: { kind: 'deferred', class: verdict.class }, hostUnavailable: true }
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
 * Outcome of an attempt over a smart host. What fails before the envelope is never the recipient's fault:
 * mail is deferred, and a failed login raises an alert. Such a failure affects all mail to the smart host, so
 * the local cause is dropped.
 */
export function relayed({ isLocalCause: _, ...outcome }: Outcome): Outcome {
  const { verdict, phase, reply } = outcome
  const isLoginFault = LOGIN_FAILURE_CODES.has(reply?.code) || (phase === 'auth' && (reply?.code ?? 0) >= 500)
  if (!isLoginFault && !PHASES_BEFORE_MAIL.has(phase)) return outcome
  return {
    ...outcome,
    ...(verdict.kind === 'bounced' && { verdict: { kind: 'deferred', class: verdict.class } }),
    hostUnavailable: true,
    ...(isLoginFault && { alert: 'smart-host-login' }),
  }
}
