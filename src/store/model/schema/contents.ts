/** Tables of texts and attachments. */

/** HTML and plain text of an email or a template. */
export interface Content {
  html: string | null
  text: string | null
}

/** Content of emails and templates, stored once and compressed. */
export interface ContentRow {
  id: number
  /** Size of the JSON `{html, text}` before compression. */
  sizeBytes: number
  encoding: 'plain' | 'deflate' | 'zstd'
  body: Uint8Array
  /** Number of emails, templates and template versions that use the content. */
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

/** A piece of a large blob, on databases that store large blobs without files. */
export interface BlobPieceRow {
  hash: Uint8Array
  /** Number of the piece, from 0. */
  number: number
  /** In the first piece: time at which the blob was last staged, in ms since the epoch. */
  stagedAt: number
  body: Uint8Array
}
