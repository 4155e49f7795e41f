/** Spam score from authentication results, used when no spam filter is configured. */
import type { Authentication, DmarcFinding, SpamFinding, Verdict } from './verdict.ts'

/** Score from which mail fails. */
const SPAM_SCORE_MIN = 5
const GRAY_FROM = 3

/** Score of a DMARC failure by the policy that the domain publishes. */
const BY_POLICY = new Map([
  ['reject', 5],
  ['quarantine', 3],
])
const OTHER_POLICY = 2

/** The score is deterministic and ignores the content, which rspamd or spamd can check. */
export function scoreOf({ spf, dkim, dmarc }: Authentication): SpamFinding {
  if (spf.result === 'temperror' && dkim.result === 'temperror')
    return {
      by: 'authentication',
      verdict: 'PROCESSING_FAILED',
      reason: 'nothing is known of where it comes from',
    }
  const points: Record<string, number> = {
    [`DMARC_FAIL_${(dmarc.policy ?? 'none').toUpperCase()}`]: dmarcPoints(dmarc),
    NO_AUTHOR: dmarc.result === 'permerror' ? 3 : 0,
    SPF_FAIL: spf.result === 'fail' ? 2 : 0,
    SPF_SOFTFAIL: spf.result === 'softfail' ? 1 : 0,
    DKIM_FAIL: dkim.result === 'fail' ? 1 : 0,
    // Nothing authenticates the origin.
    NO_PROOF: dmarc.result !== 'pass' && spf.result !== 'pass' && dkim.result !== 'pass' ? 1 : 0,
  }
  const counted = Object.entries(points).filter(([, point]) => point > 0)
  const score = counted.reduce((sum, [, point]) => sum + point, 0)
  return {
    by: 'authentication',
    verdict: verdictOf(score),
    score,
    threshold: SPAM_SCORE_MIN,
    rules: counted.map(([rule]) => rule),
  }
}

function dmarcPoints({ result, policy }: DmarcFinding): number {
  return result === 'fail' ? (BY_POLICY.get(policy ?? '') ?? OTHER_POLICY) : 0
}

function verdictOf(score: number): Verdict {
  if (score >= SPAM_SCORE_MIN) return 'FAIL'
  return score >= GRAY_FROM ? 'GRAY' : 'PASS'
}
