/** Decodes header text for display: encoded words (RFC 2047), and unencoded 8-bit text. */
import { canBeJoined, decodeText } from './charset.ts'

const ENCODED_WORD = /=\?([^?\s]{1,40})\?([bq])\?([^?\n]{0,2000})\?=/gi
/** Blanks between two encoded words are not part of the text (RFC 2047 §6.2). */
const BETWEEN_WORDS = /(\?=)[ \t\n]{1,80}(?==\?[^?\s]{1,40}\?[bq]\?)/gi
const CHARACTERS_MAX = 4096

interface Reading {
  /** Characters behind this limit are left out. */
  maxCharacters?: number
  /** Charset of octets beyond ASCII that are neither encoded nor UTF-8. */
  declared?: string | undefined
}

/** @param value unfolded value with one character per octet */
export function decodeWords(
  value: string,
  { maxCharacters = CHARACTERS_MAX, declared }: Reading = {},
): string {
  const text = value.slice(0, maxCharacters)
  if (!text.includes('=?')) return decodeText(text, undefined, declared)
  // A character may be split between words of one charset, so their octets are joined before they are
  // decoded. In a charset with shifts, each word begins in ASCII (RFC 2047 §3), and is decoded on its own.
  const parts: { bytes: string; charset?: string; joins?: boolean }[] = []
  let at = 0
  const joined = text.replace(BETWEEN_WORDS, '$1')
  for (const word of joined.matchAll(ENCODED_WORD)) {
    if (word.index > at) parts.push({ bytes: joined.slice(at, word.index) })
    const charset = word[1]!.split('*')[0]!.toLowerCase()
    const bytes = word[2]!.toLowerCase() === 'b' ? fromB(word[3]!) : fromQ(word[3]!)
    const last = parts.at(-1)
    const joins = canBeJoined(bytes, charset)
    if (joins && last?.joins && word.index === at && last.charset === charset) last.bytes += bytes
    else parts.push({ bytes, charset, joins })
    at = word.index + word[0].length
  }
  parts.push({ bytes: joined.slice(at) })
  return parts.map(({ bytes, charset }) => decodeText(bytes, charset, declared)).join('')
}

function fromB(text: string): string {
  return Buffer.from(text, 'base64').toString('latin1')
}

function fromQ(text: string): string {
  return text
    .replace(/_/g, ' ')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
