/** Verifies the DKIM signatures of a message (RFC 6376). */
import { Readable } from 'node:stream'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { type BoundedCheckOptions, plainText, resultOf, runBoundedCheck } from './bounded-check.ts'
import type { Envelope } from './mail.ts'
import { SIGNATURES_MAX } from './sanitize.ts'
import type { CheckFinding, CheckResult, DkimFinding, DkimSignature } from './verdict.ts'

export type Verified = Awaited<ReturnType<typeof dkimVerify>>

export interface CheckedDkim extends DkimFinding {
  /** Result of mailauth; undefined if the signatures could not be checked. */
  verified?: Verified
}

/** Includes one look-up for the newest ARC signature, which is checked with the DKIM signatures. */
const LIMITS = { ms: 20_000, lookups: SIGNATURES_MAX + 1 }
const BEGINNING_CHARACTERS = 8
/**
 * Order of precedence among the results of several signatures: one valid signature is enough, and one that
 * could not be checked might be valid.
 */
const FROM_BEST: readonly CheckResult[] = [
  'pass',
  'temperror',
  'fail',
  'policy',
  'neutral',
  'permerror',
  'none',
]

export async function checkDkim(
  pieces: AsyncIterable<Uint8Array>,
  { receivedAt }: Envelope,
  options: BoundedCheckOptions,
): Promise<CheckedDkim> {
  const input = Readable.from(pieces, { objectMode: false })
  try {
    return await runBoundedCheck<CheckedDkim>(
      options,
      LIMITS,
      async ({ ask: resolver }) => {
        const settings = { resolver, strict: true, curTime: new Date(receivedAt) }
        const verified = await dkimVerify(input, settings)
        const signatures = verified.results.filter(isSignature).map(signatureOf)
        return { ...summaryOf(signatures), signatures, verified }
      },
      fault => ({ ...fault, signatures: [] }),
    )
  } finally {
    input.destroy()
  }
}

type MailauthResult = Verified['results'][number]

function isSignature({ status }: MailauthResult): boolean {
  return status.result !== 'none'
}

function signatureOf({ signingDomain, selector, algo, signature, status }: MailauthResult): DkimSignature {
  return {
    ...judged(status),
    domain: plainText(signingDomain?.toLowerCase()),
    selector: plainText(selector),
    algorithm: plainText(algo),
    beginning: signature?.replace(/[^A-Za-z0-9+/=]/g, '').slice(0, BEGINNING_CHARACTERS),
  }
}

function judged({
  result: text,
  comment,
  policy,
  testing,
  underSized,
}: MailauthResult['status']): CheckFinding {
  const result = resultOf(text)
  const reason =
    plainText(comment) ?? (policy && 'dkim-rules' in policy ? String(policy['dkim-rules']) : undefined)
  // Anybody on the way could have appended the unsigned rest (RFC 6376 §8.2).
  if (result === 'pass' && underSized)
    return { result: 'policy', reason: `${underSized} bytes of the body are not signed` }
  // RFC 6376 §3.6.1, t=y
  if (result === 'fail' && testing) return { result: 'neutral', reason: `${reason}; the domain is testing` }
  return { result, reason }
}

function summaryOf(signatures: readonly DkimSignature[]): CheckFinding {
  const result = FROM_BEST.find(best => signatures.some(one => one.result === best)) ?? 'none'
  if (result === 'pass') return { result }
  const deciding = signatures.find(one => one.result === result)
  return { result, reason: deciding?.reason ?? (deciding ? undefined : 'the message is not signed') }
}
