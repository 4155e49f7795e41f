/** Labels of the verdicts on received mail. */
import type { InboundRow } from '../api/types.ts'
import type { Tone } from './status.ts'

type Verdict = InboundRow['spam_verdict']
type Verdicts = Pick<
  InboundRow,
  'spam_verdict' | 'virus_verdict' | 'spf_verdict' | 'dkim_verdict' | 'dmarc_verdict'
>

export const VERDICT_WORDS: Readonly<{ [V in Verdict]: readonly [label: string, tone: Tone] }> = {
  PASS: ['Pass', 'good'],
  FAIL: ['Fail', 'bad'],
  GRAY: ['Inconclusive', 'none'],
  PROCESSING_FAILED: ['Check failed', 'warn'],
  DISABLED: ['Not checked', 'none'],
}

export const VERDICTS: readonly (readonly [keyof Verdicts, name: string, question: string])[] = [
  ['spam_verdict', 'Spam', 'Is the message spam?'],
  ['virus_verdict', 'Virus', 'Does the message contain malware?'],
  ['spf_verdict', 'SPF', 'Is the server authorized to send for the domain?'],
  ['dkim_verdict', 'DKIM', 'Is the signature valid?'],
  ['dmarc_verdict', 'DMARC', 'Does SPF or DKIM align with the From domain?'],
]

/** Returns one label that summarizes all verdicts. */
export function judgementOf(verdicts: Verdicts): { label: string; tone: Tone } {
  if (verdicts.virus_verdict === 'FAIL') return { label: 'Virus', tone: 'bad' }
  if (verdicts.spam_verdict === 'FAIL') return { label: 'Spam', tone: 'bad' }
  if (verdicts.dmarc_verdict === 'FAIL') return { label: 'DMARC failed', tone: 'warn' }
  if (verdicts.dmarc_verdict === 'PASS') return { label: 'DMARC passed', tone: 'good' }
  return { label: 'Not authenticated', tone: 'none' }
}
