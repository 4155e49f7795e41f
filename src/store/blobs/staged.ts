/** A blob that has been prepared but not stored yet. */
import { hash } from 'node:crypto'

export interface StagedBlob {
  hash: Uint8Array
  sizeBytes: number
  /** The bytes; null when they are in a draft. */
  body: Uint8Array | null
  /** Name of the draft; null when there is none. */
  draft: string | null
}

/** Larger blobs are stored in files, or in pieces on PostgreSQL. */
export const INLINE_BYTES_MAX = 64 * 1024

export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha256', bytes, 'buffer'))
}

export function blobName(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex')
}

/** Returns the hash that a name stands for. */
export function blobHash(name: string): Uint8Array {
  return new Uint8Array(Buffer.from(name, 'hex'))
}
