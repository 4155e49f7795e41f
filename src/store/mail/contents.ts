/** What an email or a template says, as stored: JSON of html and text, compressed when that pays. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Tx } from '../command.ts'
import type { ContentRow } from '../schema.ts'

export interface Content {
  html: string | null
  text: string | null
}

/** As it is stored. */
export type EncodedContent = Pick<ContentRow, 'sizeBytes' | 'encoding' | 'body'>

const WORTH_COMPRESSING_BYTES = 256
const MOST_BYTES = 256 * 1024 * 1024
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
  const body = zstdCompressSync(plain, plain.length <= SMALL_BYTES ? SMALL_COMPRESSION : COMPRESSION)
  return body.length < plain.length
    ? { sizeBytes: plain.length, encoding: 'zstd', body }
    : { sizeBytes: plain.length, encoding: 'plain', body: plain }
}

export function decodeContent(stored: Pick<ContentRow, 'encoding' | 'body'>): Content {
  return decodeJson(stored) as Content
}

export function decodeJson({ encoding, body }: Pick<ContentRow, 'encoding' | 'body'>): unknown {
  const plain =
    encoding === 'zstd' ? zstdDecompressSync(body, { maxOutputLength: MOST_BYTES }) : Buffer.from(body)
  return JSON.parse(plain.toString())
}

/** Returns the key of a content that has one user. */
export async function storeContent(tx: Tx, content: Content): Promise<number> {
  const [id] = await tx.rows.reserve('contents', 1)
  await tx.rows.insert('contents', [{ id: id!, ...encodeContent(content), refs: 1 }])
  return id!
}

/** One user more, or several. */
export async function shareContent(tx: Tx, id: number, users = 1): Promise<void> {
  await tx.db
    .updateTable('contents')
    .set(eb => ({ refs: eb('refs', '+', users) }))
    .where('id', '=', id)
    .execute()
}

/** One user less for every time a key is named; what nobody uses any more goes. */
export async function releaseContents(tx: Tx, ids: readonly number[]): Promise<void> {
  for (const [id, users] of Map.groupBy(ids, each => each)) {
    await tx.db
      .updateTable('contents')
      .set(eb => ({ refs: eb('refs', '-', users.length) }))
      .where('id', '=', id)
      .execute()
    await tx.db.deleteFrom('contents').where('id', '=', id).where('refs', '<=', 0).execute()
  }
}
