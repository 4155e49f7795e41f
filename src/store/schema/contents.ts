/** Tables of what emails say and carry. */

/** What an email or a template says. */
export interface Content {
  html: string | null
  text: string | null
}

/** What emails and templates say, stored once and compressed. */
export interface ContentRow {
  id: number
  /** Of the JSON `{html, text}` before compression. */
  sizeBytes: number
  encoding: 'plain' | 'zstd'
  body: Uint8Array
  /** Emails, templates and versions of templates that use it. */
  refs: number
}

/** Attachments and raw mail, by SHA-256 of their bytes. */
export interface BlobRow {
  hash: Uint8Array
  sizeBytes: number
  /** Null when the bytes lie in a file, or in pieces. */
  body: Uint8Array | null
  refs: number
  createdAt: number
}

/** A large blob, piece by piece, where large ones lie in no files. */
export interface BlobPieceRow {
  hash: Uint8Array
  /** From 0. */
  number: number
  /** Of the first piece: when the blob was last staged. */
  stagedAt: number
  body: Uint8Array
}
