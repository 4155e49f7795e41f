/** Tables of mail that was received for customers' domains. */
import type { Id } from '../../lib/ids.ts'
import type { Json } from './values.ts'

/** What a look at a received message came to. */
export const VERDICTS = ['PASS', 'FAIL', 'GRAY', 'PROCESSING_FAILED', 'DISABLED'] as const
export type Verdict = (typeof VERDICTS)[number]

/** One message for one account, however many of its addresses it was sent to. */
export interface InboundMessageRow {
  accountId: Id
  id: Id
  /** When it was received: its age counts from then. */
  createdAt: number
  /** Of the first of its recipients. */
  domainId: Id
  /** As on the envelope; empty for the null sender. */
  sender: string
  /** JSON list of addresses, as on the envelope. */
  recipients: Json
  /** Null where it came from ourselves. */
  clientIp: string | null
  /** What the client called itself. */
  helo: string | null
  /** Such as `TLSv1.3`; null for plain text. */
  tls: string | null
  sizeBytes: number
  /** Of the message as it came. */
  rawHash: Uint8Array
  /** The delivery of ours that it was; null for mail from elsewhere. */
  sourceEmailId: Id | null
  sourceOrdinal: number | null
  /** Time at which a child process last began to read the message; null before and after an orderly stop. */
  readingAt: number | null
  /**
   * Number of runs of the service that began to read the message in a child process. After two that ended
   * while they read it, the message is read by its header alone.
   */
  readingCount: number
  /** When it had been read, and was listed; null before. All below is not known until then. */
  listedAt: number | null
  /** Why it could not be read, or what of it was not. */
  parseError: string | null
  subject: string
  messageId: string | null
  /** JSON `[{name, address}]`; null when empty. */
  fromList: Json | null
  toList: Json | null
  ccList: Json | null
  bccList: Json | null
  replyToList: Json | null
  spamVerdict: Verdict
  virusVerdict: Verdict
  spfVerdict: Verdict
  dkimVerdict: Verdict
  dmarcVerdict: Verdict
  /** What the verdicts rest on. */
  verdictDetail: Json | null
  /** Value of the header field that tells of them. */
  authenticationResults: string | null
  /** JSON, see `StoredPart`. */
  attachments: Json | null
  /** Its texts and headers. */
  contentId: number | null
}

/** A listed message as it is searched: a narrow row beside the wide one. */
export interface InboundSubjectRow {
  accountId: Id
  id: Id
  /** Folded. */
  subject: string
  /** Domains of its recipients, a blank around each. */
  domains: string
}
