/** Lines that were broken for transport become whole (RFC 3676 §4). */
import { rewriteUnits, type Units } from './code-units.ts'

const LF = 0x0a
const BLANK = 0x20
const MINUS = 0x2d
const QUOTE = 0x3e

/**
 * @param text lines end in LF @param joins whether the blank in front of the broken line end was added with
 * it (`DelSp=yes`)
 */
export function unflowed(text: string, joins: boolean): string {
  // A blank is put behind the quote marks of a line, which has at least one of them and a line end.
  const mostUnits = Math.ceil(text.length * 1.5) + 2
  return rewriteUnits(text, mostUnits, (units, out) => writeUnflowed(units, joins, out))
}

/** @returns how many were written */
function writeUnflowed(units: Units, joins: boolean, out: Units): number {
  let to = 0
  /** Quote marks of the paragraph that goes on in the next line; -1 where none does. */
  let paragraphDepth = -1
  for (let start = 0; start <= units.length; ) {
    let end = start
    while (end < units.length && units[end] !== LF) end += 1
    let from = start
    while (from < end && units[from] === QUOTE) from += 1
    const depth = from - start
    if (from < end && units[from] === BLANK) from += 1
    const isSignature = isSignatureMark(units, from, end)
    if (paragraphDepth !== depth || isSignature) {
      if (start > 0) out[to++] = LF
      if (depth > 0) {
        out.fill(QUOTE, to, to + depth)
        to += depth
        out[to++] = BLANK
      }
    }
    const flows = !isSignature && end > from && units[end - 1] === BLANK
    for (const last = flows && joins ? end - 1 : end; from < last; from++) out[to++] = units[from]!
    paragraphDepth = flows ? depth : -1
    start = end + 1
  }
  return to
}

/** `-- `, which is a line of its own though it ends in a blank (§4.3). */
function isSignatureMark(units: Units, from: number, end: number): boolean {
  return end - from === 3 && units[from] === MINUS && units[from + 1] === MINUS && units[from + 2] === BLANK
}
