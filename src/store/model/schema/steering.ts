/** Tables of holds, and of replies and destinations that the operator sees. */
import type { Id } from '../../../lib/ids.ts'
import type { Flag } from './values.ts'

/** Selects mail by all fields that are given and not null. */
export interface MailSelector {
  /** Domain of the recipients. */
  domain: string | null
  accountId: Id | null
  broadcastId: Id | null
  emailId: Id | null
  /** The mail entered the queue before this time, by being accepted or by its schedule. */
  enteredBefore?: number | null | undefined
  /** Domain of the sender; its subdomains are selected, too. */
  senderDomain?: string | null | undefined
}

/** Who has set a hold: the operator, this installation, or the account that paused its broadcast. */
type HoldOrigin = 'operator' | 'automatic' | 'account'

/** A hold: matching mail stays in the queue. */
export interface QueueHoldRow extends MailSelector {
  id: Id
  /** Reason that the operator gave. */
  reason: string | null
  origin: HoldOrigin
  createdAt: number
  /**
   * 1 when the hold belongs to a paused broadcast, a deleted account, a banned domain or the mode of the
   * service, so that it is neither listed nor released by itself.
   */
  isPause: Flag
  /** Time of the release; null while the hold is in force. */
  releasedAt: number | null
}

/** Destination to which the mail of a domain went last. */
export interface DomainDestinationRow {
  domain: string
  destination: string
  seenAt: number
}

/** Reply of a destination that did not accept mail, counted per day. */
export interface DestinationReplyRow {
  /** UTC day, such as `2026-11-21`. */
  day: string
  destination: string
  /** The reply without the parts that differ between messages; empty for all replies beyond the first few. */
  form: string
  /** One of the replies, unchanged. */
  example: string
  result: string
  class: string
  count: number
  lastAt: number
}
