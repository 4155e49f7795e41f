/**
 * Header section of a delivery's message: the fields of the email, the correlation header, and the
 * signatures.
 */

import type { SecretKeys } from '../../../lib/secret-keys.ts'
import type { Sign } from '../../../protocols/dkim/sign.ts'
import { signedBefore, signMessage } from '../../../protocols/dkim/signature.ts'
import type { HeaderField } from '../../../protocols/smtp/header-field.ts'
import { createRefToken, type DeliveryRef } from '../../../protocols/smtp/verp.ts'
import type { ComposedMessage } from './composed.ts'
import type { RingKey } from './key-ring.ts'

interface SignedHead {
  /** Header fields, with the signatures first. */
  fields: HeaderField[]
  /** Time of the signatures (`t=`), in ms since the epoch. */
  signedAt: number
  /** Null for an unsigned message. */
  signatures: readonly StoredSignature[] | null
  /** The digests that were signed, if the signatures were made now; see `Signature`. */
  digests?(): string[]
}

/** The column `signatures` of a delivery holds a JSON array of these. */
export interface StoredSignature {
  keyId: string
  /** The signature in base64. */
  bytes: string
}

export interface MadeSignatures {
  /** Time of all signatures (`t=`), in ms since the epoch. */
  signedAt: number
  signatures: readonly StoredSignature[]
  /** The digests that were signed, if this process has made the signatures; see `Signature`. */
  digests?: readonly string[]
}

interface HeadParts {
  message: Pick<ComposedMessage, 'fields' | 'bodyHash'>
  ref: DeliveryRef
  secrets: SecretKeys
}

export const CORRELATION_HEADER = 'X-Mailhorn-Ref'

/** @param former signatures to reuse, if they verify and are by the same keys */
export async function signHead(
  parts: HeadParts,
  keys: readonly RingKey[],
  former: MadeSignatures | undefined,
  now: number,
  sign: Sign,
): Promise<SignedHead> {
  const again = former && signAgain(parts, keys, former)
  if (again) return again
  const fields = unsignedFields(parts, now)
  if (keys.length === 0) return { fields, signedAt: now, signatures: null }
  const made = await signMessage(fields, parts.message.bodyHash, keys, now, sign)
  const stored: StoredSignature[] = made.map(({ key, base64 }) => ({ keyId: key.keyId, bytes: base64 }))
  return {
    fields: [...made.map(({ field }) => field), ...fields],
    signedAt: now,
    signatures: stored,
    digests: () => made.map(({ digest }) => digest()),
  }
}

/** Returns the fields that a signature of that time covers. */
export function unsignedFields({ message, ref, secrets }: HeadParts, signedAt: number): HeaderField[] {
  const value = createRefToken(secrets, 'correlation', ref, signedAt)
  return [...message.fields, { name: CORRELATION_HEADER, value }]
}

/** Undefined when the keys or the message have changed. */
function signAgain(
  parts: HeadParts,
  keys: readonly RingKey[],
  { signedAt, signatures, digests }: MadeSignatures,
): SignedHead | undefined {
  if (signatures.length !== keys.length || signatures.some(({ keyId }, i) => keyId !== keys[i]!.keyId))
    return undefined
  const fields = unsignedFields(parts, signedAt)
  const known = signatures.map(({ bytes: base64 }, i) => ({ base64, digest: digests?.[i] }))
  const made = signedBefore(fields, parts.message.bodyHash, keys, signedAt, known)
  return made && { fields: [...made, ...fields], signedAt, signatures }
}
