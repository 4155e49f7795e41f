/** Tables of emails as they are searched. */
import type { Id } from '../../lib/ids.ts'

/**
 * Emails of an account that follow each other, as they are searched: packed once, and changed in their
 * statuses only.
 */
export interface EmailSegmentRow {
  id: number
  accountId: Id
  /** It holds every email of its account whose id is greater than this, up to and with `lastId`. */
  afterId: Id
  lastId: Id
  /** Of their `createdAt`. */
  earliestAt: number
  latestAt: number
  /** 16 bytes an email, ascending: the place of an email in it is its ordinal. */
  ids: Uint8Array
  /** Their folded subjects, see `resources/search/subjects.ts`. */
  subjects: Uint8Array
}

/** The statuses of a segment's emails, a byte each, see `store/search-index.ts`. */
export interface EmailSegmentStatusRow {
  segmentId: number
  statuses: Uint8Array
}

/** Which emails of a segment have something by which emails are found, see `resources/search/facets.ts`. */
export interface EmailTermRow {
  segmentId: number
  term: string
  ordinals: Uint8Array
}
