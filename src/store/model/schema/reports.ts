/** Table of mail to return paths, the feedback loop, unsubscribe addresses and the postmaster. */
import type { Id } from '../../../lib/ids.ts'
import type { Json } from './values.ts'

/** Kind of the local address that received the mail. */
export type ReportAddressKind = 'return-path' | 'unsubscribe' | 'feedback-loop' | 'postmaster' | 'inbox'

export const REPORT_STATE = { unread: 0, read: 1 } as const

/** A report for one of its recipients. */
export interface ReportRow {
  id: Id
  receivedAt: number
  addressKind: ReportAddressKind
  /** Delivery named by the token of a return path or an unsubscribe address; null for other addresses. */
  emailId: Id | null
  ordinal: number | null
  /** Envelope sender; empty for the null sender. */
  sender: string
  recipient: string
  clientIp: string
  /** Size of the mail as received; the blob may hold only its beginning. */
  sizeBytes: number
  blobHash: Uint8Array
  state: number
  readAt: number | null
  /** Kind of report, as in `protocols/bounces/report.ts`; null before parsing and when it failed. */
  kind: string | null
  /** Effect of the report: an event, or the reason why there is none. */
  effect: string | null
  /** Parsed details: recipients, codes, ids. */
  detail: Json | null
  /** Reason why parsing failed. */
  fault: string | null
}
