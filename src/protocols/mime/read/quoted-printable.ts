/** Tolerant quoted-printable decoder (RFC 2045 §6.7): invalid escapes are kept literally. */
import type { OctetDecoder } from './octet-decoder.ts'

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const BLANK = 0x20
const EQUALS = 0x3d
/** Value of each hexadecimal digit; -1 for other octets. */
const HEX = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789ABCDEF'].entries()) {
  HEX[digit.charCodeAt(0)] = value
  HEX[digit.toLowerCase().charCodeAt(0)] = value
}
/** Octets whose meaning does not depend on their position. */
const PLAIN = new Uint8Array(256).fill(1)
for (const octet of [TAB, CR, BLANK, EQUALS]) PLAIN[octet] = 0
/**
 * Limit of blanks that are examined for the end of their line. The first blanks of a longer run count as
 * text.
 */
const BLANKS_MAX = 256
/**
 * Number of octets that decide the meaning of an octet in front of them: an equals sign, blanks and a line
 * end are a soft line break.
 */
const LOOK_AHEAD = BLANKS_MAX + 3

/**
 * Blanks at the end of a line were added on the way and are removed (§6.7 rule 3). Soft line breaks are
 * removed before escapes are read, since some programs break a line in the middle of an escape.
 */
export function quotedPrintableDecoder(): OctetDecoder {
  // The last octets of a piece are kept until the octets behind them arrive.
  let work = Buffer.alloc(0)
  let workEnd = 0
  const escapes = new Escapes()

  /** Decodes the kept octets, except those with fewer than `ahead` octets behind them. */
  const decode = (out: Uint8Array, at: number, ahead: number): number => {
    const end = workEnd - ahead
    let to = at
    let from = 0
    while (from < end) {
      const octet = work[from]!
      if (PLAIN[octet] === 1) {
        if (escapes.count > 0) to = escapes.put(octet, out, to)
        else out[to++] = octet
        from += 1
      } else if (octet === EQUALS) {
        if (escapes.count === 0 && from + 2 < workEnd) {
          const high = HEX[work[from + 1]!]!
          const low = HEX[work[from + 2]!]!
          if (high >= 0 && low >= 0) {
            out[to++] = (high << 4) | low
            from += 3
            continue
          }
          if (work[from + 1] === EQUALS && (work[from + 2] === EQUALS || isMidLine(work[from + 2]!))) {
            out[to++] = EQUALS
            from += 1
            continue
          }
        }
        const next = behindLineEnd(work, behindBlanks(work, from + 1, workEnd), workEnd)
        if (next < 0) to = escapes.put(EQUALS, out, to)
        from = next < 0 ? from + 1 : next
      } else if (octet === CR) {
        to = escapes.put(CR, out, to)
        from += 1
      } else {
        const next = behindBlanks(work, from, workEnd)
        const isAtLineEnd = work[next] === LF || (work[next] === CR && work[next + 1] === LF)
        if (!isAtLineEnd) for (let i = from; i < next; i++) to = escapes.put(work[i]!, out, to)
        from = next
      }
    }
    work.copyWithin(0, from, workEnd)
    workEnd -= from
    work.fill(0, workEnd)
    return to
  }
  return {
    maxOctets: octets => octets + LOOK_AHEAD + 4,
    write(piece, out, at) {
      if (work.length < workEnd + piece.length) {
        const grown = Buffer.alloc(workEnd + piece.length)
        work.copy(grown, 0, 0, workEnd)
        work = grown
      }
      work.set(piece, workEnd)
      workEnd += piece.length
      return decode(out, at, LOOK_AHEAD)
    },
    end: (out, at) => escapes.end(out, decode(out, at, 0)),
  }
}

/** Decodes escapes, one octet at a time, after soft line breaks have been removed. */
class Escapes {
  /** Number of octets of the current escape: `=`, and a digit. */
  count = 0
  #digit = 0

  put(octet: number, out: Uint8Array, at: number): number {
    let to = at
    if (this.count > 0) {
      const value = HEX[octet]!
      if (value >= 0) {
        if (this.count === 2) out[to++] = (HEX[this.#digit]! << 4) | value
        this.#digit = octet
        this.count = this.count === 1 ? 2 : 0
        return to
      }
      to = this.end(out, to)
    }
    if (octet === EQUALS) this.count = 1
    else out[to++] = octet
    return to
  }

  /** Writes the octets of an incomplete escape literally. */
  end(out: Uint8Array, at: number): number {
    let to = at
    if (this.count > 0) out[to++] = EQUALS
    if (this.count > 1) out[to++] = this.#digit
    this.count = 0
    return to
  }
}

/** Tells whether no line can end in front of the octet. */
function isMidLine(octet: number): boolean {
  return PLAIN[octet] === 1 && octet !== LF
}

function behindBlanks(bytes: Uint8Array, from: number, end: number): number {
  const limit = Math.min(end, from + BLANKS_MAX)
  let at = from
  while (at < limit && (bytes[at] === BLANK || bytes[at] === TAB)) at += 1
  return at
}

/**
 * Returns the position behind the line end at `at`, for which the end of the octets counts, too; -1 without
 * one.
 */
function behindLineEnd(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end || bytes[at] === LF) return Math.min(at + 1, end)
  if (bytes[at] !== CR) return -1
  return at + 1 >= end || bytes[at + 1] === LF ? Math.min(at + 2, end) : -1
}
