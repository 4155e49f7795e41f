/** Random tokens that are shown once and kept as hashes: API keys and sessions. */
import { hash, randomBytes } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TOKEN_CHARACTERS = 40
/** Bytes at or above are thrown away, so that every character is equally likely. */
const FAIR_BYTES = 256 - (256 % 62)

/** Creates a token of `prefix` and 40 base62 characters, which hold 238 bits. */
export function createToken(prefix: string): string {
  let token = prefix
  while (token.length < prefix.length + TOKEN_CHARACTERS)
    for (const byte of randomBytes(TOKEN_CHARACTERS))
      if (byte < FAIR_BYTES && token.length < prefix.length + TOKEN_CHARACTERS) token += BASE62[byte % 62]
  return token
}

/** What is stored of a token. A token has enough bits of its own to need no salt. */
export function hashToken(token: string): Uint8Array {
  return new Uint8Array(hash('sha256', token, 'buffer'))
}
