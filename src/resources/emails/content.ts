/**
 * Stored form of a content (html and text of an email or a template): JSON, compressed if this saves space.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Content } from '../../store/schema/contents.ts'
import type { ContentRow } from '../../store/schema.ts'

export type { Content }

/** Content in the form in which it is stored. */
export type EncodedContent = Pick<ContentRow, 'sizeBytes' | 'encoding' | 'body'>

const WORTH_COMPRESSING_BYTES = 256
const SIZE_BYTES_MAX = 256 * 1024 * 1024
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }
/**
 * A compression context for small contents needs less memory. Clearing the memory is most of the work for
 * small inputs.
 */
const SMALL_BYTES = 8_192
const SMALL_COMPRESSION = {
  chunkSize: SMALL_BYTES,
  params: {
    ...COMPRESSION.params,
    [constants.ZSTD_c_windowLog]: 13,
    [constants.ZSTD_c_hashLog]: 12,
    [constants.ZSTD_c_chainLog]: 12,
  },
}

export function encodeContent({ html, text }: Content): EncodedContent {
  return encodeJson({ html, text })
}

/** Encodes any value that is stored in place of a content. */
export function encodeJson(value: object): EncodedContent {
  const plain = Buffer.from(JSON.stringify(value))
  if (plain.length < WORTH_COMPRESSING_BYTES)
    return { sizeBytes: plain.length, encoding: 'plain', body: plain }
  const body = compress(plain)
  return body.length < plain.length
    ? { sizeBytes: plain.length, encoding: 'zstd', body }
    : { sizeBytes: plain.length, encoding: 'plain', body: plain }
}

type StoredContent = Pick<ContentRow, 'encoding' | 'body'>

export function decodeContent(stored: StoredContent): Content {
  return decodeJson(stored) as Content
}

export function decodeJson({ encoding, body }: StoredContent): unknown {
  const plain =
    encoding === 'zstd' ? zstdDecompressSync(body, { maxOutputLength: SIZE_BYTES_MAX }) : Buffer.from(body)
  return JSON.parse(plain.toString())
}

function compress(plain: Buffer): Buffer {
  return zstdCompressSync(plain, plain.length > SMALL_BYTES ? COMPRESSION : SMALL_COMPRESSION)
}
