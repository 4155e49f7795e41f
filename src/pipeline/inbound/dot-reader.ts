/**
 * What follows DATA, as it comes: finds the end, which is CRLF . CRLF and nothing else, and takes the dots
 * away that were put before dots (RFC 5321 §4.5.2). The cost is that of the bytes, however they are cut and
 * however many dots there are.
 */

interface DotReader {
  /**
   * @returns the content of these bytes, and where the first byte behind the end is, if the end is in them;
   * the content may be a part of the bytes themselves
   */
  take(bytes: Uint8Array): { content: Uint8Array; endAt: number | undefined }
}

const CR = 0x0d
const LF = 0x0a
const DOT = 0x2e
/** Length of the final dot and its CRLF, in octets. */
const END_BYTES = 3
const LINE_WITH_DOT = Buffer.of(LF, DOT)

/** Where the reader stands: what was last, and in which places a dot, or a dot and a CR, are held back. */
const INSIDE = 0
const RETURN = 1
const LINE = 2
const LINE_DOT = 3
const LINE_DOT_RETURN = 4
/** After an LF alone: no dot ends anything here, but it may stand before another. */
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

/** Whether all of the end stands there; else it is looked for byte by byte. */
function isEnd(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === DOT && bytes[at + 1] === CR && bytes[at + 2] === LF
}

function next(state: number, byte: number): number {
  if (byte === CR) return RETURN
  if (byte === LF) return state === RETURN ? LINE : HALF_LINE
  return INSIDE
}

/**
 * What comes before the first line that begins with a dot: all, mostly; nothing where something is held back.
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
