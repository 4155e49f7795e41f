/**
 * Base32 (RFC 4648 §6) in lower case, for case-insensitive places such as local parts of addresses and DNS
 * labels.
 */

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const LETTERS = Buffer.from(ALPHABET)

export function toBase32(bytes: Uint8Array): string {
  const text = Buffer.allocUnsafe(Math.ceil((bytes.length * 8) / 5))
  let at = 0
  let buffer = 0
  let bits = 0
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff
    bits += 8
    for (; bits >= 5; bits -= 5) text[at++] = LETTERS[(buffer >>> (bits - 5)) & 31]!
  }
  if (bits > 0) text[at] = LETTERS[(buffer << (5 - bits)) & 31]!
  return text.toString('latin1')
}

/**
 * Reads upper and lower case. Trailing bits that fill no byte are dropped.
 * @returns undefined when the text contains any other character
 */
export function fromBase32(text: string): Buffer | undefined {
  const bytes = Buffer.alloc(Math.floor((text.length * 5) / 8))
  let at = 0
  let buffer = 0
  let bits = 0
  for (const letter of text.toLowerCase()) {
    const value = ALPHABET.indexOf(letter)
    if (value < 0) return undefined
    buffer = ((buffer << 5) | value) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = buffer >>> bits
    }
  }
  return bytes
}
