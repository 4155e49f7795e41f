/** What one attempt comes to: delivered, deferred or bounced, with what the other side said. Values, never exceptions. */
import { type BounceClass, classify, type ReplyPhase } from '../reports/classify.ts'
import { formatReply, isPermanent, type Reply } from '../smtp/reply.ts'
import type { Failure, Phase, RecipientResult } from './client/types.ts'

export type Verdict =
  | { kind: 'delivered' }
  | { kind: 'deferred'; class: BounceClass }
  | { kind: 'bounced'; class: BounceClass }

/** The verdict, and the last word that led to it. */
export interface Outcome {
  verdict: Verdict
  /** The step in which it fell; null when no host was reached for. */
  phase: Phase | 'dns' | null
  reply: Reply | null
  /** For people: the reply, or what went wrong. */
  text: string
  /** The host itself is in trouble or wants fewer connections: another host may do better, and this one needs rest. */
  hostTrouble: boolean
  /** The trouble is that the host does not fulfil what a policy asks of it: others may well go there. */
  onOurTerms?: boolean
}

/** The peer's verdict about the recipient, or the lack of one. */
export function outcomeOf(result: RecipientResult): Outcome {
  if (result.kind === 'accepted')
    return {
      verdict: { kind: 'delivered' },
      phase: result.phase,
      reply: result.reply,
      text: formatReply(result.reply),
      hostTrouble: false,
    }
  if (result.kind === 'failed') return outcomeOfFailure(result.failure)
  const { phase, reply } = result
  const { action, class: bounceClass } = classify(replyPhaseOf(phase), reply)
  return {
    verdict: { kind: action === 'bounce' ? 'bounced' : 'deferred', class: bounceClass },
    phase,
    reply,
    text: formatReply(reply),
    hostTrouble:
      reply.code === 421 || (phase === 'mail' && !isPermanent(reply)) || bounceClass === 'rate-limited',
  }
}

/**
 * A session or transaction that broke off. Nothing of it is a verdict about the recipient. Once the final dot
 * is out the message may have arrived, so no other host is tried in the same attempt.
 */
export function outcomeOfFailure(failure: Failure): Outcome {
  const { phase, reply, message } = failure
  const { action, class: bounceClass } =
    reply && failure.kind === 'reply' && phase !== 'final-dot'
      ? classify('host', reply)
      : { action: 'defer' as const, class: 'unknown' as const }
  return {
    verdict: { kind: action === 'bounce' ? 'bounced' : 'deferred', class: bounceClass },
    phase,
    reply,
    text: reply ? formatReply(reply) : message,
    hostTrouble: phase !== 'final-dot',
  }
}

/** An outcome that fell before any host was spoken to. */
export function outcomeWithoutHost(
  kind: 'deferred' | 'bounced',
  bounceClass: BounceClass,
  text: string,
): Outcome {
  return { verdict: { kind, class: bounceClass }, phase: 'dns', reply: null, text, hostTrouble: false }
}

/**
 * What the attempts at several hosts come to when none gave a verdict about the recipient: permanent only when
 * every host refused for good.
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
