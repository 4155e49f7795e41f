/** Writes encoded words: text outside ASCII, split and encoded for a 7-bit header field (RFC 2047). */

const WORD_CHARACTERS_MAX = 75
const FRAME_CHARACTERS = '=?UTF-8?Q??='.length
/** Length of the frame and of the longest character, which takes four octets in Q. */
const MIN_WORD_CHARACTERS = FRAME_CHARACTERS + 12

/** Octets that are not encoded in Q, which are safe in a display name, too (RFC 2047 §5 rule 3). */
const LITERAL_IN_Q = tableOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/')
const BLANK = 0x20

/**
 * Encodes a text in words of B or Q, whichever is shorter. No word cuts a character. Readers remove the
 * blanks between adjacent encoded words (§6.2), so the words may be joined and folded freely.
 *
 * GMime decodes adjacent words in B as one stream, which padding ends. So every word in B but the last has a
 * multiple of three octets; where no character ends at one, a word in Q comes first.
 *
 * @param firstRoom limit of characters for the first word, if the line on which it begins is not empty
 */
export function encodedWords(text: string, firstRoom = WORD_CHARACTERS_MAX): string[] {
  const bytes = Buffer.from(text)
  const prefersQ = lengthInQ(bytes, 0, bytes.length) <= lengthInB(bytes.length)
  const words: string[] = []
  let room = Math.max(firstRoom, MIN_WORD_CHARACTERS) - FRAME_CHARACTERS
  for (let start = 0; start < bytes.length; ) {
    const endInB = prefersQ ? start : endOfB(bytes, start, room)
    const end = endInB > start ? endInB : endOfQ(bytes, start, room)
    words.push(wordOf(bytes.subarray(start, end), end !== endInB))
    room = WORD_CHARACTERS_MAX - FRAME_CHARACTERS
    start = end
  }
  return words
}

/** Returns the end of the text if it fits, else of the last character without padding, else `start`. */
function endOfB(bytes: Buffer, start: number, room: number): number {
  if (lengthInB(bytes.length - start) <= room) return bytes.length
  let end = start
  for (let at = start; lengthInB(at - start) <= room; at += characterOctets(bytes[at]!))
    if ((at - start) % 3 === 0) end = at
  return end
}

function endOfQ(bytes: Buffer, start: number, room: number): number {
  let end = start
  for (let length = 0; end < bytes.length; ) {
    const next = end + characterOctets(bytes[end]!)
    length += lengthInQ(bytes, end, next)
    if (length > room) break
    end = next
  }
  return end
}

function wordOf(bytes: Buffer, inQ: boolean): string {
  return inQ ? `=?UTF-8?Q?${encodeQ(bytes)}?=` : `=?UTF-8?B?${bytes.toString('base64')}?=`
}

function encodeQ(bytes: Buffer): string {
  let text = ''
  for (const byte of bytes) {
    if (LITERAL_IN_Q[byte]) text += String.fromCharCode(byte)
    else if (byte === BLANK) text += '_'
    else text += `=${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`
  }
  return text
}

function lengthInQ(bytes: Buffer, start: number, end: number): number {
  let length = 0
  for (let at = start; at < end; at++) length += LITERAL_IN_Q[bytes[at]!] || bytes[at] === BLANK ? 1 : 3
  return length
}

function lengthInB(octets: number): number {
  return Math.ceil(octets / 3) * 4
}

function characterOctets(lead: number): number {
  if (lead < 0x80) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const character of characters) table[character.charCodeAt(0)] = 1
  return table
}
