/** Tables of what happened, and of how often. */
import type { Id } from '../../lib/ids.ts'
import type { Json } from './values.ts'

export interface EventRow {
  /** The email, contact or domain it is about. */
  subjectId: Id
  id: Id
  accountId: Id
  type: string
  /** Address concerned, where the event is about one recipient. */
  recipient: string | null
  /** Empty where it is packed. */
  data: Json
  packed: Uint8Array | null
  createdAt: number
}

/** Exact counts kept beside what they count; `period` is a UTC day, a UTC month, or empty for a total. */
export interface CounterRow {
  accountId: Id
  kind: string
  period: string
  count: number
}

/** Kind of the counters of recipients of accepted emails; their periods are UTC days and months. */
export const RECIPIENTS = 'recipients'
