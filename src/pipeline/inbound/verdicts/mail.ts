/**
 * A received message as the checks see it: its raw bytes, which can be read more than once, and its envelope.
 */

export interface Mail {
  sizeBytes: number
  /** Streams the message from its beginning, at each call; a reader may stop before the end. */
  read(): AsyncIterable<Uint8Array>
}

export interface Envelope {
  /** Address of the client; null for local delivery, which uses no network. */
  clientIp: string | null
  /** EHLO or HELO argument as the client sent it; empty if it sent none. */
  helo: string
  /** Envelope sender; empty for the null sender. */
  mailFrom: string
  recipients: readonly string[]
  /** Time of receipt in ms since the epoch, at which signatures must not have expired. */
  receivedAt: number
}
