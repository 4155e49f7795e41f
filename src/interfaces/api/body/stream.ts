/** Request bodies that are read as they come: as large as a route allows, for as long as they come on. */
import type { IncomingMessage } from 'node:http'
import { bodyTooLarge } from '../api-error.ts'

/**
 * @throws ApiError 413 while it is read, and an error when the client leaves or is too slow (see
 * `connection-watch.ts`)
 */
export async function* streamBody(request: IncomingMessage, limitBytes: number): AsyncGenerator<Uint8Array> {
  let sizeBytes = 0
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    sizeBytes += piece.length
    if (sizeBytes > limitBytes) throw bodyTooLarge(limitBytes)
    yield piece
  }
}
