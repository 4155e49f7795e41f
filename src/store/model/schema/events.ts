/** Tables of events and counters. */
import type { Id } from '../../../lib/ids.ts'
import type { Json } from './values.ts'

export interface EventRow {
  /** Email, contact or domain that the event concerns. */
  subjectId: Id
  id: Id
  accountId: Id
  type: string
  /** Recipient address, if the event concerns one recipient. */
  recipient: string | null
  /** JSON of the event; empty when `packed` has it. */
  data: Json
  packed: Uint8Array | null
  createdAt: number
}

/** An exact count. `period` is a UTC day, a UTC month, or empty for a total. */
export interface CounterRow {
  accountId: Id
  kind: string
  period: string
  count: number
}

/** Kind of the counters of recipients of accepted emails; their periods are UTC days and months. */
export const RECIPIENTS = 'recipients'
