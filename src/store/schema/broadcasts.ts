/** Tables of broadcasts: one email to many contacts. */
import type { Id } from '../../lib/ids.ts'
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

export interface BroadcastRow {
  accountId: Id
  id: Id
  name: string
  /** As searches see it. */
  foldedName: string
  audienceId: Id
  /** Null: it goes to the whole audience. */
  segmentId: Id | null
  topicId: Id | null
  /** From which its words were taken. */
  templateId: Id | null
  /** Mailboxes as JSON, as an email has them. */
  sender: Json
  replyToList: Json | null
  /** With its placeholders. */
  subject: string
  /** What inboxes show beside the subject; with its placeholders. */
  previewText: string | null
  /** As its author has written it. */
  contentId: number
  status: BroadcastStatus
  /** Why it has failed. */
  error: string | null
  createdAt: number
  updatedAt: number
  scheduledAt: number | null
  /** When its sending began: the moment at which its members are found. */
  startedAt: number | null
  /** When its last email was handed over. */
  sentAt: number | null
  /** When there is something to be done for it; null where nothing is. */
  nextAt: number | null
  /** What its emails say, with its placeholders; null before the sending. */
  sentContentId: number | null
  /**
   * Its subject with the fallbacks of properties; null before the sending, and where it is the subject as it
   * was written.
   */
  sentSubject: string | null
  /**
   * Names of the variables whose values its emails keep, JSON; null before the sending, and where nothing is
   * to be filled in.
   */
  variables: Json | null
  /** The conditions of its segment when the sending began. */
  filters: Json | null
  /** The last contact of its audience when the sending began; null before, and where there was none. */
  toContactId: Id | null
  /** The last contact that has been looked at for its members; null at the beginning. */
  lastContactId: Id | null
  /** When all its members had been found. */
  countedAt: number | null
  /** Members found. */
  memberCount: number
  /** Members who have been seen to: each has got an email, or was skipped. */
  expandedCount: number
  /** When the last of them were. */
  expandedAt: number | null
  /** Its emails lie between these; null before there is one. */
  firstEmailId: Id | null
  lastEmailId: Id | null
  /** The hold of the queue that keeps its emails; null where nothing does. */
  holdId: Id | null
  /** While what waits of a canceled one is being given up: the last email that was looked at. */
  canceledTo: Id | null
}

/** Some members of a broadcast who have not been seen to. */
export interface BroadcastPageRow {
  broadcastId: Id
  /** From 1, in the order of their contacts. */
  number: number
  /** Of contacts, 16 bytes each. */
  ids: Uint8Array
}
