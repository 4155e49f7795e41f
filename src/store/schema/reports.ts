/**
 * The table of mail that came back: what was sent to return paths, to the feedback loop and to the
 * postmaster.
 */
import type { Id } from '../../lib/ids.ts'
import type { Json } from './values.ts'

/** The address by which a mail came in. */
export type ReportDoor = 'return-path' | 'unsubscribe' | 'feedback-loop' | 'postmaster'

export const REPORT_STATE = { unread: 0, read: 1 } as const

/** One mail for one of the addresses that it was sent to. */
export interface ReportRow {
  id: Id
  receivedAt: number
  door: ReportDoor
  /**
   * The delivery that the token of a return path, or of an unsubscribe address, names; null at other doors.
   */
  emailId: Id | null
  ordinal: number | null
  /** As on the envelope; empty for the null sender. */
  sender: string
  recipient: string
  clientIp: string
  /** Of the mail as it came; the blob may hold only its beginning. */
  sizeBytes: number
  blobHash: Uint8Array
  state: number
  readAt: number | null
  /**
   * What kind of report it is, as `protocols/bounces/report.ts` calls it; null before it is read, and when it
   * could not be.
   */
  kind: string | null
  /** What came of it: an event, or why none. */
  effect: string | null
  /** What was read: recipients, codes, ids. */
  detail: Json | null
  /** Why it could not be read. */
  fault: string | null
}
