/**
 * Shows the deliveries of a webhook by event, as the SDKs list them: an event that was replayed has several
 * deliveries, and each delivery has attempts. Pure functions.
 */
import { type Id, idKey, wireId } from '../../lib/ids.ts'
import {
  type LoggedAttempt,
  WEBHOOK_DELIVERY_STATE,
  type WebhookDeliveryRow,
} from '../../store/model/schema.ts'
import type { ListedDelivery } from './webhook-rows.ts'

/** An event that was sent to a webhook, or is about to be. */
export interface SentEvent {
  eventId: Id
  type: string
  /** Time of the event, ISO 8601. */
  createdAt: string
  /** `pending` waits for its next attempt; `failed` has none left. */
  status: 'success' | 'pending' | 'failed' | 'attempting'
  /** In ms since the epoch; null if no attempt is planned or one is in progress. */
  nextAttemptAt: number | null
  /** Newest first, at least one. */
  deliveries: readonly ListedDelivery[]
}

export interface SentAttempt extends LoggedAttempt {
  id: string
}

/** Characters of a response in the log of attempts, since a failing endpoint has many deliveries. */
const LOGGED_RESPONSE_LENGTH_MAX = 1_000

/** Shortens a response, or the reason why there was none, for the log of attempts. */
export function loggedResponse({
  responseBody,
  error,
}: Pick<WebhookDeliveryRow, 'responseBody' | 'error'>): string {
  return (responseBody ?? error ?? '').slice(0, LOGGED_RESPONSE_LENGTH_MAX).toWellFormed()
}

/**
 * @param deliveries newest first
 * @returns newest event first
 */
export function sentEventsOf(deliveries: readonly ListedDelivery[]): SentEvent[] {
  return [...Map.groupBy(deliveries, ({ eventId }) => idKey(eventId)).values()]
    .map(sentEventOf)
    .sort((a, b) => Buffer.compare(b.eventId, a.eventId))
}

/** The newest delivery decides the status, because it has replaced the others. */
function sentEventOf(deliveries: readonly ListedDelivery[]): SentEvent {
  const newest = deliveries[0]!
  const { created_at: createdAt } = JSON.parse(newest.body) as { created_at: string }
  const status = statusOf(newest)
  return {
    eventId: newest.eventId,
    type: newest.eventType,
    createdAt,
    status,
    nextAttemptAt: status === 'pending' ? newest.nextAt : null,
    deliveries,
  }
}

function statusOf({ state, success, leaseUntil }: WebhookDeliveryRow): SentEvent['status'] {
  if (success === 1) return 'success'
  if (state === WEBHOOK_DELIVERY_STATE.done) return 'failed'
  return leaseUntil === null ? 'pending' : 'attempting'
}

/** @returns the completed attempts of all deliveries, newest first */
export function attemptsOf({ deliveries }: SentEvent): SentAttempt[] {
  return deliveries.flatMap(delivery =>
    loggedAttempts(delivery)
      .map(attempt => ({ ...attempt, id: `${wireId('whd', delivery.id)}.${attempt.attempt}` }))
      .reverse(),
  )
}

/** A delivery that its first attempt ended, or that an older version has made, has no log. */
function loggedAttempts(delivery: WebhookDeliveryRow): LoggedAttempt[] {
  const { attemptLog, attempts, lastAttemptAt, responseStatus, error } = delivery
  if (attemptLog !== null) return JSON.parse(attemptLog) as LoggedAttempt[]
  const isCompleted = responseStatus !== null || error !== null
  if (!isCompleted || lastAttemptAt === null) return []
  const response = loggedResponse(delivery)
  return [{ attempt: attempts, startedAt: lastAttemptAt, status: responseStatus, response }]
}
