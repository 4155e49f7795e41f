/** Tables by which an operator steers the queue, and sees how sites take mail. */
import type { Id } from '../../lib/ids.ts'
import type { Flag } from './values.ts'

/** Which mail something of the operator's is about: all of what is named must be true of it. */
export interface MailSelector {
  /** Of the recipients. */
  domain: string | null
  accountId: Id | null
  broadcastId: Id | null
  emailId: Id | null
}

/** An order, mostly the operator's: mail like this stays in the queue. */
export interface QueueHoldRow extends MailSelector {
  id: Id
  /** The words of who gave it. */
  reason: string | null
  createdAt: number
  /** 1: a broadcast that its account has paused, and no order of the operator. */
  isPause: Flag
  /** Null while it is in force. */
  releasedAt: number | null
}

/** Where the mail of a domain went last. */
export interface DomainSiteRow {
  domain: string
  site: string
  seenAt: number
}

/** What a site said on a day when it took no mail. */
export interface DestinationReplyRow {
  /** UTC, as in `2026-11-21`. */
  day: string
  site: string
  /** The reply without what differs from mail to mail; empty for all beyond the first few. */
  form: string
  /** One as it came. */
  example: string
  result: string
  class: string
  count: number
  lastAt: number
}
