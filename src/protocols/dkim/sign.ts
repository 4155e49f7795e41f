/**
 * Signs in the thread pool of the runtime, or on the calling thread where this is faster than passing the
 * job.
 */
import { hash, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { SigningKey } from './keys.ts'

/** The parts of a key that a signature needs. */
export type PrivateKey = Pick<SigningKey, 'algorithm' | 'privateKey'>

/** @returns the signature of the text in base64 */
export type Sign = (input: string, key: PrivateKey) => Promise<string>

/**
 * An RSA-2048 signature takes about 0.25 ms of CPU time. The thread pool makes it, so that the caller can
 * process other messages.
 */
export const signHere: Sign = async (input, key) => {
  if (key.algorithm === 'ed25519-sha256') return signAtOnce(input, key)
  return (await signInPool('sha256', Buffer.from(input), key.privateKey)).toString('base64')
}

/** Ed25519 signs the digest (RFC 8463 §3). */
export function signAtOnce(input: string, { algorithm, privateKey }: PrivateKey): string {
  const bytes =
    algorithm === 'rsa-sha256'
      ? sign('sha256', Buffer.from(input), privateKey)
      : sign(null, hash('sha256', input, 'buffer'), privateKey)
  return bytes.toString('base64')
}

const signInPool = promisify<string, Buffer, KeyObject, Buffer>(sign)
