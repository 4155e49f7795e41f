/**
 * The head of a delivery's message: its email's fields, the correlation header, and the signatures over them.
 */

import type { SecretKeys } from '../../../lib/secret-keys.ts'
import type { Sign } from '../../../protocols/dkim/sign.ts'
import { signedBefore, signMessage } from '../../../protocols/dkim/signature.ts'
import type { HeaderField } from '../../../protocols/smtp/header-field.ts'
import { createRefToken, type DeliveryRef } from '../../../protocols/smtp/verp.ts'
import type { ComposedMessage } from './composed.ts'
import type { RingKey } from './key-ring.ts'

interface SignedHead {
  /** Signatures first. */
  fields: HeaderField[]
  /** Epoch ms, the `t=` of the signatures. */
  signedAt: number
  /** Null for an unsigned message. */
  signatures: readonly StoredSignature[] | null
  /** What each was made over, where they were made now; see `Signature`. */
  digests?(): string[]
}

/** The `signatures` of a delivery are a list of them, as JSON. */
export interface StoredSignature {
  keyId: string
  /** Base64. */
  bytes: string
}

export interface MadeSignatures {
  /** Epoch ms, the `t=` of all. */
  signedAt: number
  signatures: readonly StoredSignature[]
  /** What each was made over, where this process has made them; see `Signature`. */
  digests?: readonly string[]
}

interface HeadParts {
  message: Pick<ComposedMessage, 'fields' | 'bodyHash'>
  ref: DeliveryRef
  secrets: SecretKeys
}

export const CORRELATION_HEADER = 'X-Mailhorn-Ref'

/** @param former are used again where they hold, and are by these keys */
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

/** What signatures of that time are made over. */
export function unsignedFields({ message, ref, secrets }: HeadParts, signedAt: number): HeaderField[] {
  const value = createRefToken(secrets, 'correlation', ref, signedAt)
  return [...message.fields, { name: CORRELATION_HEADER, value }]
}

/** Undefined where the keys are others now, or the message is another. */
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
