/** Who may be written to here: decided at RCPT, by the address alone. Everything else is refused there, and never bounced. */

import type { SecretKeys } from '../../lib/secret-keys.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import { readRefToken } from '../../protocols/smtp/verp.ts'
import { readMailToken } from '../tracking/unsubscribe-token.ts'
import type { NewReport } from './report-rows.ts'

export interface LocalRecipientOptions {
  secrets: SecretKeys
  /** Lower case. */
  mailHost: string
}

/** A return path is good for so long after its message was signed. */
export const TOKEN_GOOD_FOR_MS = 30 * 24 * 3_600_000
const RETURN_PATH = /^b\+([a-z2-7]{1,64})@send\.[^@]{1,248}$/
/** Good for ever: who got the mail may leave at any time (RFC 2369 §3.2). */
const UNSUBSCRIBE = /^u\+([a-z2-7]{1,62})@send\.[^@]{1,248}$/
const OURS: ReadonlyMap<string, NewReport['door']> = new Map([
  ['fbl', 'feedback-loop'],
  ['postmaster', 'postmaster'],
  ['abuse', 'postmaster'],
])

/**
 * The door behind an address: a return path whose token is ours and not too old (RFC 5321 §4.4), an unsubscribe address
 * whose token is ours, or an address of the provider host (RFC 2142 §5). Undefined where there is none.
 */
export function localRecipientOf(
  recipient: string,
  now: number,
  { secrets, mailHost }: LocalRecipientOptions,
): NewReport | undefined {
  const address = foldAddress(recipient)
  const token = RETURN_PATH.exec(address)?.[1]
  if (token !== undefined) {
    const ref = readRefToken(secrets, 'verp', token)
    if (!ref || !isGood(ref.madeAt, now)) return undefined
    return { door: 'return-path', emailId: ref.emailId, ordinal: ref.ordinal, recipient }
  }
  const mailToken = UNSUBSCRIBE.exec(address)?.[1]
  if (mailToken !== undefined) {
    const ref = readMailToken(secrets, mailToken)
    return ref && { door: 'unsubscribe', ...ref, recipient }
  }
  const at = address.lastIndexOf('@')
  const door = address.slice(at + 1) === mailHost ? OURS.get(address.slice(0, at)) : undefined
  return door && { door, emailId: null, ordinal: null, recipient }
}

/** @param madeAt the day of a token, epoch ms */
export function isGood(madeAt: number, now: number): boolean {
  return now - madeAt <= TOKEN_GOOD_FOR_MS + DAY_MS && madeAt <= now + DAY_MS
}

/** Tokens know the day alone. */
const DAY_MS = 24 * 3_600_000
