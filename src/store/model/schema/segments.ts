/** Tables of the search index of emails. The columns call an index block a *segment*. */
import type { Id } from '../../../lib/ids.ts'

/** An index block: consecutive emails of an account. Only the statuses change after it was sealed. */
export interface EmailSegmentRow {
  id: number
  accountId: Id
  /**
   * The block contains all emails of the account with ids greater than this, up to and including `lastId`.
   */
  afterId: Id
  lastId: Id
  /** Earliest `createdAt` of the emails. */
  earliestAt: number
  latestAt: number
  /** Ids in ascending order, 16 bytes each. The index of an email is its ordinal. */
  ids: Uint8Array
  /** Folded subjects, packed by `resources/search/texts.ts`. */
  subjects: Uint8Array
  /** Folded names, addresses, tags and Message-IDs, packed in the same way. */
  details: Uint8Array
}

/** Statuses of the emails of an index block, one byte each, see `store/model/search-index.ts`. */
export interface EmailSegmentStatusRow {
  segmentId: number
  statuses: Uint8Array
}

/** Emails of an index block that have a term, see `resources/search/facets.ts`. */
export interface EmailTermRow {
  segmentId: number
  term: string
  ordinals: Uint8Array
}
