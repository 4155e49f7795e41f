/**
 * Recognizes the system's own recipient addresses at RCPT TO: return paths (VERP), unsubscribe addresses, the
 * feedback loop and postmaster. Any other address is refused at RCPT TO and never bounced. Called by
 * `rcpt-policy.ts`.
 */

import type { SecretKeys } from '../../lib/secret-keys.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import { readRefToken } from '../../protocols/smtp/verp.ts'
import { readMailToken } from '../tracking/unsubscribe-token.ts'
import type { NewReport } from './report-rows.ts'

interface LocalRecipientOptions {
  secrets: SecretKeys
  /** Address in lower case. */
  mailHost: string
}

/** A return path is valid for this long after its token was made. */
const TOKEN_GOOD_FOR_MS = 30 * 24 * 3_600_000
const RETURN_PATH = /^b\+([a-z2-7]{1,64})@send\.[^@]{1,248}$/
/** Unsubscribe addresses never expire: a recipient may unsubscribe at any time (RFC 2369 §3.2). */
const UNSUBSCRIBE = /^u\+([a-z2-7]{1,62})@send\.[^@]{1,248}$/
const OURS: ReadonlyMap<string, NewReport['addressKind']> = new Map([
  ['fbl', 'feedback-loop'],
  ['postmaster', 'postmaster'],
  ['abuse', 'postmaster'],
])

/**
 * Maps an address to a report to be stored: a return path with a valid token (RFC 5321 §4.4), an unsubscribe
 * address with a valid token, or a role address of the mail host (RFC 2142 §5), of which `postmaster` may
 * lack its domain. Returns undefined for any other address.
 */
export function localRecipientOf(
  recipient: string,
  now: number,
  { secrets, mailHost }: LocalRecipientOptions,
): NewReport | undefined {
  // RFC 5321 §4.1.1.3: the postmaster needs no domain.
  if (foldAddress(recipient) === 'postmaster')
    return localRecipientOf(`${recipient}@${mailHost}`, now, { secrets, mailHost })
  const address = foldAddress(recipient)
  const token = RETURN_PATH.exec(address)?.[1]
  if (token !== undefined) {
    const ref = readRefToken(secrets, 'verp', token)
    if (!ref || !isGood(ref.madeAt, now)) return undefined
    return { addressKind: 'return-path', emailId: ref.emailId, ordinal: ref.ordinal, recipient }
  }
  const mailToken = UNSUBSCRIBE.exec(address)?.[1]
  if (mailToken !== undefined) {
    const ref = readMailToken(secrets, mailToken)
    return ref && { addressKind: 'unsubscribe', ...ref, recipient }
  }
  const at = address.lastIndexOf('@')
  const addressKind = address.slice(at + 1) === mailHost ? OURS.get(address.slice(0, at)) : undefined
  return addressKind && { addressKind, emailId: null, ordinal: null, recipient }
}

/** Whether a token of a return path is still valid. @param madeAt day the token was made, epoch ms */
export function isGood(madeAt: number, now: number): boolean {
  return now - madeAt <= TOKEN_GOOD_FOR_MS + DAY_MS && madeAt <= now + DAY_MS
}

/** Tokens carry the day only, so one day of tolerance is added at both ends. */
const DAY_MS = 24 * 3_600_000
