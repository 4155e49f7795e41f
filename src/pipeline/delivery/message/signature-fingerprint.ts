/**
 * Fingerprint of the signatures of a finished delivery. It identifies the signatures when they are made
 * again, because both algorithms are deterministic (RFC 8017 §8.2.1, RFC 8032 §5.1.6).
 */
import { hash } from 'node:crypto'
import type { Id } from '../../../lib/ids.ts'
import type { StoredSignature } from './signed-head.ts'

/**
 * Taken from the end of a key's id, which is random and is hexadecimal in the wire form. A domain has few
 * keys.
 */
const KEY_BYTES = 4
/**
 * The digest detects accidental differences only. It does not protect against someone who can write the
 * database.
 */
const DIGEST_BYTES = 8
const ENTRY_BYTES = KEY_BYTES + DIGEST_BYTES

export function fingerprintOf(signatures: readonly StoredSignature[]): Uint8Array {
  const proof = new Uint8Array(signatures.length * ENTRY_BYTES)
  for (const [i, { keyId, bytes }] of signatures.entries()) {
    proof.set(Buffer.from(keyId.slice(-2 * KEY_BYTES), 'hex'), i * ENTRY_BYTES)
    proof.set(digestOf(bytes), i * ENTRY_BYTES + KEY_BYTES)
  }
  return proof
}

/** Fingerprint of one signature. */
interface FingerprintEntry {
  isBy(keyId: Id): boolean
  /** @param signature in base64 */
  isOf(signature: string): boolean
}

/** @returns one entry for each signature, in order */
export function entriesOf(proof: Uint8Array): FingerprintEntry[] {
  return Array.from({ length: proof.length / ENTRY_BYTES }, (_, i) => {
    const entry = proof.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES)
    return {
      isBy: keyId => Buffer.compare(keyId.subarray(-KEY_BYTES), entry.subarray(0, KEY_BYTES)) === 0,
      isOf: signature => Buffer.compare(digestOf(signature), entry.subarray(KEY_BYTES)) === 0,
    }
  })
}

function digestOf(signature: string): Uint8Array {
  const digest = hash('sha256', Buffer.from(signature, 'base64'), 'binary')
  return Buffer.from(digest.slice(0, DIGEST_BYTES), 'binary')
}
