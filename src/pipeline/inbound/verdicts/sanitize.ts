/**
 * Prepares a message for verification by mailauth: refuses or removes input that would only cause excessive
 * work.
 */
import { type FieldRange, readVerdictHead, takeHead } from './head.ts'
import type { Mail } from './mail.ts'

/** Those above are checked; what has more is made to be work (RFC 6376 §6.1). */
export const SIGNATURES_MAX = 10
/** Ten times what large providers let through. */
const HEADER_BYTES_MAX = 512 * 1024
const FIELDS_MAX = 5_000
/** A list of 64 addresses is a thousand characters. */
const FROM_BYTES_MAX = 16 * 1024
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024
/**
 * Mail has lines of at most 998 octets (RFC 5322 §2.1.1). A line is canonicalized as a whole, and anew with
 * each piece that comes, so that the work grows with the square of its length.
 */
const LINE_MAX_BYTES = 1024 * 1024
const LF = 0x0a
/** Fields for which the body is hashed (RFC 6376, RFC 8617). */
const SIGNATURES = new Set(['dkim-signature', 'arc-message-signature'])

export interface SanitizedMail {
  pieces: AsyncIterable<Uint8Array>
  /** Signatures that are left out, because there are so many. */
  leftOut: number
}

/** @returns why it is not looked at, in place of that which is */
export async function sanitize(mail: Mail): Promise<SanitizedMail | { fault: string }> {
  if (mail.sizeBytes > MESSAGE_BYTES_MAX) return { fault: 'the message is too large' }
  const pieces = mail.read()[Symbol.asyncIterator]()
  const { bytes, isWhole } = await takeHead(pieces, HEADER_BYTES_MAX)
  const { fields, end = bytes.length } = readVerdictHead(bytes, FIELDS_MAX + 1)
  const isTooLarge = !isWhole || (fields.length <= FIELDS_MAX && end > HEADER_BYTES_MAX)
  const fault = isTooLarge ? 'the header section is too large' : faultOf(fields)
  if (fault !== undefined) {
    await pieces.return?.()
    return { fault }
  }
  const surplus = fields.filter(({ name }) => name === 'dkim-signature').slice(SIGNATURES_MAX)
  const left = joined(without(bytes, surplus), pieces)
  const isSigned = fields.some(({ name }) => SIGNATURES.has(name))
  return { pieces: isSigned ? withShortLines(left) : left, leftOut: surplus.length }
}

/** @throws Error at a line that is too long */
async function* withShortLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let lineBytes = 0
  for await (const piece of pieces) {
    const first = piece.indexOf(LF)
    if (lineBytes + (first < 0 ? piece.length : first) > LINE_MAX_BYTES)
      throw new Error(`a line is longer than ${LINE_MAX_BYTES} octets`)
    lineBytes = first < 0 ? lineBytes + piece.length : piece.length - 1 - piece.lastIndexOf(LF)
    yield piece
  }
}

function faultOf(fields: readonly FieldRange[]): string | undefined {
  if (fields.length > FIELDS_MAX) return 'there are too many header fields'
  const isLong = fields.some(({ name, from, to }) => name === 'from' && to - from > FROM_BYTES_MAX)
  return isLong ? 'the From field is too long' : undefined
}

/** The bytes but for some ranges, which are in their order. */
export function* without(bytes: Uint8Array, ranges: Iterable<FieldRange>): Generator<Uint8Array> {
  let at = 0
  for (const { from, to } of ranges) {
    if (from > at) yield bytes.subarray(at, from)
    at = to
  }
  if (at < bytes.length) yield bytes.subarray(at)
}

export async function* joined(
  head: Iterable<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head
  yield* { [Symbol.asyncIterator]: () => rest }
}
