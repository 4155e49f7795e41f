/**
 * Request bodies that are read as they come: as large as a route allows, for as long as something keeps coming. The
 * server's limit on the time of a request does not hold for them, so they have one of their own between two pieces.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock, Timer } from '../lib/clock.ts'
import { bodyTooLarge } from './refused.ts'

/** @throws Refused 413 while it is read, and an error when the client leaves or stalls */
export type StreamBody = (request: IncomingMessage, limitBytes: number) => AsyncGenerator<Uint8Array>

export interface BodyStreams {
  stream: StreamBody
  /** Whether a body is being read as it comes. */
  isReading(socket: Duplex): boolean
}

/** A client that sends nothing in so long is let go. */
const STALLED_MS = 120_000

export function createBodyStreams(clock: Clock): BodyStreams {
  const reading = new WeakMap<Duplex, IncomingMessage>()
  return {
    isReading: socket => reading.get(socket)?.complete === false,
    async *stream(request, limitBytes) {
      const { socket } = request
      reading.set(socket, request)
      let stalled: Timer | undefined
      let sizeBytes = 0
      try {
        const pieces = request.iterator({ destroyOnReturn: false })
        for (;;) {
          // only while we wait for the client: it is not to blame for how long we take
          stalled = clock.timer(STALLED_MS, () =>
            request.destroy(new Error('the client sends nothing any more')),
          )
          const { done, value } = (await pieces.next()) as IteratorResult<Buffer>
          stalled.cancel()
          if (done) return
          sizeBytes += value.length
          if (sizeBytes > limitBytes) throw bodyTooLarge(limitBytes)
          yield value
        }
      } finally {
        stalled?.cancel()
        reading.delete(socket)
      }
    },
  }
}
