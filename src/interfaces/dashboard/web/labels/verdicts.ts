/** What received mail was judged to be, in words. */
import type { InboundRow } from '../api/types.ts'
import type { Tone } from './status.ts'

type Verdict = InboundRow['spam_verdict']
type Verdicts = Pick<
  InboundRow,
  'spam_verdict' | 'virus_verdict' | 'spf_verdict' | 'dkim_verdict' | 'dmarc_verdict'
>

export const VERDICT_WORDS: Readonly<{ [V in Verdict]: readonly [label: string, tone: Tone] }> = {
  PASS: ['Good', 'good'],
  FAIL: ['Bad', 'bad'],
  GRAY: ['Undecided', 'none'],
  PROCESSING_FAILED: ['Could not be checked', 'warn'],
  DISABLED: ['Not checked', 'none'],
}

export const VERDICTS: readonly (readonly [keyof Verdicts, name: string, question: string])[] = [
  ['spam_verdict', 'Spam', 'Is it unwanted?'],
  ['virus_verdict', 'Virus', 'Is there a virus in it?'],
  ['spf_verdict', 'SPF', 'May the server send for the domain?'],
  ['dkim_verdict', 'DKIM', 'Is it signed, and unchanged?'],
  ['dmarc_verdict', 'DMARC', 'Does the domain vouch for it?'],
]

/** All of them in one word. */
export function judgementOf(verdicts: Verdicts): { label: string; tone: Tone } {
  if (verdicts.virus_verdict === 'FAIL') return { label: 'Virus', tone: 'bad' }
  if (verdicts.spam_verdict === 'FAIL') return { label: 'Spam', tone: 'bad' }
  if (verdicts.dmarc_verdict === 'FAIL') return { label: 'Sender doubtful', tone: 'warn' }
  if (verdicts.dmarc_verdict === 'PASS') return { label: 'Sender proven', tone: 'good' }
  return { label: 'Sender not proven', tone: 'none' }
}
