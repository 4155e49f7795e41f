/** The head of a delivery's message: its email's fields, the correlation header, and the signatures over them. */
import { signedBefore, signMessage } from '../../dkim/signature.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import type { HeaderField } from '../../smtp/header-field.ts'
import { createRefToken, type DeliveryRef } from '../../smtp/verp.ts'
import type { ComposedMessage } from './composed.ts'
import type { MadeSignatures } from './kept-signatures.ts'
import type { RingKey } from './key-ring.ts'

export interface SignedHead {
  /** Signatures first. */
  fields: HeaderField[]
  /** Epoch ms, the `t=` of the signatures. */
  signedAt: number
  /** JSON, see `StoredSignature`; null for an unsigned message. */
  signatures: string | null
  /** What each was made over, where they were made now; see `Signature`. */
  digests?(): string[]
}

/** As kept in the `signatures` of a delivery. */
export interface StoredSignature {
  keyId: string
  /** Base64. */
  bytes: string
}

interface HeadParts {
  message: Pick<ComposedMessage, 'fields' | 'bodyHash'>
  ref: DeliveryRef
  secrets: SecretKeys
}

export const CORRELATION_HEADER = 'X-Posthorn-Ref'

/** @param former are used again where they hold, and are by these keys */
export async function signHead(
  parts: HeadParts,
  keys: readonly RingKey[],
  former: MadeSignatures | undefined,
  now: number,
): Promise<SignedHead> {
  const again = former && signAgain(parts, keys, former)
  if (again) return again
  const fields = unsignedFields(parts, now)
  if (keys.length === 0) return { fields, signedAt: now, signatures: null }
  const made = await signMessage(fields, parts.message.bodyHash, keys, now)
  const stored: StoredSignature[] = made.map(({ key, bytes }) => ({
    keyId: key.keyId,
    bytes: bytes.toString('base64'),
  }))
  return {
    fields: [...made.map(({ field }) => field), ...fields],
    signedAt: now,
    signatures: JSON.stringify(stored),
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
  const stored = JSON.parse(signatures) as StoredSignature[]
  if (stored.length !== keys.length || stored.some(({ keyId }, i) => keyId !== keys[i]!.keyId))
    return undefined
  const fields = unsignedFields(parts, signedAt)
  const known = stored.map(({ bytes }, i) => ({ bytes: Buffer.from(bytes, 'base64'), digest: digests?.[i] }))
  const made = signedBefore(fields, parts.message.bodyHash, keys, signedAt, known)
  return made && { fields: [...made, ...fields], signedAt, signatures }
}
