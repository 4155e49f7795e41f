/**
 * Signed tokens that identify one delivery. The return path contains a token (VERP), so that a bounce
 * identifies its delivery; a header field contains one, which complaints quote. A token cannot be guessed or
 * moved to another delivery.
 */
import type { Id } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { numberField, signToken, type TokenFormat, verifyToken } from '../../lib/signed-token.ts'

/** One recipient of one email. */
export interface DeliveryRef {
  emailId: Id
  /** Position of the recipient among the email's deliveries, 0 to 255. */
  ordinal: number
}

type RefPurpose = 'verp' | 'correlation'

const VERSION = 1
const DAY_MS = 86_400_000
const formatOf = (purpose: RefPurpose): TokenFormat => ({ purpose, macBytes: 8, text: 'base32' })

/** @returns 45 characters of base32 in lower case; readers must ignore the case */
export function createRefToken(
  keys: SecretKeys,
  purpose: RefPurpose,
  ref: DeliveryRef,
  nowMs: number,
): string {
  return signToken(keys, formatOf(purpose), [
    numberField(VERSION, 1),
    ref.emailId,
    numberField(ref.ordinal, 1),
    numberField(Math.floor(nowMs / DAY_MS), 2),
  ])
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
  const fields = verifyToken(keys, formatOf(purpose), token)
  if (fields?.number(1) !== VERSION) return undefined
  return { emailId: fields.id(), ordinal: fields.number(1), madeAt: fields.number(2) * DAY_MS }
}

/** Formats the envelope sender of a delivery (RFC 5321 §4.4): `b+<token>@send.<domain>`. */
export function returnPath(token: string, fromDomain: string): string {
  return `b+${token}@send.${fromDomain}`
}
