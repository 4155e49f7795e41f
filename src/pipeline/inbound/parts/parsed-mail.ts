/** What a received message says, as it is shown and stored. */
import type { ReceivedMailbox } from './addresses.ts'
import type { Encoding } from './transfer.ts'

/** A file that came with a message: where it is in it, and how it is encoded there. */
export interface FoundPart {
  filename: string
  /** Media type, `type/subtype` in lower case. */
  contentType: string
  /** Content-ID without its angle brackets. */
  contentId: string | null
  disposition: 'inline' | 'attachment'
  /** Size after decoding, in octets. */
  sizeBytes: number
  start: number
  end: number
  encoding: Encoding
}

/** As it is stored. */
export interface StoredPart extends FoundPart {
  /** Id of the attachment, `att_<uuid>`. */
  id: string
}

export interface ParsedMail {
  from: ReceivedMailbox[]
  to: ReceivedMailbox[]
  cc: ReceivedMailbox[]
  bcc: ReceivedMailbox[]
  replyTo: ReceivedMailbox[]
  subject: string
  /** Message-ID with its angle brackets. */
  messageId: string | null
  /** In their order; names as they were written. */
  headers: [name: string, value: string][]
  html: string | null
  text: string | null
  parts: FoundPart[]
  /** What of the message was not read, and why. */
  faults: string[]
}
