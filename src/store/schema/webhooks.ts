/** Tables of webhooks: who is told of what, and what is still to be told them. */
import type { Id } from '../../lib/ids.ts'
import type { Flag, Json } from './values.ts'

export interface WebhookRow {
  id: Id
  accountId: Id
  url: string
  /** Event types. */
  events: Json
  /** The signing secret, sealed. */
  secret: Uint8Array
  /** The one before it, which also signs until then. */
  formerSecret: Uint8Array | null
  formerUntil: number | null
  /** The headers of Standard Webhooks go along. */
  standard: Flag
  enabled: Flag
  /** The first of the failures since which nothing has succeeded. */
  failingSince: number | null
  disabledAt: number | null
  disabledReason: 'user' | 'failing' | null
  /** Its account is still to be told that it was disabled. */
  noticeDue: Flag
  createdAt: number
}

export const WEBHOOK_DELIVERY_STATE = { waiting: 0, done: 1 } as const

/** An event on its way to a webhook, or how it arrived. */
export interface WebhookDeliveryRow {
  webhookId: Id
  id: Id
  accountId: Id
  eventId: Id
  eventType: string
  /** What is sent, the same each time. */
  body: Json
  /** Tried once. */
  isTest: Flag
  state: number
  success: Flag
  /**
   * Begun so far, and the fencing token: a result counts only while the row has the number its attempt began
   * with.
   */
  attempts: number
  /** While an attempt is under way, when it is taken for lost. */
  nextAt: number
  /** Null while no attempt is under way. */
  leaseUntil: number | null
  lastAttemptAt: number | null
  /** These are of the last attempt that ended. */
  durationMs: number | null
  url: string | null
  responseStatus: number | null
  /** Its beginning. */
  responseBody: string | null
  /** Why there was no reply. */
  error: string | null
  createdAt: number
}
