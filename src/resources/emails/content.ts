/** What an email or a template says, as stored: JSON of html and text, compressed when that pays. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Content } from '../../store/schema/contents.ts'
import type { ContentRow } from '../../store/schema.ts'

export type { Content }

/** As it is stored. */
export type EncodedContent = Pick<ContentRow, 'sizeBytes' | 'encoding' | 'body'>

const WORTH_COMPRESSING_BYTES = 256
const SIZE_BYTES_MAX = 256 * 1024 * 1024
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }
/** A context for small contents needs less memory to be cleared, which is most of the work there. */
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

/** Anything that stands in the place of a content. */
export function encodeJson(value: object): EncodedContent {
  const plain = Buffer.from(JSON.stringify(value))
  if (plain.length < WORTH_COMPRESSING_BYTES)
    return { sizeBytes: plain.length, encoding: 'plain', body: plain }
  const body = compress(plain)
  return body.length < plain.length
    ? { sizeBytes: plain.length, encoding: 'zstd', body }
    : { sizeBytes: plain.length, encoding: 'plain', body: plain }
}

/** A content as it was read. */
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
