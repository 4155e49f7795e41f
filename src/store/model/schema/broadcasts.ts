/** Tables of broadcasts: one email to many contacts. */
import type { Id } from '../../../lib/ids.ts'
import type { Json } from './values.ts'

export const BROADCAST_STATUSES = [
  'draft',
  'scheduled',
  'sending',
  'paused',
  'sent',
  'canceled',
  'failed',
] as const

export type BroadcastStatus = (typeof BROADCAST_STATUSES)[number]

/** Why a broadcast may be sent without an unsubscribe link in its content. */
export const NO_UNSUBSCRIBE_REASONS = ['transactional', 'required_notice', 'internal'] as const

export type NoUnsubscribeReason = (typeof NO_UNSUBSCRIBE_REASONS)[number]

export interface BroadcastRow {
  accountId: Id
  id: Id
  name: string
  /** Name, folded for searches. */
  foldedName: string
  audienceId: Id
  /** Null when the broadcast goes to the whole audience. */
  segmentId: Id | null
  topicId: Id | null
  /** Template from which the content was copied. */
  templateId: Id | null
  /** Mailboxes as JSON, in the form of `EmailRow.sender`. */
  sender: Json
  replyToList: Json | null
  /** Subject with placeholders. */
  subject: string
  /** Text that mail programs show beside the subject, with placeholders. */
  previewText: string | null
  /** Why the content has no unsubscribe link; null when it has one, or when no reason was given. */
  noUnsubscribeReason: NoUnsubscribeReason | null
  /** Number of emails that are made in an hour; null for no limit. */
  emailsPerHour: number | null
  /** Content as the author wrote it. */
  contentId: number
  /**
   * Files of each email, in the form of `EmailRow.attachments`; null when there are none. The broadcast
   * refers to their blobs, and so does each of its emails.
   */
  attachments: Json | null
  status: BroadcastStatus
  /** Reason of the failure. */
  error: string | null
  createdAt: number
  updatedAt: number
  /**
   * Address of the user, or name of the access token, who last changed content or recipients; null when it is
   * not known.
   */
  updatedBy: string | null
  scheduledAt: number | null
  /** Time until which sending can be undone; null unless it was sent with a delay and has not begun. */
  undoUntil: number | null
  /** Time at which sending started. The members are determined as of this time. */
  startedAt: number | null
  /** Time at which the last email was handed to the transfer agent. */
  sentAt: number | null
  /** Time of the next step; null when there is none. */
  nextAt: number | null
  /** Content of the emails, with placeholders; null before the sending. */
  sentContentId: number | null
  /** Subject with the fallbacks of properties; null before the sending, and when it equals `subject`. */
  sentSubject: string | null
  /**
   * JSON list of the variables whose values are stored with each email; null before the sending, and when the
   * content has no variables.
   */
  variables: Json | null
  /** Conditions of the segment at the start of the sending. */
  filters: Json | null
  /** Last contact of the audience at the start of the sending; null before, and when there was none. */
  toContactId: Id | null
  /** Last contact that was checked for membership; null at the beginning. */
  lastContactId: Id | null
  /** Time at which all members had been determined. */
  countedAt: number | null
  /** Number of members found so far. */
  memberCount: number
  /** Number of members that were processed: each got an email or was skipped. */
  expandedCount: number
  /** Time at which the last member was processed. */
  expandedAt: number | null
  /** Ids of the first and the last email; null before there is one. */
  firstEmailId: Id | null
  lastEmailId: Id | null
  /** Hold that keeps the emails in the queue; null when there is none. */
  holdId: Id | null
  /** Last email that was processed while the waiting emails of a canceled broadcast are canceled. */
  canceledTo: Id | null
}

/** Members of a broadcast that have not been processed. */
export interface BroadcastPageRow {
  broadcastId: Id
  /** Number of the page, from 1, in the order of the contacts. */
  number: number
  /** Ids of the contacts, 16 bytes each. */
  ids: Uint8Array
}

/**
 * Reasons why a member gets no email. `deleted`: the contact was deleted after the members had been selected.
 */
export const SKIP_REASONS = ['unsubscribed', 'opted_out', 'suppressed', 'quota', 'deleted'] as const

export type SkipReason = (typeof SKIP_REASONS)[number]

/** A member of a broadcast who was skipped, or a recipient who unsubscribed by it. */
export interface BroadcastOutcomeRow {
  accountId: Id
  broadcastId: Id
  /** Created at the time of the outcome. */
  id: Id
  /** Address in lower case; null when the contact had been deleted. */
  email: string | null
  /** Null for a recipient who unsubscribed, of whom there is one row per broadcast. */
  skipReason: SkipReason | null
}
