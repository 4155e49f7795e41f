/** Tables of audiences, their contacts and segments, and of topics. */
import type { Id } from '../../../lib/ids.ts'
import type { Flag, Json } from './values.ts'

export interface AudienceRow {
  accountId: Id
  id: Id
  name: string
  /** Number of contacts, maintained by `resources/contacts/write-contacts.ts`. */
  contactCount: number
  /** Number of unsubscribed contacts. */
  unsubscribedCount: number
  createdAt: number
}

/** A deleted audience whose contacts are still being deleted. */
export interface DeletedAudienceRow {
  id: Id
  accountId: Id
  deletedAt: number
}

/** A contact. Searches and segments compare the folded columns. */
export interface ContactRow {
  accountId: Id
  audienceId: Id
  id: Id
  /** E-mail address in lower case, unique within the audience. */
  email: string
  foldedEmail: string
  firstName: string | null
  foldedFirstName: string | null
  lastName: string | null
  foldedLastName: string | null
  /** Whether the contact is unsubscribed from everything. */
  unsubscribed: Flag
  /** JSON object of texts, numbers and booleans. Segments read them from `ContactValueRow`. */
  properties: Json
  createdAt: number
  updatedAt: number
  /** Import that added the contact, and the number of its row; null for others. */
  importId: Id | null
  importRow: number | null
}

export const PROPERTY_TYPES = ['string', 'number'] as const

/** Definition of a property that the account's contacts may have. */
export interface PropertyDefinitionRow {
  accountId: Id
  id: Id
  key: string
  type: (typeof PROPERTY_TYPES)[number]
  /** Text that broadcasts use for contacts without the property. */
  fallback: string | null
  createdAt: number
}

/** A property key that contacts of an audience have or had. */
export interface ContactPropertyRow {
  id: number
  audienceId: Id
  key: string
  /** Number of contacts that have the property now. */
  contactCount: number
}

/** One property of one contact, as segments compare it. */
export interface ContactValueRow {
  contactId: Id
  propertyId: number
  foldedValue: string
}

/**
 * Times of the last email to a contact, and of its last open and click by a person, whatever the email. They
 * outlive the emails.
 */
export interface ContactActivityRow {
  contactId: Id
  lastSentAt: number | null
  lastOpenedAt: number | null
  lastClickedAt: number | null
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

/** Whether contacts receive a topic by default (`opt_in`) or not (`opt_out`). */
export type DefaultSubscription = 'opt_in' | 'opt_out'

export const TOPIC_VISIBILITIES = ['public', 'private'] as const
/** Whether the preferences page shows a topic to everybody or only to its subscribers. */
export type TopicVisibility = (typeof TOPIC_VISIBILITIES)[number]

export interface TopicRow {
  accountId: Id
  id: Id
  name: string
  description: string | null
  defaultSubscription: DefaultSubscription
  visibility: TopicVisibility
  createdAt: number
  updatedAt: number
}

/** A contact's choice for a topic; without a row, the topic's default applies. */
export interface ContactTopicRow {
  contactId: Id
  topicId: Id
  subscribed: Flag
  changedAt: number
}

/** A deleted topic whose subscriptions are still being deleted. */
export interface DeletedTopicRow {
  id: Id
  deletedAt: number
}

/**
 * State of an import. `interrupted`: the rest of the file never arrived. `failed`: the file could not be read
 * further. Contacts that were counted are stored.
 */
export type ImportState = 'running' | 'done' | 'interrupted' | 'failed'

/** An import of a file of contacts. */
export interface ContactImportRow {
  accountId: Id
  audienceId: Id
  id: Id
  /** Null if the client has not named the file. */
  fileName: string | null
  state: ImportState
  /** Number of rows read so far, the sum of the following counts. */
  rowCount: number
  createdCount: number
  updatedCount: number
  /** Number of existing contacts without a change. */
  unchangedCount: number
  /** Number of existing contacts that were skipped as requested. */
  skippedCount: number
  failedCount: number
  /** JSON list of `RowError` for the first rows that failed, see `contacts/import-report.ts`. */
  errors: Json
  /** Reason of an early end. */
  fault: string | null
  createdAt: number
  updatedAt: number
  endedAt: number | null
}

/** Opt-out of an address from mail of an account, independent of contacts. */
export interface OptOutRow {
  accountId: Id
  /** E-mail address in lower case. */
  email: string
  /** Id of the topic; empty for all mail. */
  scope: Uint8Array
  saidAt: number
}
