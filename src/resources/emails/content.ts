/** What an email or a template says, as stored: JSON of html and text, compressed when that pays. */
import {
  constants,
  createZstdCompress,
  createZstdDecompress,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'
import { keepContext } from '../../store/kept-context.ts'
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
const compressSmall = keepContext(() => createZstdCompress(SMALL_COMPRESSION), {
  flush: constants.ZSTD_e_end,
  mostBytes: 2 * SMALL_BYTES,
})
/** Unpacked. */
const SMALL_BYTES_MAX = 64 * 1024
const decompressSmall = keepContext(createZstdDecompress, {
  flush: constants.ZSTD_e_continue,
  mostBytes: SMALL_BYTES_MAX,
})

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

/** A content as it was read; with its size, a small one is unpacked sooner. */
export type StoredContent = Pick<ContentRow, 'encoding' | 'body'> & { sizeBytes?: number }

export function decodeContent(stored: StoredContent): Content {
  return decodeJson(stored) as Content
}

export function decodeJson({ encoding, body, sizeBytes }: StoredContent): unknown {
  const plain = encoding === 'zstd' ? decompress(body, sizeBytes) : Buffer.from(body)
  return JSON.parse(plain.toString())
}

function compress(plain: Buffer): Buffer {
  if (plain.length > SMALL_BYTES) return zstdCompressSync(plain, COMPRESSION)
  const small = compressSmall(plain)
  return small ? Buffer.from(small) : zstdCompressSync(plain, SMALL_COMPRESSION)
}

/** Good until the next call. */
function decompress(body: Uint8Array, sizeBytes = Number.POSITIVE_INFINITY): Buffer {
  const small = sizeBytes < SMALL_BYTES_MAX ? decompressSmall(body, sizeBytes) : undefined
  return small ?? zstdDecompressSync(body, { maxOutputLength: SIZE_BYTES_MAX })
}
