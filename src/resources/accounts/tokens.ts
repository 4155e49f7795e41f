/**
 * Creates random tokens of API keys, access tokens and sessions. They are shown once and stored as hashes.
 */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TOKEN_CHARACTERS = 40
/** Base62 digits of the largest CRC-32. */
const CHECKSUM_CHARACTERS = 6
const CHECKED_TOKEN = /^[A-Za-z]\w{0,18}_([0-9A-Za-z]{40})([0-9A-Za-z]{6})$/
/** Bytes from this value on are discarded, so that all characters are equally likely. */
const FAIR_BYTES = 256 - (256 % 62)

/** Creates a token of `prefix` and 40 base62 characters, which hold 238 bits. */
export function createToken(prefix: string): string {
  let token = prefix
  while (token.length < prefix.length + TOKEN_CHARACTERS)
    for (const byte of randomBytes(TOKEN_CHARACTERS))
      if (byte < FAIR_BYTES && token.length < prefix.length + TOKEN_CHARACTERS) token += BASE62[byte % 62]
  return token
}

/**
 * Creates a token that secret scanners can check without a look-up: `prefix`, 40 random base62 characters,
 * and their CRC-32 in six base62 digits.
 */
export function createCheckedToken(prefix: string): string {
  const random = createToken('')
  return prefix + random + checksumOf(random)
}

/** Tells whether a text has the form and the checksum of a token of `createCheckedToken`, with any prefix. */
export function isCheckedToken(text: string): boolean {
  const [, random, checksum] = CHECKED_TOKEN.exec(text) ?? []
  return random !== undefined && checksum === checksumOf(random)
}

function checksumOf(text: string): string {
  let digits = ''
  for (let rest = crc32(text); digits.length < CHECKSUM_CHARACTERS; rest = Math.floor(rest / 62))
    digits = BASE62[rest % 62] + digits
  return digits
}

/** Hashes a token for storage. Its entropy is sufficient without a salt. */
export function hashToken(token: string): Uint8Array {
  return new Uint8Array(hash('sha256', token, 'buffer'))
}
