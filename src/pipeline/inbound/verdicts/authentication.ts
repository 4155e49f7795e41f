/** Runs SPF, DKIM, ARC and DMARC for one message. DMARC uses the results of the others. */

import { arc } from 'mailauth/lib/arc/index.js'
import { type BoundedCheckOptions, messageOf, plainText, resultOf, runBoundedCheck } from './bounded-check.ts'
import { type CheckedDkim, checkDkim, type Verified } from './dkim.ts'
import { judgeDmarc } from './dmarc.ts'
import type { Envelope, Mail } from './mail.ts'
import { type ShownAuthors, sanitize } from './sanitize.ts'
import { checkSpf } from './spf.ts'
import type { ArcFinding, Authentication, CheckFinding } from './verdict.ts'

/** Only tests have chains with more keys, although RFC 8617 §4.2.1 allows 50 sets. */
const LIMITS = { ms: 10_000, lookups: 20 }

interface AuthenticationOptions extends BoundedCheckOptions {
  mailHost: string
}

export async function authenticate(
  mail: Mail,
  envelope: Envelope,
  options: AuthenticationOptions,
): Promise<Authentication> {
  const [spf, { dkim, authors }] = await Promise.all([
    checkSpf(envelope, options.mailHost, options),
    verifiedDkim(mail, envelope, options),
  ])
  const { verified, ...finding } = dkim
  if (verified === undefined) {
    const fault: CheckFinding = { result: dkim.result, reason: dkim.reason }
    return { spf, dkim: finding, dmarc: fault, arc: fault }
  }
  const [dmarc, arc] = await Promise.all([
    judgeDmarc(spf, dkim, { verified, authors }, options),
    checkArc(verified, options),
  ])
  return { spf, dkim: finding, dmarc, arc }
}

async function verifiedDkim(
  mail: Mail,
  envelope: Envelope,
  options: BoundedCheckOptions,
): Promise<{ dkim: CheckedDkim; authors: ShownAuthors }> {
  try {
    const fit = await sanitize(mail)
    if ('fault' in fit) return unverified({ result: 'permerror', reason: fit.fault })
    const { authors, leftOut } = fit
    const dkim = await checkDkim(fit.pieces, envelope, options)
    if (leftOut === 0 || dkim.result === 'pass') return { dkim, authors }
    return {
      dkim: { ...dkim, reason: `${dkim.reason}; ${leftOut} signatures more are not looked at` },
      authors,
    }
  } catch (error) {
    return unverified({ result: 'temperror', reason: `the message could not be read: ${messageOf(error)}` })
  }
}

async function checkArc(verified: Verified, options: BoundedCheckOptions): Promise<ArcFinding> {
  const { arc: data } = verified
  if (data === undefined) return { result: 'none' }
  return runBoundedCheck<ArcFinding>(
    options,
    LIMITS,
    async dns => {
      const found = await arc(data as Parameters<typeof arc>[0], { resolver: dns.ask, strict: true })
      const result = resultOf(found.status.result)
      const instances = found.i === false || found.i === 0 ? undefined : found.i
      const unknown = dns.failure() ?? unansweredOf(data)
      // mailauth reports a key that could not be looked up as a broken chain.
      if (result === 'fail' && unknown !== undefined)
        return { result: 'temperror', instances, reason: unknown }
      return { result, instances, reason: result === 'fail' ? plainText(found.status.comment) : undefined }
    },
    fault => fault,
  )
}

function unansweredOf({ lastEntry }: NonNullable<Verified['arc']>): string | undefined {
  const status = lastEntry?.messageSignature?.status
  return status?.result === 'temperror'
    ? (plainText(status.comment) ?? 'a key could not be looked up')
    : undefined
}

function unverified(finding: CheckFinding): { dkim: CheckedDkim; authors: ShownAuthors } {
  return { dkim: { ...finding, signatures: [] }, authors: { fieldCount: 0, addresses: [], areLists: false } }
}
