/**
 * Surveys the octets of a text or an attached message in one pass. The properties of its lines decide how it
 * is encoded.
 */

export interface LineSurvey {
  /** Number of octets above 127. */
  nonAsciiCount: number
  /** Number of control characters other than tab, CR and LF. */
  controlCount: number
  /** Number of `=`, which quoted-printable must encode. */
  equalsCount: number
  lineCount: number
  /** Length of the longest line without its line end. */
  longestLineOctets: number
  bareCrCount: number
  bareLfCount: number
  /**
   * True if a line ends in a blank, begins with "From ", or is a single dot, which relays are known to alter.
   */
  hasFragileLine: boolean
  /** True if there is a tab, or a blank beside another. */
  hasBlankRun: boolean
}

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const BLANK = 0x20
const DOT = 0x2e
const EQUALS = 0x3d
const CAPITAL_F = 0x46
const DELETE = 0x7f

export function surveyLines(bytes: Uint8Array): LineSurvey {
  let nonAsciiCount = 0
  let controlCount = 0
  let equalsCount = 0
  let lineCount = 0
  let longestLineOctets = 0
  let bareCrCount = 0
  let bareLfCount = 0
  let hasFragileLine = false
  let hasBlankRun = false
  let start = 0
  const end = bytes.length
  for (let at = 0; at <= end; at++) {
    const byte = at < end ? bytes[at]! : LF
    if (byte > BLANK && byte < DELETE) {
      if (byte === EQUALS) equalsCount++
    } else if (byte === LF || byte === CR) {
      lineCount++
      if (at - start > longestLineOctets) longestLineOctets = at - start
      if (at > start && isFragile(bytes, start, at)) hasFragileLine = true
      if (byte === CR && bytes[at + 1] === LF) at++
      else if (byte === CR) bareCrCount++
      else if (at < end) bareLfCount++
      start = at + 1
    } else if (byte === BLANK) {
      if (bytes[at + 1] === BLANK) hasBlankRun = true
    } else if (byte > DELETE) nonAsciiCount++
    else if (byte === TAB) hasBlankRun = true
    else controlCount++
  }
  return {
    nonAsciiCount,
    controlCount,
    equalsCount,
    lineCount,
    longestLineOctets,
    bareCrCount,
    bareLfCount,
    hasFragileLine,
    hasBlankRun,
  }
}

/** Tells whether relays alter the non-empty line from `start` to `end`. */
function isFragile(bytes: Uint8Array, start: number, end: number): boolean {
  const last = bytes[end - 1]
  if (last === BLANK || last === TAB) return true
  const first = bytes[start]
  if (first === DOT) return end === start + 1
  return first === CAPITAL_F && startsFrom(bytes, start)
}

/** Tells whether "From " stands at `at`, which a mailbox file would take for the start of another message. */
export function startsFrom(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at] === CAPITAL_F &&
    bytes[at + 1] === 0x72 &&
    bytes[at + 2] === 0x6f &&
    bytes[at + 3] === 0x6d &&
    bytes[at + 4] === BLANK
  )
}

/**
 * Copies the text with CRLF for each line end (CRLF, CR or LF).
 *
 * @returns the position behind the copy in `out`
 */
export function writeCrlfLines(bytes: Uint8Array, out: Uint8Array, position: number): number {
  let to = position
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === LF || byte === CR) {
      out[to++] = CR
      out[to++] = LF
      if (byte === CR && bytes[at + 1] === LF) at++
    } else out[to++] = byte
  }
  return to
}
