/** Tables of webhooks and of their deliveries. */
import type { Id } from '../../../lib/ids.ts'
import type { Flag, Json } from './values.ts'

export interface WebhookRow {
  id: Id
  accountId: Id
  url: string
  /** JSON list of event types, including those of the SDKs that never occur here. */
  events: Json
  /** JSON list of domain ids (as text) to whose events the webhook is limited; null for all events. */
  domainIds: Json | null
  /** Signing secret, sealed. */
  secret: Uint8Array
  /** Previous secret, which also signs until `formerUntil`. */
  formerSecret: Uint8Array | null
  formerUntil: number | null
  /** The secret before `formerSecret`, if it was replaced less than a day ago. */
  earlierSecret: Uint8Array | null
  earlierUntil: number | null
  /** Whether the headers of Standard Webhooks are sent, also under the names that the SDKs read. */
  standard: Flag
  /** The SDK with closed types that created the webhook, in whose words its payloads are written. */
  dialect: 'rust' | 'dotnet' | null
  enabled: Flag
  /** Time of the first failure since the last success. */
  failingSince: number | null
  disabledAt: number | null
  disabledReason: 'user' | 'failing' | null
  /** Whether the account must still be notified that the webhook was disabled. */
  noticeDue: Flag
  createdAt: number
}

export const WEBHOOK_DELIVERY_STATE = { waiting: 0, done: 1 } as const

/** A completed attempt in the log of a delivery. */
export interface LoggedAttempt {
  /** Number of the attempt, from 1. */
  attempt: number
  startedAt: number
  status: number | null
  /** Beginning of the reply (1,000 characters), or the reason why there was none. */
  response: string
}

/** Delivery of an event to a webhook. */
export interface WebhookDeliveryRow {
  webhookId: Id
  id: Id
  accountId: Id
  eventId: Id
  eventType: string
  /** Request body, the same for each attempt. */
  body: Json
  /** Whether the delivery is a test, which is attempted once. */
  isTest: Flag
  state: number
  success: Flag
  /**
   * Number of attempts that were started; also the fencing token: a result counts only while the row has the
   * number of its attempt.
   */
  attempts: number
  /** Time of the next attempt; while an attempt is in progress, the time at which it counts as lost. */
  nextAt: number
  /** End of the lease; null while no attempt is in progress. */
  leaseUntil: number | null
  lastAttemptAt: number | null
  /** Duration of the last completed attempt. The next fields describe the same attempt. */
  durationMs: number | null
  url: string | null
  responseStatus: number | null
  /** Beginning of the reply. */
  responseBody: string | null
  /** Reason why there was no reply. */
  error: string | null
  /** JSON list of all completed attempts (`LoggedAttempt`); null if the first one ended the delivery. */
  attemptLog: Json | null
  createdAt: number
}
