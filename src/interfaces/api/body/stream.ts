/** Streams request bodies, up to the size limit of the route. */
import type { IncomingMessage } from 'node:http'
import { bodyTooLarge } from '../api-error.ts'
import { askForBody } from './expectation.ts'

/**
 * @throws ApiError 413 while the stream is read, and an error when the client disconnects or is too slow (see
 * `connection-watch.ts`)
 */
export async function* streamBody(request: IncomingMessage, limitBytes: number): AsyncGenerator<Buffer> {
  askForBody(request, limitBytes)
  let sizeBytes = 0
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    sizeBytes += piece.length
    if (sizeBytes > limitBytes) throw bodyTooLarge(limitBytes)
    yield piece
  }
}
