/** Creates random tokens of API keys and sessions. They are shown once and stored as hashes. */
import { hash, randomBytes } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TOKEN_CHARACTERS = 40
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

/** Hashes a token for storage. Its entropy is sufficient without a salt. */
export function hashToken(token: string): Uint8Array {
  return new Uint8Array(hash('sha256', token, 'buffer'))
}
