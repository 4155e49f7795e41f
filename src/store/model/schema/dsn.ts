/** Table of delivery status notifications (RFC 3464). */
import type { Id } from '../../../lib/ids.ts'
import type { Json } from './values.ts'

/** `relayed`: the next hop accepted the message and sends no notification of the delivery. */
export type DsnAction = 'delivered' | 'relayed' | 'failed' | 'delayed'

/** A notification to the client that submitted an email. There is at most one for a recipient and action. */
export interface DsnNoticeRow {
  emailId: Id
  ordinal: number
  action: DsnAction
  accountId: Id
  /** `DsnFacts` */
  facts: Json
  at: number
  /** Null until the notification is queued, or cannot be sent. */
  sentAt: number | null
}
