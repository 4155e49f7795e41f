/**
 * Validates the ARC chain of a message (RFC 8617). The result is reported and does not influence other
 * verdicts.
 */
import { arc } from 'mailauth/lib/arc/index.js'
import { type BoundedCheckOptions, plainText, resultOf, runBoundedCheck } from './bounded-check.ts'
import type { Verified } from './dkim.ts'
import type { ArcFinding } from './verdict.ts'

/** Chains of more keys than this are of nobody's making but a tester's (RFC 8617 §4.2.1 allows 50 sets). */
const LIMITS = { ms: 10_000, lookups: 20 }

export async function checkArc(verified: Verified, options: BoundedCheckOptions): Promise<ArcFinding> {
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
      // To mailauth a key that could not be looked up is a chain that is broken.
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
