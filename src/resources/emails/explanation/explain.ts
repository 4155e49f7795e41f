/**
 * Explains why a recipient has its state, and what happens next. A pure function over stored facts: every
 * place that shows a reason shows this one.
 */
import { DELIVERY_STATE, type DeliveryRow } from '../../../store/model/schema.ts'
import type { Cause } from './cause.ts'
import type { ExplanationCode } from './codes.ts'
import { retryAdvice, type WordFacts, wordsOf } from './words.ts'

export interface Explanation {
  code: ExplanationCode
  /** One plain sentence. */
  summary: string
  /** What the sender or the operator can do; null if nothing. */
  action: string | null
  /** Time of the next attempt in ISO 8601, never in the past; null if there is none, or it is due. */
  next_attempt_at: string | null
}

/** What keeps a delivery from its next attempt. */
export interface Obstacle {
  code: ExplanationCode
  /** Time at which it ends, in ms since the epoch; null if that is not known. */
  until: number | null
  /** The destination. */
  host?: string
  by?: string
  limit?: number
}

export type ExplainedDelivery = Pick<
  DeliveryRow,
  'address' | 'domain' | 'status' | 'state' | 'attempts' | 'nextAt' | 'leasedAt' | 'expiresAt' | 'simulated'
>

export interface ExplainedFacts {
  now: number
  /** Reason of the last result; absent before the first one. */
  cause?: Cause | undefined
  /** Hold that covers the delivery. */
  hold?: Obstacle | undefined
  /** Limit that applies to its destination. */
  gate?: Obstacle | undefined
  /** Whether the account sees no results of deliveries. */
  isHidden?: boolean
}

/** Explains the state of one recipient. */
export function explainDelivery(delivery: ExplainedDelivery, facts: ExplainedFacts): Explanation {
  const { cause, isHidden } = facts
  if (isHidden) return explanationOf('not_reported', delivery)
  switch (delivery.status) {
    case 'queued':
    case 'delivery_delayed':
      return explainWaiting(delivery, facts)
    case 'delivered':
    case 'complained':
      return explanationOf(delivery.status, delivery, { ...(cause?.host && { host: cause.host }) })
    case 'suppressed':
    case 'canceled':
      return explainCause(cause ?? { code: delivery.status }, delivery)
    default:
      return explainCause(
        cause ?? { code: delivery.status === 'failed' ? 'not_sendable' : 'rejected' },
        delivery,
      )
  }
}

function explainWaiting(
  delivery: ExplainedDelivery,
  { now, cause, hold, gate }: ExplainedFacts,
): Explanation {
  const { state, nextAt, leasedAt } = delivery
  const last = cause && { last: explainCause(cause, delivery).summary }
  if (state === DELIVERY_STATE.leased)
    return explanationOf('in_progress', delivery, { at: leasedAt, ...last })
  if (hold) return explanationOf(hold.code, delivery, hold)
  if (state === DELIVERY_STATE.scheduled)
    return nextAt > now
      ? { ...explanationOf('scheduled', delivery, { at: nextAt }), next_attempt_at: isoTime(nextAt) }
      : explanationOf('due_now', delivery)
  const obstacle = gate && (gate.until === null || gate.until > now) ? gate : undefined
  const at = Math.max(nextAt, obstacle?.until ?? 0)
  const next = at > now ? isoTime(at) : null
  if (obstacle && (nextAt <= now || !cause))
    return {
      ...explanationOf(obstacle.code, delivery, { ...obstacle, at: obstacle.until, ...last }),
      next_attempt_at: next,
    }
  if (nextAt <= now) return explanationOf('due_now', delivery, last)
  return explainCause(cause ?? { code: 'deferred' }, delivery, at)
}

/**
 * Explains the reason of a result, regardless of the state of the delivery.
 * @param delivery with the time until which it is retried, if that is known
 * @param nextAt time of the next attempt, in ms since the epoch; null if there is none
 */
export function explainCause(
  { code, last, ...facts }: Cause,
  delivery: Pick<ExplainedDelivery, 'address' | 'domain' | 'simulated'> & { expiresAt?: number | undefined },
  nextAt: number | null = null,
): Explanation {
  const lastSummary = last && { last: explainCause(last, delivery).summary }
  const explained = explanationOf(code, delivery, { ...facts, ...lastSummary })
  if (nextAt === null) return explained
  const { simulated, expiresAt } = delivery
  const advice = simulated === 1 || expiresAt === undefined ? null : retryAdvice(expiresAt)
  return { ...explained, action: explained.action ?? advice, next_attempt_at: isoTime(nextAt) }
}

function explanationOf(
  code: ExplanationCode,
  { address, domain, simulated }: Pick<ExplainedDelivery, 'address' | 'domain' | 'simulated'>,
  facts: Partial<WordFacts> = {},
): Explanation {
  const host = simulated === 1 ? { host: 'the simulator' } : {}
  const [summary, action] = wordsOf(code, { address, domain, ...host, ...facts })
  if (simulated === 1 && !WITHOUT_RESULT.has(code))
    return { code, summary: `Simulated: ${summary}`, action: null, next_attempt_at: null }
  return { code, summary, action: action ?? null, next_attempt_at: null }
}

/** Codes that do not come from the simulator. */
const WITHOUT_RESULT: ReadonlySet<ExplanationCode> = new Set([
  ...(['scheduled', 'due_now', 'in_progress', 'canceled', 'given_up', 'not_reported'] as const),
  ...(['held_by_operator', 'held_automatically', 'held_by_account'] as const),
])

/** A recipient of an email, explained. */
interface ExplainedRecipient {
  status: DeliveryRow['status'] | 'scheduled' | 'sent'
  explanation: Explanation
}

/** Explains an email: its only recipient, or the number of recipients in each state. */
export function explainEmail(recipients: readonly ExplainedRecipient[]): Explanation {
  const [first] = recipients
  if (recipients.length === 1) return first!.explanation
  const times = recipients.flatMap(({ explanation }) => explanation.next_attempt_at ?? [])
  const counts = [...Map.groupBy(recipients, countedAs)].sort(
    ([one], [other]) => ORDER.indexOf(one) - ORDER.indexOf(other),
  )
  const isSame = recipients.every(({ explanation }) => explanation.code === first?.explanation.code)
  return {
    code: isSame && first ? first.explanation.code : 'mixed',
    summary: counts.map(([word, counted]) => `${counted.length} ${word}`).join(', '),
    action: null,
    next_attempt_at: times.sort()[0] ?? null,
  }
}

const ORDER = [
  ...['delivered', 'complained', 'bounced', 'failed', 'suppressed', 'canceled'],
  ...['in progress', 'waiting', 'held', 'scheduled', 'sent'],
]

function countedAs({ status, explanation: { code } }: ExplainedRecipient): string {
  if (code.startsWith('held_')) return 'held'
  if (code === 'scheduled' || code === 'not_reported') return code === 'scheduled' ? code : 'sent'
  if (code === 'in_progress') return 'in progress'
  return ORDER.includes(status) && status !== 'sent' ? status : 'waiting'
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}
