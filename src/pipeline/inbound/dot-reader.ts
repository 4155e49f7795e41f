/**
 * Reads the data that follows DATA: finds its end, which is CRLF . CRLF and nothing else, and removes dots
 * that precede dots (RFC 5321 §4.5.2). The cost is proportional to the number of octets, however they are
 * split and however many dots they hold.
 */

interface DotReader {
  /**
   * @returns the content of these bytes, and the position behind the end if these bytes hold the end; the
   * content may share memory with the bytes
   */
  take(bytes: Uint8Array): { content: Uint8Array; endAt: number | undefined }
}

const CR = 0x0d
const LF = 0x0a
const DOT = 0x2e
/** Length of the final dot and its CRLF, in octets. */
const END_BYTES = 3
const LINE_WITH_DOT = Buffer.of(LF, DOT)

/** States of the reader by the last octets. In some states, a dot or a dot and CR are held back. */
const INSIDE = 0
const RETURN = 1
const LINE = 2
const LINE_DOT = 3
const LINE_DOT_RETURN = 4
/** State after a bare LF. A dot does not end the data here, and may precede another dot. */
const HALF_LINE = 5
const HALF_LINE_DOT = 6

export function createDotReader(): DotReader {
  let state = LINE
  return {
    take(bytes) {
      const head = plainHead(bytes, state)
      let { length } = head
      state = after(head, state)
      if (length === bytes.length) return { content: bytes, endAt: undefined }
      if (state === LINE && isEnd(bytes, length)) return { content: head, endAt: length + END_BYTES }
      const content = Buffer.allocUnsafe(bytes.length + 2)
      content.set(head)
      for (let at = length; at < bytes.length; at++) {
        const byte = bytes[at]!
        if (state === LINE_DOT_RETURN && byte === LF) {
          state = LINE
          return { content: content.subarray(0, length), endAt: at + 1 }
        }
        if ((state === LINE || state === HALF_LINE) && byte === DOT) {
          state = state === LINE ? LINE_DOT : HALF_LINE_DOT
          continue
        }
        if (state === LINE_DOT && byte === CR) {
          state = LINE_DOT_RETURN
          continue
        }
        if (state === LINE_DOT_RETURN) {
          content[length++] = DOT
          content[length++] = CR
          state = RETURN
        } else if (state === LINE_DOT || state === HALF_LINE_DOT) {
          content[length++] = DOT
          state = INSIDE
          if (byte === DOT) continue // it was put before the one that stays
        }
        content[length++] = byte
        state = next(state, byte)
      }
      return { content: content.subarray(0, length), endAt: undefined }
    },
  }
}

/** Tells whether these bytes hold the whole end; otherwise the end is looked for octet by octet. */
function isEnd(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === DOT && bytes[at + 1] === CR && bytes[at + 2] === LF
}

function next(state: number, byte: number): number {
  if (byte === CR) return RETURN
  if (byte === LF) return state === RETURN ? LINE : HALF_LINE
  return INSIDE
}

/**
 * Returns the octets before the first line that begins with a dot: mostly all octets; none while octets are
 * held back.
 */
function plainHead(bytes: Uint8Array, state: number): Uint8Array {
  if (state === LINE_DOT || state === LINE_DOT_RETURN || state === HALF_LINE_DOT) return bytes.subarray(0, 0)
  const startsLine = state === LINE || state === HALF_LINE
  if (startsLine && bytes[0] === DOT) return bytes.subarray(0, 0)
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(LINE_WITH_DOT)
  return end < 0 ? bytes : bytes.subarray(0, end + 1)
}

function after(bytes: Uint8Array, state: number): number {
  const { length } = bytes
  if (length === 0) return state
  const before = length > 1 ? next(INSIDE, bytes[length - 2]!) : state
  return next(before, bytes[length - 1]!)
}
