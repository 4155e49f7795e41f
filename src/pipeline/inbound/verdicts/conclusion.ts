/**
 * Derives the verdicts of a message from the findings of its checks. The main thread also uses it when no
 * check could run.
 */
import { resultsValue } from './results-field.ts'
import { scoreOf } from './score.ts'
import {
  type Authentication,
  type CheckFinding,
  type MessageVerdicts,
  type SpamFinding,
  type VirusFinding,
  wordOf,
} from './verdict.ts'

/** Derives the verdicts from the results of all checks. */
export function verdictsOf(
  mailHost: string,
  authentication: Authentication,
  spam: SpamFinding = scoreOf(authentication),
  virus: VirusFinding = { by: 'nothing', verdict: 'DISABLED' },
): MessageVerdicts {
  return {
    spf: wordOf(authentication.spf),
    dkim: wordOf(authentication.dkim),
    dmarc: wordOf(authentication.dmarc),
    arc: wordOf(authentication.arc),
    spam: spam.verdict,
    virus: virus.verdict,
    authenticationResults: resultsValue(mailHost, authentication),
    detail: { ...authentication, spam, virus },
  }
}

/** Returns the results of a message whose checks could not run. */
export function unknownAuthentication(reason: string): Authentication {
  const fault: CheckFinding = { result: 'temperror', reason }
  return { spf: fault, dkim: { ...fault, signatures: [] }, dmarc: fault, arc: fault }
}
