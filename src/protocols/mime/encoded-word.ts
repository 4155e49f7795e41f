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
 * @param firstRoom limit of characters for the first word, if the line on which it begins is not empty
 */
export function encodedWords(text: string, firstRoom = WORD_CHARACTERS_MAX): string[] {
  const bytes = Buffer.from(text)
  const inQ = lengthInQ(bytes, 0, bytes.length) <= lengthInB(bytes.length)
  const words: string[] = []
  let room = Math.max(firstRoom, MIN_WORD_CHARACTERS) - FRAME_CHARACTERS
  let start = 0
  let length = 0
  for (let at = 0; at < bytes.length; ) {
    const next = at + characterOctets(bytes[at]!)
    const grown = inQ ? length + lengthInQ(bytes, at, next) : lengthInB(next - start)
    if (grown <= room) {
      length = grown
      at = next
    } else {
      words.push(wordOf(bytes.subarray(start, at), inQ))
      room = WORD_CHARACTERS_MAX - FRAME_CHARACTERS
      start = at
      length = 0
    }
  }
  if (start < bytes.length) words.push(wordOf(bytes.subarray(start), inQ))
  return words
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
