/** Findings of the doctor: the worst first, each with how to fix it. */
import type { Doctor } from '../api/types.ts'
import { checkWords } from '../labels/checks.ts'
import type { Tone } from '../labels/status.ts'
import { Mark } from './show.tsx'

export type Finding = Doctor['findings'][number]

const STATUSES: Readonly<{ [S in Finding['status']]: readonly [string, Tone] }> = {
  failed: ['Failed', 'bad'],
  warning: ['Warning', 'warn'],
  unknown: ['Unknown', 'none'],
  ok: ['OK', 'good'],
}
const FROM_WORST = Object.keys(STATUSES)

export function Findings({ findings }: { findings: readonly Finding[] }) {
  const sorted = findings.toSorted((a, b) => FROM_WORST.indexOf(a.status) - FROM_WORST.indexOf(b.status))
  return (
    <ul>
      {sorted.map(({ check, subject, status, message, advice }) => (
        <li class="record" key={`${check} ${subject} ${message}`}>
          <div>
            <b>{checkWords(check)}</b> {subject && <span class="mono quiet">{subject}</span>}
          </div>
          <Mark tone={STATUSES[status][1]}>{STATUSES[status][0]}</Mark>
          <p class="quiet">{message}</p>
          {advice && <p class="advice">How to fix: {advice}</p>}
        </li>
      ))}
    </ul>
  )
}
