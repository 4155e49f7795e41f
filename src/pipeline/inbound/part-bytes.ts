/** Streams the decoded bytes of an attachment out of a stored message. */
import type { FoundPart } from '../../protocols/mime/read/read-mail.ts'
import { createDecoder } from '../../protocols/mime/read/transfer.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { Db } from '../../store/model/schema.ts'

type Place = Pick<FoundPart, 'start' | 'end' | 'encoding'>

/** @throws Error when the message is not in the store */
export async function openPart(
  { db, blobs }: { db: Db; blobs: BlobFiles },
  rawHash: Uint8Array,
  place: Place,
): Promise<AsyncIterable<Uint8Array>> {
  const { content } = await blobs.open(db, rawHash)
  return decoded(content, place)
}

/** Reads the message up to the end of the part. */
async function* decoded(
  content: AsyncIterable<Uint8Array>,
  { start, end, encoding }: Place,
): AsyncGenerator<Uint8Array> {
  const decoder = createDecoder(encoding)
  let at = 0
  for await (const piece of content) {
    const own = piece.subarray(Math.max(0, start - at), Math.max(0, end - at))
    at += piece.length
    const bytes = own.length > 0 ? decoder.add(own) : own
    if (bytes.length > 0) yield bytes
    if (at >= end) break
  }
  const rest = decoder.end()
  if (rest.length > 0) yield rest
}
