/**
 * A received message as the checks see it: its raw bytes, which can be read more than once, and its envelope.
 */

export interface Mail {
  sizeBytes: number
  /** From the beginning, each time it is called; a reader may stop before the end. */
  read(): AsyncIterable<Uint8Array>
}

export interface Envelope {
  /** Null where it came from this host itself, over no network. */
  clientIp: string | null
  /** As the client said it; empty where it said none. */
  helo: string
  /** Empty for the null sender. */
  mailFrom: string
  recipients: readonly string[]
  /** Epoch ms; what has expired is told by it. */
  receivedAt: number
}
