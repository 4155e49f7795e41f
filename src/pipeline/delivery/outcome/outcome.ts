/**
 * What one attempt comes to: delivered, deferred or bounced, with what the other side said. Values, never
 * exceptions.
 */

import type { BounceClass } from '../../../protocols/bounces/bounce-class.ts'
import { classify, type Meaning } from '../../../protocols/bounces/classify.ts'
import type { ReplyPhase } from '../../../protocols/bounces/reading.ts'
import type { RuleAlert } from '../../../protocols/bounces/rules/rule.ts'
import { formatReply, type SmtpReply } from '../../../protocols/smtp/reply.ts'
import { providerOf } from '../providers.ts'
import type { Phase, RecipientResult, SmtpFailure } from '../smtp-client/types.ts'

type AttemptVerdict =
  | { kind: 'delivered' }
  | { kind: 'deferred'; class: BounceClass }
  | { kind: 'bounced'; class: BounceClass }

/** The verdict, and the last word that led to it. */
export interface Outcome {
  verdict: AttemptVerdict
  /** The step in which it fell; null when no host was reached for. */
  phase: Phase | 'dns' | null
  reply: SmtpReply | null
  /** For people: the reply, or what went wrong. */
  text: string
  /** The enhanced status of a bounce that is our own verdict. */
  enhanced?: string
  /**
   * The host itself is in trouble or wants fewer connections: another host may do better, and this one needs
   * rest.
   */
  hostUnavailable: boolean
  /** What the host announces rules the message out, and nothing was sent: another host may take it. */
  unfitHost?: boolean
  /**
   * The trouble is not the host's: it does not fulfil what a policy asks of it, or something is short here.
   * Others may well go there.
   */
  onOurTerms?: boolean
  /** Of a negative reply: all that it means; null where nothing of the kind was said. */
  meaning: Meaning | null
  /** In the place of the meaning's. */
  alert?: RuleAlert
}

/**
 * The peer's verdict about the recipient, or the lack of one.
 * @param mxHost that gave it
 */
export function outcomeOf(result: RecipientResult, mxHost: string): Outcome {
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
  const meaning = classify(replyPhaseOf(phase), reply, providerOf([mxHost])?.name)
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
 * A session or transaction that broke off. Nothing of it is a verdict about the recipient. Once the final dot
 * is out the message may have arrived, so no other host is tried in the same attempt.
 */
export function outcomeOfFailure(failure: SmtpFailure, mxHost: string): Outcome {
  const { phase, reply, message } = failure
  const meaning =
    reply && failure.kind === 'reply' ? classify('host', reply, providerOf([mxHost])?.name) : null
  return {
    verdict: meaning ? verdictOf(meaning) : { kind: 'deferred', class: 'unknown' },
    phase,
    reply,
    text: reply ? formatReply(reply) : message,
    hostUnavailable: phase !== 'final-dot' && meaning?.class !== 'greylisted',
    ...(LOCAL_RESOURCE_ERRORS.has(failure.code ?? '') && { onOurTerms: true }),
    meaning,
  }
}

/** The system has no more files, buffers or memory for us. */
const LOCAL_RESOURCE_ERRORS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])

/** Unable to route (RFC 3463 §3.5). */
const NO_ROUTE = '5.4.4'

/** An outcome that fell before any host was spoken to. */
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
 * What the attempts at several hosts come to when none gave a verdict about the recipient: permanent only
 * when every host refused for good.
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

/** RFC 3207 §4: 530; others name it in their words. */
export function requiresTls({ verdict, reply }: Outcome): boolean {
  return verdict.kind !== 'delivered' && reply !== null && (reply.code === 530 || NAMES_TLS.test(reply.text))
}

/** What the fallback has brought about is no verdict on the message: it waits for TLS to be well again. */
export function waitingForTls(outcome: Outcome): Outcome {
  const { verdict } = outcome
  if (verdict.kind === 'delivered') return outcome
  return { ...outcome, verdict: { kind: 'deferred', class: verdict.class }, hostUnavailable: true }
}

/** Before a recipient is named. */
const PHASES_BEFORE_MAIL: ReadonlySet<string | null> = new Set([
  'dns',
  'connect',
  'banner',
  'ehlo',
  'starttls',
  'tls',
  'auth',
])
/** No login, too weak a one, a wrong one, or one that needs TLS (RFC 4954 §6). */
const LOGIN_FAILURE_CODES: ReadonlySet<number | undefined> = new Set([530, 534, 535, 538])

/**
 * Mail waits for the operator, who is told where the login is at fault. The smart host's trouble is that of
 * all who go there, on the same terms.
 */
export function relayed({ onOurTerms: _, ...outcome }: Outcome): Outcome {
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
