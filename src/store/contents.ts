/** What an email says, as stored: JSON of html and text, compressed when that pays. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { ContentRow } from './schema.ts'

export interface Content {
  html: string | null
  text: string | null
}

const WORTH_COMPRESSING_BYTES = 256
const MOST_BYTES = 256 * 1024 * 1024

export function encodeContent({ html, text }: Content): Pick<ContentRow, 'sizeBytes' | 'encoding' | 'body'> {
  const plain = Buffer.from(JSON.stringify({ html, text }))
  if (plain.length < WORTH_COMPRESSING_BYTES)
    return { sizeBytes: plain.length, encoding: 'plain', body: plain }
  const body = zstdCompressSync(plain, { params: { [constants.ZSTD_c_compressionLevel]: 3 } })
  return body.length < plain.length
    ? { sizeBytes: plain.length, encoding: 'zstd', body }
    : { sizeBytes: plain.length, encoding: 'plain', body: plain }
}

export function decodeContent({ encoding, body }: Pick<ContentRow, 'encoding' | 'body'>): Content {
  const plain =
    encoding === 'zstd' ? zstdDecompressSync(body, { maxOutputLength: MOST_BYTES }) : Buffer.from(body)
  return JSON.parse(plain.toString()) as Content
}
