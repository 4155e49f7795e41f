/**
 * DNS messages on a byte stream. The length of each message precedes it in two octets (RFC 1035 §4.2.2, RFC
 * 7766 §8).
 */
import type { Duplex } from 'node:stream'
import { JoinedBytes } from '../../lib/joined-bytes.ts'
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
 * Reads the messages of a stream until its end. A half-open stream can still be written to afterwards. The
 * bytes of an incomplete message are in one buffer, however small the pieces are in which they arrive.
 *
 * @throws RangeError if a length is less than a header's or more than `maxBytes`
 */
export async function* readFrames(stream: Duplex, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  const incomplete = new JoinedBytes()
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let rest = chunk
    if (incomplete.length > 0) {
      incomplete.add(chunk)
      if (lengthIn(incomplete.view(), maxBytes) > incomplete.length) continue
      rest = incomplete.take()
    }
    for (let end = lengthIn(rest, maxBytes); end <= rest.length; end = lengthIn(rest, maxBytes)) {
      yield rest.subarray(PREFIX_BYTES, end)
      rest = rest.subarray(end)
    }
    incomplete.add(rest)
  }
}

/** Length of the first message with its prefix; that of the prefix while it is not whole. */
function lengthIn(bytes: Buffer, maxBytes: number): number {
  if (bytes.length < PREFIX_BYTES) return PREFIX_BYTES
  const length = bytes.readUInt16BE()
  if (length < HEADER_BYTES || length > maxBytes) throw new RangeError(`a message of ${length} octets`)
  return PREFIX_BYTES + length
}
