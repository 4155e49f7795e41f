/** Encodes quoted-printable (RFC 2045 §6.7) in a form that survives relays and mailbox files. */
import { type LineSurvey, startsFrom } from './line-survey.ts'

const LINE_OCTETS_MAX = 76
/** A soft line break is an `=` at the end of the line. */
const SOFT_LINE_OCTETS = LINE_OCTETS_MAX - 1
const LF = 0x0a
const CR = 0x0d
const TAB = 0x09
const BLANK = 0x20
const DOT = 0x2e
const EQUALS = 0x3d

/** Octets that are not encoded, except blanks at the end of a line, and dots and F at the start of a line. */
const PLAIN = new Uint8Array(256).fill(1, BLANK, 0x7f)
PLAIN[EQUALS] = 0
PLAIN[TAB] = 1
const HEX = Buffer.from('0123456789ABCDEF')

/**
 * Encodes text. Every line end (CRLF, CR or LF) becomes one CRLF. Blanks before a line end are encoded,
 * and, at the start of an output line, dots and the F of "From ". No output line is longer than 76 octets.
 *
 * @param survey of the same bytes: tells the size of the result in advance
 */
export function encodeQuotedPrintable(bytes: Uint8Array, survey: LineSurvey): Buffer {
  const out = Buffer.allocUnsafe(sizeLimit(bytes.length, survey))
  const end = bytes.length
  let at = 0
  let to = 0
  let column = 0
  const softBreak = () => {
    out[to++] = EQUALS
    out[to++] = CR
    out[to++] = LF
    column = 0
  }
  while (at < end) {
    if (endsLine(bytes, at)) {
      at += bytes[at] === CR && bytes[at + 1] === LF ? 2 : 1
      out[to++] = CR
      out[to++] = LF
      column = 0
      continue
    }
    const from = at
    if (column > 0 || !isFragileStart(bytes, at)) {
      const stop = Math.min(end, at + SOFT_LINE_OCTETS - column)
      while (at < stop && PLAIN[bytes[at]!] === 1) out[to++] = bytes[at++]!
      column += at - from
      if (endsLine(bytes, at)) {
        if (at === from || !isBlank(bytes[at - 1]!)) continue
        at--
        to--
        column--
      } else if (column === SOFT_LINE_OCTETS) {
        if (endsLine(bytes, at + 1) && PLAIN[bytes[at]!] === 1 && !isBlank(bytes[at]!)) {
          out[to++] = bytes[at++]!
          column++
        } else softBreak()
        continue
      }
    }
    if (column + 3 > (endsLine(bytes, at + 1) ? LINE_OCTETS_MAX : SOFT_LINE_OCTETS)) softBreak()
    out[to++] = EQUALS
    out[to++] = HEX[bytes[at]! >> 4]!
    out[to++] = HEX[bytes[at++]! & 15]!
    column += 3
  }
  return out.subarray(0, to)
}

function endsLine(bytes: Uint8Array, at: number): boolean {
  return at >= bytes.length || bytes[at] === LF || bytes[at] === CR
}

function isBlank(byte: number): boolean {
  return byte === BLANK || byte === TAB
}

function isFragileStart(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === DOT || startsFrom(bytes, at)
}

/**
 * Returns a lower bound of the encoded size of a surveyed text: in each line, one blank and one dot or F may
 * be encoded.
 */
function sizeLimit(octets: number, survey: LineSurvey): number {
  const encoded = survey.nonAsciiCount + survey.controlCount + survey.equalsCount
  const hard = octets + 2 * encoded + survey.bareCrCount + survey.bareLfCount + 4 * survey.lineCount
  const softBreaks = Math.ceil(hard / (LINE_OCTETS_MAX - 6))
  return hard + softBreaks * 5
}
