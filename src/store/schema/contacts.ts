/** Tables of audiences, their contacts and segments, and of topics. */
import type { Id } from '../../lib/ids.ts'
import type { Flag, Json } from './values.ts'

export interface AudienceRow {
  accountId: Id
  id: Id
  name: string
  /** Kept in step by `resources/contacts/write-contacts.ts`. */
  contactCount: number
  /** How many of them are unsubscribed. */
  unsubscribedCount: number
  createdAt: number
}

/** An audience that is gone, while its contacts are still being deleted. */
export interface DeletedAudienceRow {
  id: Id
  accountId: Id
  deletedAt: number
}

/** The folded columns are what searches and segments compare. */
export interface ContactRow {
  accountId: Id
  audienceId: Id
  id: Id
  /** Lower-case; one contact of an audience has it. */
  email: string
  foldedEmail: string
  firstName: string | null
  foldedFirstName: string | null
  lastName: string | null
  foldedLastName: string | null
  /** From everything. */
  unsubscribed: Flag
  /** An object of texts, numbers and booleans; what segments find of it stands in `ContactValueRow`. */
  properties: Json
  createdAt: number
  updatedAt: number
}

export const PROPERTY_TYPES = ['string', 'number'] as const

/** What an account says of a property that its contacts may have. */
export interface PropertyDefinitionRow {
  accountId: Id
  id: Id
  key: string
  type: (typeof PROPERTY_TYPES)[number]
  /** What stands in broadcasts for one that is missing, as text. */
  fallback: string | null
  createdAt: number
}

/** A key that contacts of an audience have or had. */
export interface ContactPropertyRow {
  id: number
  audienceId: Id
  key: string
  /** How many contacts have it now. */
  contactCount: number
}

/** One property of one contact, as segments compare it. */
export interface ContactValueRow {
  contactId: Id
  propertyId: number
  foldedValue: string
}

export interface SegmentRow {
  accountId: Id
  audienceId: Id
  id: Id
  name: string
  /** A list of `Filter`, see `resources/contacts/filters.ts`. */
  filters: Json
  createdAt: number
  updatedAt: number
}

/** `opt_in`: contacts get it until they say otherwise; `opt_out`: they do not. */
export type DefaultSubscription = 'opt_in' | 'opt_out'

export interface TopicRow {
  accountId: Id
  id: Id
  name: string
  description: string | null
  defaultSubscription: DefaultSubscription
  createdAt: number
  updatedAt: number
}

/** What a contact has said about a topic; without a row, the topic's default holds. */
export interface ContactTopicRow {
  contactId: Id
  topicId: Id
  subscribed: Flag
  changedAt: number
}

/** A topic that is gone, while what was said about it is still being deleted. */
export interface DeletedTopicRow {
  id: Id
  deletedAt: number
}

/**
 * `interrupted`: the rest of the file never came; `failed`: it could not be read on. What is counted is
 * stored.
 */
export type ImportState = 'running' | 'done' | 'interrupted' | 'failed'

/** A file of contacts being taken in, or how that ended. */
export interface ContactImportRow {
  accountId: Id
  audienceId: Id
  id: Id
  state: ImportState
  /** Rows seen so far, all of the following together. */
  rowCount: number
  createdCount: number
  updatedCount: number
  /** They were there, and nothing was to be changed. */
  unchangedCount: number
  /** They were there, and are left alone because that was asked for. */
  skippedCount: number
  failedCount: number
  /**
   * The first rows that could not be taken, and why: a list of `RowError`, see `contacts/import-report.ts`.
   */
  errors: Json
  /** Why it ended early. */
  fault: string | null
  createdAt: number
  updatedAt: number
  endedAt: number | null
}

/** The owner of an address wants no more mail of an account, whichever contacts there are. */
export interface OptOutRow {
  accountId: Id
  /** Lower-case. */
  email: string
  /** A topic's id; empty for everything. */
  scope: Uint8Array
  saidAt: number
}
