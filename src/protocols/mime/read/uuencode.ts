/** Decodes uuencode, which some programs use instead of a MIME encoding: lines between `begin` and `end`. */
import type { OctetDecoder } from './octet-decoder.ts'

const LF = 0x0a
const CR = 0x0d
const TAB = 0x09
const BLANK = 0x20
const BEGIN = /^begin [0-7]{3,4} /
const END = [...Buffer.from('end')]
/** Limit of a line that is examined for `begin`. */
const FIRST_LINE_BYTES_MAX = 1_024
/** Limit of a line: a length and 84 characters for at most 63 octets. Further characters are ignored. */
const LINE_BYTES_MAX = 88
const LINE_OCTETS = 63

/** A body that does not begin with `begin` is left unchanged. */
export function uuDecoder(): OctetDecoder {
  let state: 'before' | 'first-line' | 'inside' | 'after' | 'not-encoded' = 'before'
  const line = Buffer.alloc(FIRST_LINE_BYTES_MAX)
  let length = 0
  /** True if the line holds only blanks so far. */
  let isBlank = true

  /** Examines a complete line, or the beginning of a long one. @returns whether the body is not encoded */
  const isNotEncoded = (): boolean => {
    if (isBlank) return false
    state = BEGIN.test(line.toString('latin1', 0, length)) ? 'first-line' : 'not-encoded'
    return state === 'not-encoded'
  }
  const takeBefore = (octet: number, out: Uint8Array, at: number): number => {
    const isLineEnd = octet === LF
    if (isLineEnd || length === FIRST_LINE_BYTES_MAX) {
      if (isNotEncoded()) {
        out.set(line.subarray(0, length), at)
        out[at + length] = octet
        return at + length + 1
      }
      length = 0
      isBlank = true
      if (isLineEnd && state === 'first-line') state = 'inside'
    }
    if (isLineEnd || state !== 'before') return at
    line[length++] = octet
    isBlank &&= octet === BLANK || octet === TAB || octet === CR
    return at
  }
  const endLine = (out: Uint8Array, at: number): number => {
    if (length > 0 && line[length - 1] === CR) length -= 1
    const isEnd = length === END.length && END.every((octet, i) => line[i] === octet)
    const octets = isEnd || length === 0 ? 0 : valueAt(line, 0, length)
    if (octets === 0) state = 'after'
    else writeLine(line, length, octets, out, at)
    length = 0
    return at + octets
  }

  return {
    // A line whose trailing blanks were removed on the way is short, but represents the full number of
    // octets.
    maxOctets: octets => Math.ceil(octets / 2 + 1) * (LINE_OCTETS + 3) + FIRST_LINE_BYTES_MAX,
    write(piece, out, at) {
      let to = at
      for (let from = 0; from < piece.length; from++) {
        const octet = piece[from]!
        if (state === 'inside') {
          if (octet === LF) to = endLine(out, to)
          else if (length < LINE_BYTES_MAX) line[length++] = octet
        } else if (state === 'before') to = takeBefore(octet, out, to)
        else if (state === 'first-line') {
          if (octet === LF) state = 'inside'
        } else if (state === 'after') return to
        else {
          out.set(piece.subarray(from), to)
          return to + piece.length - from
        }
      }
      return to
    },
    end(out, at) {
      if (state === 'inside' && length > 0) return endLine(out, at)
      if (state !== 'before' || !isNotEncoded()) return at
      out.set(line.subarray(0, length), at)
      return at + length
    },
  }
}

/**
 * Decodes four characters to three octets; blanks that were removed at the end count as zero. @param out has
 * room for two further octets
 */
function writeLine(line: Uint8Array, length: number, octets: number, out: Uint8Array, at: number): void {
  if (length === 1) {
    out.fill(0, at, at + octets)
    return
  }
  for (let from = 1, to = at; to < at + octets; from += 4, to += 3) {
    const a = valueAt(line, from, length)
    const b = valueAt(line, from + 1, length)
    const c = valueAt(line, from + 2, length)
    const d = valueAt(line, from + 3, length)
    out[to] = (a << 2) | (b >> 4)
    out[to + 1] = ((b << 4) | (c >> 2)) & 0xff
    out[to + 2] = ((c << 6) | d) & 0xff
  }
}

/** Returns six bits; a blank or a backquote is zero. */
function valueAt(line: Uint8Array, at: number, length: number): number {
  return at < length ? (line[at]! - 0x20) & 0x3f : 0
}
