/** Decodes the text of a part: its transfer encoding, its charset, and its line breaks (RFC 3676). */
import { textPieces } from './charset.ts'
import { decodeBytes } from './transfer.ts'
import type { Leaf } from './walk.ts'

const LF = 0x0a
const CR = 0x0d
const BLANK = 0x20
const MINUS = 0x2d
const QUOTE = 0x3e
const META_SCAN_BYTES = 2_048
const META_CHARSET = /<meta[^>]{0,200}charset\s{0,5}=\s{0,5}["']?([\w-]{1,40})/i
/** Octets that a character of UTF-8 may take. */
const CHARACTER_OCTETS_MAX = 4
const BEYOND_LATIN1 = /[^\x00-\xff]/

export interface LeafText {
  /** Text without NUL, whose lines end in LF. */
  text: string
  isCut: boolean
}

/** @param maxCharacters limit of the result, which limits the memory for a part of any length, too */
export function textOfLeaf(
  bytes: Buffer,
  leaf: Pick<Leaf, 'type' | 'encoding' | 'start' | 'end'>,
  maxCharacters: number,
): LeafText {
  const { type, start, end, encoding } = leaf
  const maxOctets = CHARACTER_OCTETS_MAX * maxCharacters
  const decoded = decodeBytes(bytes.subarray(start, end), encoding, maxOctets + 1)
  const hasMore = decoded.length > maxOctets
  const octets = hasMore ? withoutHalfCharacter(decoded) : decoded
  const isHtml = type.value === 'text/html'
  const charset = type.params.get('charset') ?? (isHtml ? metaCharset(octets) : undefined)
  const { text, isCut } = beginningOf(cleanPieces(textPieces(octets, charset)), maxCharacters)
  const isFlowed = !isHtml && type.params.get('format')?.toLowerCase() === 'flowed'
  const whole = isFlowed ? unflowed(text, type.params.get('delsp')?.toLowerCase() === 'yes') : text
  const isTooLong = whole.length > maxCharacters
  return {
    text: (isTooLong ? whole.slice(0, maxCharacters) : whole).toWellFormed(),
    isCut: hasMore || isCut || isTooLong,
  }
}

/** Removes a cut character from the end of UTF-8, for which the text would be taken for another charset. */
function withoutHalfCharacter(octets: Buffer): Buffer {
  let lead = octets.length - 1
  while (lead > octets.length - CHARACTER_OCTETS_MAX && (octets[lead]! & 0xc0) === 0x80) lead -= 1
  return octets[lead]! >= 0xc0 ? octets.subarray(0, lead) : octets
}

function metaCharset(html: Buffer): string | undefined {
  return META_CHARSET.exec(html.toString('latin1', 0, META_SCAN_BYTES))?.[1]
}

/** Turns line ends into LF, and removes NUL. */
function* cleanPieces(pieces: Iterable<string>): Generator<string> {
  let endsInCr = false
  for (const piece of pieces) {
    if (piece === '') continue
    const own = endsInCr && piece.startsWith('\n') ? piece.slice(1) : piece
    endsInCr = piece.endsWith('\r')
    yield own.includes('\r') || own.includes('\0') ? rewriteUnits(own, own.length, writeClean) : own
  }
}

function writeClean(units: Units, out: Units): number {
  let to = 0
  for (let from = 0; from < units.length; from++) {
    const unit = units[from]!
    if (unit === CR) {
      out[to++] = LF
      if (units[from + 1] === LF) from += 1
    } else if (unit !== 0) out[to++] = unit
  }
  return to
}

/** Requests no more pieces than needed. */
function beginningOf(pieces: Iterable<string>, maxCharacters: number): LeafText {
  let text = ''
  for (const piece of pieces) {
    text += piece
    if (text.length > maxCharacters) return { text: text.slice(0, maxCharacters), isCut: true }
  }
  return { text, isCut: false }
}

/**
 * Joins the lines of `format=flowed` that were broken for transport (RFC 3676 §4).
 *
 * @param text text whose lines end in LF
 * @param joins true if the blank before a soft line break was added with the break (`DelSp=yes`)
 */
export function unflowed(text: string, joins: boolean): string {
  // A blank is added behind the quote marks of a line, which has at least one mark and a line end.
  const maxUnits = Math.ceil(text.length * 1.5) + 2
  return rewriteUnits(text, maxUnits, (units, out) => writeUnflowed(units, joins, out))
}

/** @returns the number of written units */
function writeUnflowed(units: Units, joins: boolean, out: Units): number {
  let to = 0
  /** Quote marks of the paragraph that continues in the next line; -1 if none does. */
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

/** The line `-- ` is fixed although it ends in a blank (RFC 3676 §4.3). */
function isSignatureMark(units: Units, from: number, end: number): boolean {
  return end - from === 3 && units[from] === MINUS && units[from + 1] === MINUS && units[from + 2] === BLANK
}

type Units = Uint8Array | Uint16Array

/**
 * Rewrites a text as an array of code units. Strings between a million line ends would be a million strings.
 *
 * @param maxUnits limit of the units that `write` writes
 * @param write returns the number of units that it has written
 */
function rewriteUnits(text: string, maxUnits: number, write: (units: Units, out: Units) => number): string {
  if (!BEYOND_LATIN1.test(text)) {
    const out = Buffer.allocUnsafe(maxUnits)
    return out.toString('latin1', 0, write(Buffer.from(text, 'latin1'), out))
  }
  const memory = Buffer.from(text, 'utf16le')
  const units = new Uint16Array(memory.buffer, memory.byteOffset, text.length)
  const out = new Uint16Array(maxUnits)
  return Buffer.from(out.buffer, 0, 2 * write(units, out)).toString('utf16le')
}
