/**
 * Signed tokens of links and addresses: fields, and the beginning of their HMAC. A token is valid in one
 * spelling only; base32 ignores the case, as local parts of addresses do.
 */
import { fromBase32, toBase32 } from './base32.ts'
import type { Id } from './ids.ts'
import { equalBytes, type SecretKeys, type TokenPurpose } from './secret-keys.ts'

const ID_BYTES = 16

export interface TokenFormat {
  purpose: TokenPurpose
  macBytes: number
  text: 'base32' | 'base64url'
}

/** The first field is the version, so that a later format can be told from this one. */
export function signToken(keys: SecretKeys, format: TokenFormat, fields: readonly Uint8Array[]): string {
  const content = Buffer.concat(fields)
  const bytes = Buffer.concat([content, macOf(keys, format, content)])
  return format.text === 'base32' ? toBase32(bytes) : bytes.toString('base64url')
}

/** @returns the fields; undefined if the spelling or the MAC is wrong */
export function verifyToken(keys: SecretKeys, format: TokenFormat, token: string): TokenFields | undefined {
  const bytes = format.text === 'base32' ? bytesOfBase32(token) : bytesOfBase64url(token)
  if (!bytes || bytes.length <= format.macBytes) return undefined
  const content = bytes.subarray(0, -format.macBytes)
  const isValid = equalBytes(bytes.subarray(-format.macBytes), macOf(keys, format, content))
  return isValid ? new TokenFields(content) : undefined
}

/** Returns a field with an unsigned number of at most six bytes, the most significant one first. */
export function numberField(value: number, sizeBytes: number): Uint8Array {
  const field = Buffer.allocUnsafe(sizeBytes)
  field.writeUIntBE(value, 0, sizeBytes)
  return field
}

/** Reads fields one after another. */
export class TokenFields {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  number(sizeBytes: number): number {
    this.#at += sizeBytes
    return this.#bytes.readUIntBE(this.#at - sizeBytes, sizeBytes)
  }

  id(): Id {
    this.#at += ID_BYTES
    return new Uint8Array(this.#bytes.subarray(this.#at - ID_BYTES, this.#at))
  }

  /** @param sizeBytes all that is left if absent */
  text(sizeBytes = this.#bytes.length - this.#at): string {
    this.#at += sizeBytes
    return this.#bytes.toString('utf8', this.#at - sizeBytes, this.#at)
  }
}

/** @returns undefined for a spelling that no encoder gives, such as one with padding */
export function bytesOfBase64url(token: string): Buffer | undefined {
  const bytes = Buffer.from(token, 'base64url')
  return bytes.toString('base64url') === token ? bytes : undefined
}

function bytesOfBase32(token: string): Buffer | undefined {
  const bytes = fromBase32(token)
  return bytes && toBase32(bytes) === token.toLowerCase() ? bytes : undefined
}

function macOf(keys: SecretKeys, { purpose, macBytes }: TokenFormat, content: Buffer): Buffer {
  return keys.mac(purpose, content).subarray(0, macBytes)
}
