/** Decodes the text of a part: its transfer encoding, its charset and its line breaks. */
import { textPieces } from '../../../protocols/bounces/parts/charset.ts'
import { rewriteUnits, type Units } from './code-units.ts'
import { unflowed } from './flowed.ts'
import { decodeBytes } from './transfer.ts'
import type { Leaf } from './walk.ts'

const LF = 0x0a
const CR = 0x0d
const META_SCAN_BYTES = 2_048
const META_CHARSET = /<meta[^>]{0,200}charset\s{0,5}=\s{0,5}["']?([\w-]{1,40})/i
/** A character may take four octets. */
const OCTETS_PER_CHARACTER = 4

export interface LeafText {
  /** Lines end in LF; without NUL, which no text has. */
  text: string
  isCut: boolean
}

/** @param mostCharacters that are read of it: no more memory is used, however long the part is */
export function textOfLeaf(bytes: Buffer, leaf: Leaf, mostCharacters: number): LeafText {
  const { type, start, end, encoding } = leaf
  const mostOctets = OCTETS_PER_CHARACTER * mostCharacters
  const decoded = decodeBytes(bytes.subarray(start, end), encoding, mostOctets + 1)
  const hasMore = decoded.length > mostOctets
  const octets = hasMore ? withoutHalfCharacter(decoded) : decoded
  const isHtml = type.value === 'text/html'
  const charset = type.params.get('charset') ?? (isHtml ? namedInside(octets) : undefined)
  const { text, isCut } = beginningOf(cleanPieces(textPieces(octets, charset)), mostCharacters)
  const isFlowed = !isHtml && type.params.get('format')?.toLowerCase() === 'flowed'
  const whole = isFlowed ? unflowed(text, type.params.get('delsp')?.toLowerCase() === 'yes') : text
  const isTooLong = whole.length > mostCharacters
  return {
    text: (isTooLong ? whole.slice(0, mostCharacters) : whole).toWellFormed(),
    isCut: hasMore || isCut || isTooLong,
  }
}

/** Of UTF-8 that was cut anywhere: its end would make the whole look like another charset. */
function withoutHalfCharacter(octets: Buffer): Buffer {
  let lead = octets.length - 1
  while (lead > octets.length - OCTETS_PER_CHARACTER && (octets[lead]! & 0xc0) === 0x80) lead -= 1
  return octets[lead]! >= 0xc0 ? octets.subarray(0, lead) : octets
}

function namedInside(html: Buffer): string | undefined {
  return META_CHARSET.exec(html.toString('latin1', 0, META_SCAN_BYTES))?.[1]
}

/** Line ends become LF, and NUL goes. */
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

/** No more pieces are asked for than are needed. */
function beginningOf(pieces: Iterable<string>, mostCharacters: number): LeafText {
  let text = ''
  for (const piece of pieces) {
    text += piece
    if (text.length > mostCharacters) return { text: text.slice(0, mostCharacters), isCut: true }
  }
  return { text, isCut: false }
}
