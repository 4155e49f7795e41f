/**
 * DNS messages on a byte stream. The length of each message precedes it in two octets (RFC 1035 §4.2.2, RFC
 * 7766 §8).
 */
import type { Duplex } from 'node:stream'
import { HEADER_BYTES } from './wire.ts'

const PREFIX_BYTES = 2

/** Puts the length in front of a message. Both are in one buffer, so that they leave in one segment. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
  framed.writeUInt16BE(message.length)
  framed.set(message, PREFIX_BYTES)
  return framed
}

/**
 * Reads the messages of a stream until its end. A half-open stream can still be written to afterwards.
 *
 * @throws RangeError if a length is less than a header's or more than `maxBytes`
 */
export async function* readFrames(stream: Duplex, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  let pending: Buffer = Buffer.alloc(0)
  for await (const chunk of stream) {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    while (pending.length >= PREFIX_BYTES) {
      const length = pending.readUInt16BE()
      if (length < HEADER_BYTES || length > maxBytes) throw new RangeError(`a message of ${length} octets`)
      const end = PREFIX_BYTES + length
      if (pending.length < end) break
      yield pending.subarray(PREFIX_BYTES, end)
      pending = pending.subarray(end)
    }
  }
}
