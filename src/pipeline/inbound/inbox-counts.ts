/** Metrics of processed inbound messages: listed, faulty, and verdicts by check. */
import type { Metrics } from '../../lib/metrics.ts'
import type { Verdict } from '../../store/model/schema/inbound.ts'
import type { ReadMail } from './mail-reader.ts'
import type { Verdicts } from './message-verdicts.ts'

export interface InboxCounts {
  listed(message: { mail: ReadMail | null; verdicts: Verdicts }): void
}

const CHECKS = ['spam', 'virus', 'spf', 'dkim', 'dmarc'] as const
const VERDICTS = ['PASS', 'FAIL', 'GRAY', 'PROCESSING_FAILED', 'DISABLED'] as const satisfies Verdict[]

export function countInbox(metrics: Metrics): InboxCounts {
  const listed = metrics.counter('inbound_listed', 'Received messages that are listed.', [{}])
  const faulty = metrics.counter(
    'inbound_parse_errors',
    'Received messages that could not be read in full.',
    [{}],
  )
  const judged = metrics.counter('inbound_verdicts', 'What received messages were judged to be, by check.', [
    ...CHECKS.flatMap(check => VERDICTS.map(verdict => ({ check, verdict }))),
  ])
  return {
    listed({ mail, verdicts }) {
      listed.add()
      if (mail === null || mail.faults.length > 0) faulty.add()
      for (const check of CHECKS) judged.add({ check, verdict: verdicts[check] })
    },
  }
}
