/** What a door hands over: a message whose every field has been parsed and found good by itself. */
import type { Mailbox } from '../smtp/address.ts'

export interface SubmittedAttachment {
  filename: string
  /** Media type, with parameters when the user gave some. */
  contentType: string
  /** Without angle brackets; makes the part inline. */
  contentId: string | null
  content: Uint8Array
}

export interface Submission {
  from: Mailbox
  to: Mailbox[]
  cc: Mailbox[]
  bcc: Mailbox[]
  replyTo: Mailbox[]
  subject: string
  html: string | null
  text: string | null
  /** The user's own header fields. */
  headers: [name: string, value: string][]
  /** The user's own Message-ID, with angle brackets. */
  messageId: string | null
  attachments: SubmittedAttachment[]
  tags: unknown[]
}

/** After encoding for transport; larger messages find no taker. */
export const MOST_MESSAGE_BYTES = 40 * 1024 * 1024

/** An upper estimate of the message's size on the wire: base64 for attachments, quoted-printable text as it is. */
export function encodedSize({ html, text, attachments }: Submission): number {
  const parts = attachments.reduce((sum, { content }) => sum + Math.ceil(content.length / 57) * 78 + 500, 0)
  return parts + Buffer.byteLength(html ?? '') + Buffer.byteLength(text ?? '')
}

/** Who submits. */
export interface Sender {
  accountId: Uint8Array
  /** Null for a dashboard session. */
  apiKeyId: Uint8Array | null
}

/** What makes a repeated request known. */
export interface IdempotencyToken {
  /** Keys of different endpoints do not meet. */
  endpoint: string
  key: string
  /** SHA-256 of the request body in canonical form. */
  bodyHash: Uint8Array
}
