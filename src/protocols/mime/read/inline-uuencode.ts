/**
 * Finds files that stand in the text of a message as uuencoded blocks, as programs without MIME attach them:
 * lines between `begin 644 name` and `end`.
 */
import { ANY_BYTES, typeOfFile } from '../file-type.ts'
import { lineEndIn, withoutLineEnd } from './head.ts'
import type { Leaf } from './walk.ts'

const FILES_MAX = 100
const BEGIN = /^begin [0-7]{3,4} ([^\r\n]{1,255})$/
const BEGIN_MARK = Buffer.from('begin ')
const BEGIN_LINE_BYTES_MAX = 300
/** A length, 84 characters for at most 63 octets, and a checksum that some programs add. */
const LINE_BYTES_MAX = 86
/** Number of blanks that may be missing at the end of the first line. */
const FIRST_LINE_BLANKS_MAX = 4
const FIRST_CHARACTER = 0x20
const LAST_CHARACTER = 0x60

/**
 * Splits a text at the uuencoded blocks in it. Blocks without `end`, or with lines that are not uuencoded,
 * stay text. Takes time in proportion to the size of the text.
 *
 * @param leaf a text in an identity encoding
 * @returns texts and files in their order; the leaf alone if it has no block
 */
export function splitUuencoded(bytes: Buffer, leaf: Leaf): Leaf[] {
  if (!bytes.subarray(leaf.start, leaf.end).includes(BEGIN_MARK)) return [leaf]
  const found: Leaf[] = []
  let textAt = leaf.start
  let fileCount = 0
  for (let at = leaf.start; at < leaf.end && fileCount < FILES_MAX; ) {
    const next = lineEndIn(bytes, at, leaf.end)
    const name = fileNameAt(bytes, at, next)
    if (name === undefined) {
      at = next
      continue
    }
    const { end, isWhole } = blockEnd(bytes, next, leaf.end)
    if (isWhole) {
      if (hasText(bytes, textAt, at)) found.push({ ...leaf, start: textAt, end: at })
      found.push(fileOf(leaf, name, at, end))
      fileCount += 1
      textAt = end
    }
    at = end
  }
  if (fileCount === 0) return [leaf]
  if (hasText(bytes, textAt, leaf.end) || found.length === fileCount)
    found.push({ ...leaf, start: textAt, end: leaf.end })
  return found
}

function fileOf(leaf: Leaf, filename: string, start: number, end: number): Leaf {
  return {
    ...leaf,
    type: { value: typeOfFile(filename) ?? ANY_BYTES, params: new Map() },
    disposition: { value: 'attachment', params: new Map([['filename', filename]]) },
    encoding: 'uuencode',
    contentId: undefined,
    start,
    end,
  }
}

function fileNameAt(bytes: Buffer, at: number, next: number): string | undefined {
  if (bytes.compare(BEGIN_MARK, 0, BEGIN_MARK.length, at, Math.min(at + BEGIN_MARK.length, next)) !== 0)
    return undefined
  const line = bytes.toString(
    'utf8',
    at,
    Math.min(withoutLineEnd(bytes, at, next), at + BEGIN_LINE_BYTES_MAX),
  )
  return BEGIN.exec(line)?.[1]
}

/** @returns the position behind `end`, or of the first line that does not belong to a block */
function blockEnd(bytes: Buffer, from: number, limit: number): { end: number; isWhole: boolean } {
  let hasOctets = false
  for (let at = from; at < limit; ) {
    const next = lineEndIn(bytes, at, limit)
    const lineAt = withoutLineEnd(bytes, at, next)
    if (lineAt - at === 3 && bytes.toString('latin1', at, lineAt) === 'end')
      return { end: next, isWhole: hasOctets }
    const isFirst = at === from
    if (!isEncodedLine(bytes, at, lineAt, isFirst)) return { end: at, isWhole: false }
    hasOctets ||= octetsOf(bytes, at, lineAt) > 0
    at = next
  }
  return { end: limit, isWhole: false }
}

/**
 * Whether a line is uuencoded. Blanks at its end, which stand for zeros, may have been removed on the way.
 * Words that look like a block have a first line that is much too short.
 */
function isEncodedLine(bytes: Buffer, at: number, end: number, isFirst: boolean): boolean {
  if (end - at > LINE_BYTES_MAX) return false
  for (let i = at; i < end; i++) if (bytes[i]! < FIRST_CHARACTER || bytes[i]! > LAST_CHARACTER) return false
  if (end === at) return true
  const characters = Math.ceil(octetsOf(bytes, at, end) / 3) * 4
  const length = end - at - 1
  return length <= characters + 1 && (!isFirst || length >= characters - FIRST_LINE_BLANKS_MAX)
}

/** Number of octets that a line declares. */
function octetsOf(bytes: Buffer, at: number, end: number): number {
  return end === at ? 0 : (bytes[at]! - FIRST_CHARACTER) & 0x3f
}

function hasText(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! > FIRST_CHARACTER) return true
  return false
}
