/** Signs in the runtime's thread pool, or on the calling thread where that is faster than passing the job. */
import { hash, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { SigningKey } from './keys.ts'

/** What a signature needs of its key. */
export type PrivateKey = Pick<SigningKey, 'algorithm' | 'privateKey'>

/** @returns the signature of that text, base64 */
export type Sign = (input: string, key: PrivateKey) => Promise<string>

/**
 * RSA-2048 takes about 0.25 ms of CPU; it is worked on by the thread pool, so that the caller can go on with
 * other messages.
 */
export const signHere: Sign = async (input, key) => {
  if (key.algorithm === 'ed25519-sha256') return signAtOnce(input, key)
  return (await signInPool('sha256', Buffer.from(input), key.privateKey)).toString('base64')
}

/** RFC 8463 §3: Ed25519 signs the digest. */
export function signAtOnce(input: string, { algorithm, privateKey }: PrivateKey): string {
  const bytes =
    algorithm === 'rsa-sha256'
      ? sign('sha256', Buffer.from(input), privateKey)
      : sign(null, hash('sha256', input, 'buffer'), privateKey)
  return bytes.toString('base64')
}

const signInPool = promisify<string, Buffer, KeyObject, Buffer>(sign)
