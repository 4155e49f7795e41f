/** Types of the verdicts on received mail: one word per check, with the findings behind it. */
import type { Verdict } from '../../../store/model/schema/inbound.ts'

export type { Verdict }

/** Result names of Authentication-Results (RFC 8601 §2.7). */
export type CheckResult =
  | 'pass'
  | 'fail'
  | 'softfail'
  | 'neutral'
  | 'none'
  | 'policy'
  | 'temperror'
  | 'permerror'

/** Finding of one authentication method; `reason` explains a result that is not self-evident. */
export interface CheckFinding {
  result: CheckResult
  reason?: string | undefined
}

export interface SpfFinding extends CheckFinding {
  /** Domain in lower-case A-labels. */
  domain?: string | undefined
  /** Checked identity: HELO for the null sender (RFC 7208 §2.4). */
  identity?: 'mailfrom' | 'helo' | undefined
}

export interface DkimSignature extends CheckFinding {
  domain?: string | undefined
  selector?: string | undefined
  algorithm?: string | undefined
  /** First characters of the signature, which tell signatures of one domain apart. */
  beginning?: string | undefined
}

export interface DkimFinding extends CheckFinding {
  signatures: DkimSignature[]
}

export interface DmarcFinding extends CheckFinding {
  /** Domain of the From field. */
  domain?: string | undefined
  /** Policy published by the domain for failing mail: `none`, `quarantine`, `reject`. */
  policy?: string | undefined
}

export interface ArcFinding extends CheckFinding {
  /** Number of ARC sets in the chain. */
  instances?: number | undefined
}

export interface Authentication {
  spf: SpfFinding
  dkim: DkimFinding
  dmarc: DmarcFinding
  arc: ArcFinding
}

export interface SpamFinding {
  by: 'rspamd' | 'spamd' | 'authentication'
  verdict: Verdict
  score?: number | undefined
  /** Score at which mail is spam. */
  threshold?: number | undefined
  /** Rules that contributed to the score. */
  rules?: string[] | undefined
  reason?: string | undefined
}

export interface VirusFinding {
  by: 'clamd' | 'nothing'
  verdict: Verdict
  /** Name of the malware as the scanner reports it. */
  found?: string | undefined
  reason?: string | undefined
}

/** Findings as they are stored and shown, in JSON. */
interface VerdictDetail extends Authentication {
  spam: SpamFinding
  virus: VirusFinding
}

export interface MessageVerdicts {
  spf: Verdict
  dkim: Verdict
  dmarc: Verdict
  arc: Verdict
  spam: Verdict
  virus: Verdict
  /** Folded value of the Authentication-Results field (RFC 8601). */
  authenticationResults: string
  detail: VerdictDetail
}

const WORDS: Record<CheckResult, Verdict> = {
  pass: 'PASS',
  fail: 'FAIL',
  softfail: 'GRAY',
  neutral: 'GRAY',
  none: 'GRAY',
  // A signature that no receiver accepts, such as one by a key of 512 bits, counts as missing (RFC 8301
  // §3.2).
  policy: 'GRAY',
  temperror: 'PROCESSING_FAILED',
  permerror: 'PROCESSING_FAILED',
}

export function wordOf({ result }: CheckFinding): Verdict {
  return WORDS[result]
}
