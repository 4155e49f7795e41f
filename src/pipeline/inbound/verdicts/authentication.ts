/** Runs SPF, DKIM, ARC and DMARC for one message. DMARC uses the results of the others. */
import { checkArc } from './arc.ts'
import { type BoundedCheckOptions, messageOf } from './bounded-check.ts'
import { type CheckedDkim, checkDkim } from './dkim.ts'
import { judgeDmarc } from './dmarc.ts'
import type { Envelope, Mail } from './mail.ts'
import { sanitize } from './sanitize.ts'
import { checkSpf } from './spf.ts'
import type { Authentication, CheckFinding } from './verdict.ts'

export interface AuthenticationOptions extends BoundedCheckOptions {
  mailHost: string
}

export async function authenticate(
  mail: Mail,
  envelope: Envelope,
  options: AuthenticationOptions,
): Promise<Authentication> {
  const [spf, dkim] = await Promise.all([
    checkSpf(envelope, options.mailHost, options),
    verifiedDkim(mail, envelope, options),
  ])
  const { verified, ...told } = dkim
  if (verified === undefined) {
    const fault: CheckFinding = { result: dkim.result, reason: dkim.reason }
    return { spf, dkim: told, dmarc: fault, arc: fault }
  }
  const [dmarc, arc] = await Promise.all([
    judgeDmarc(spf, dkim, verified, options),
    checkArc(verified, options),
  ])
  return { spf, dkim: told, dmarc, arc }
}

async function verifiedDkim(
  mail: Mail,
  envelope: Envelope,
  options: BoundedCheckOptions,
): Promise<CheckedDkim> {
  try {
    const fit = await sanitize(mail)
    if ('fault' in fit) return { result: 'permerror', reason: fit.fault, signatures: [] }
    const found = await checkDkim(fit.pieces, envelope, options)
    if (fit.leftOut === 0 || found.result === 'pass') return found
    return { ...found, reason: `${found.reason}; ${fit.leftOut} signatures more are not looked at` }
  } catch (error) {
    return {
      result: 'temperror',
      reason: `the message could not be read: ${messageOf(error)}`,
      signatures: [],
    }
  }
}
