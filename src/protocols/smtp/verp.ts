/**
 * Signed tokens that identify one delivery. The return path contains a token (VERP), so that a bounce
 * identifies its delivery; a header field contains one, which complaints quote. A token cannot be guessed or
 * moved to another delivery.
 */
import { fromBase32, toBase32 } from '../../lib/base32.ts'
import type { Id } from '../../lib/ids.ts'
import { equalBytes, type SecretKeys } from '../../lib/secret-keys.ts'

/** One recipient of one email. */
export interface DeliveryRef {
  emailId: Id
  /** Position of the recipient among the email's deliveries, 0 to 255. */
  ordinal: number
}

type RefPurpose = 'verp' | 'correlation'

const VERSION = 1
const DAY_MS = 86_400_000
const ID_AT = 1
const ORDINAL_AT = 17
const DAY_AT = 18
const MAC_AT = 20
const MAC_BYTES = 8
const TOKEN_BYTES = MAC_AT + MAC_BYTES

/** @returns 45 characters of base32 in lower case; readers must ignore the case */
export function createRefToken(
  keys: SecretKeys,
  purpose: RefPurpose,
  ref: DeliveryRef,
  nowMs: number,
): string {
  const bytes = Buffer.alloc(TOKEN_BYTES)
  bytes[0] = VERSION
  bytes.set(ref.emailId, ID_AT)
  bytes[ORDINAL_AT] = ref.ordinal
  bytes.writeUInt16BE(Math.floor(nowMs / DAY_MS), DAY_AT)
  bytes.set(macOf(keys, purpose, bytes), MAC_AT)
  return toBase32(bytes)
}

/**
 * @returns the delivery of a token and the day on which the token was made (epoch ms), or undefined if the
 * token is not valid
 */
export function readRefToken(
  keys: SecretKeys,
  purpose: RefPurpose,
  token: string,
): (DeliveryRef & { madeAt: number }) | undefined {
  const bytes = fromBase32(token)
  if (bytes?.length !== TOKEN_BYTES || bytes[0] !== VERSION) return undefined
  if (toBase32(bytes) !== token.toLowerCase()) return undefined
  if (!equalBytes(bytes.subarray(MAC_AT), macOf(keys, purpose, bytes))) return undefined
  return {
    emailId: new Uint8Array(bytes.subarray(ID_AT, ORDINAL_AT)),
    ordinal: bytes[ORDINAL_AT]!,
    madeAt: bytes.readUInt16BE(DAY_AT) * DAY_MS,
  }
}

/** Formats the envelope sender of a delivery (RFC 5321 §4.4): `b+<token>@send.<domain>`. */
export function returnPath(token: string, fromDomain: string): string {
  return `b+${token}@send.${fromDomain}`
}

function macOf(keys: SecretKeys, purpose: RefPurpose, bytes: Buffer): Buffer {
  return keys.mac(purpose, bytes.subarray(0, MAC_AT)).subarray(0, MAC_BYTES)
}
