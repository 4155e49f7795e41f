/**
 * Stored form of a content (html and text of an email or a template): JSON, compressed if this saves space.
 */
import { deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Content } from '../../store/model/schema/contents.ts'
import type { ContentRow } from '../../store/model/schema.ts'

export type { Content }

/** Content in the form in which it is stored. */
export type EncodedContent = Pick<ContentRow, 'sizeBytes' | 'encoding' | 'body'>

const WORTH_COMPRESSING_BYTES = 256
const SIZE_BYTES_MAX = 256 * 1024 * 1024
/**
 * Up to this size, creating the context of zstd takes longer than the whole work of DEFLATE, which compresses
 * as well.
 */
const DEFLATE_BYTES_MAX = 32 * 1024
const DEFLATE = { level: 3 }
/** Contents up to this size need smaller tables, which leave more of the processor's caches to other work. */
const SMALL_BYTES_MAX = 8 * 1024
const SMALL_DEFLATE = { ...DEFLATE, windowBits: 13, memLevel: 6, chunkSize: 4_096 }

export function encodeContent({ html, text }: Content): EncodedContent {
  return encodeJson({ html, text })
}

/** Encodes any value that is stored in place of a content. */
export function encodeJson(value: object): EncodedContent {
  const plain = Buffer.from(JSON.stringify(value))
  if (plain.length < WORTH_COMPRESSING_BYTES)
    return { sizeBytes: plain.length, encoding: 'plain', body: plain }
  const encoding = plain.length <= DEFLATE_BYTES_MAX ? 'deflate' : 'zstd'
  const body = encoding === 'deflate' ? deflate(plain) : zstdCompressSync(plain)
  return body.length < plain.length
    ? { sizeBytes: plain.length, encoding, body }
    : { sizeBytes: plain.length, encoding: 'plain', body: plain }
}

type StoredContent = Pick<ContentRow, 'encoding' | 'body'>

export function decodeContent(stored: StoredContent): Content {
  return decodeJson(stored) as Content
}

export function decodeJson({ encoding, body }: StoredContent): unknown {
  return JSON.parse(decompress(encoding, body).toString())
}

function decompress(encoding: StoredContent['encoding'], body: Uint8Array): Buffer {
  const limit = { maxOutputLength: SIZE_BYTES_MAX }
  if (encoding === 'deflate') return inflateRawSync(body, limit)
  return encoding === 'zstd' ? zstdDecompressSync(body, limit) : Buffer.from(body)
}

function deflate(plain: Buffer): Buffer {
  return deflateRawSync(plain, plain.length <= SMALL_BYTES_MAX ? SMALL_DEFLATE : DEFLATE)
}
