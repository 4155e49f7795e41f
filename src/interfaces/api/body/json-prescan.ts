/**
 * Scans a large JSON text before it is parsed. `JSON.parse` takes a minute and 1 GB for 50 MB of `{},`, and 1
 * s and 8 bytes per number for files that clients send as arrays of integers. The scan counts values and
 * decodes long byte arrays.
 */

/** Position of a byte array in the text, including both brackets. */
export interface ByteList {
  start: number
  end: number
  bytes: Uint8Array
}

export const VALUES_MAX = 250_000
/** Shorter arrays are left to `JSON.parse`. */
export const SHORTEST_PACKED_LIST = 1_024

const [QUOTE, BACKSLASH, COMMA, OPEN, CLOSE] = [...Buffer.from('"\\,[]')] as [
  number,
  number,
  number,
  number,
  number,
]
const [OPEN_OBJECT, CLOSE_OBJECT, ZERO, NINE] = [...Buffer.from('{}09')] as [number, number, number, number]

/**
 * Does not validate the text, which `JSON.parse` does afterwards.
 *
 * @returns the long byte arrays in order, or the limit that is exceeded
 */
export function surveyJson(text: Buffer, deepest: number): ByteList[] | { tooMuch: 'depth' | 'values' } {
  const lists: ByteList[] = []
  let valueCount = 1
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === QUOTE) at = endOfString(text, at)
    else if (character === COMMA) valueCount++
    else if (character === OPEN || character === OPEN_OBJECT) {
      const list = character === OPEN ? readByteList(text, at) : undefined
      valueCount++
      if (list) {
        lists.push(list)
        at = list.end - 1
      } else if (++depth > deepest) return { tooMuch: 'depth' }
    } else if (character === CLOSE || character === CLOSE_OBJECT) depth--
    if (valueCount > VALUES_MAX) return { tooMuch: 'values' }
  }
  return lists
}

/** Returns the position of the closing quote of the string that begins at `start`, or the end of the text. */
function endOfString(text: Buffer, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf(QUOTE, from)
    if (quote < 0) return text.length
    let backslashes = 0
    while (text[quote - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return quote
    from = quote + 1
  }
}

/** Returns undefined for a short array or one that contains anything except integers from 0 to 255. */
function readByteList(text: Buffer, start: number): ByteList | undefined {
  let bytes = new Uint8Array(SHORTEST_PACKED_LIST)
  let count = 0
  for (let at = start + 1; at < text.length; at++) {
    at = behindBlanks(text, at)
    let value = 0
    const first = at
    for (let digit = text[at]!; digit >= ZERO && digit <= NINE; digit = text[++at]!)
      value = value * 10 + digit - ZERO
    const length = at - first
    if (length === 0 || length > 3 || value > 255 || (text[first] === ZERO && length > 1)) return undefined
    if (count === bytes.length) bytes = grown(bytes)
    bytes[count++] = value
    at = behindBlanks(text, at)
    if (text[at] === CLOSE)
      return count < SHORTEST_PACKED_LIST ? undefined : { start, end: at + 1, bytes: bytes.slice(0, count) }
    if (text[at] !== COMMA) return undefined
  }
  return undefined
}

function behindBlanks(text: Buffer, from: number): number {
  let at = from
  while (text[at] === 0x20 || text[at] === 0x0a || text[at] === 0x0d || text[at] === 0x09) at++
  return at
}

function grown(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2)
  larger.set(bytes)
  return larger
}
