/** Deliverability page: the findings of the doctor, the sending IP addresses, and alerts. */
import { useLoad } from '../api/load.ts'
import type { Doctor } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { Pending } from '../components/feedback.tsx'
import { Card, Head, Mark, Time } from '../components/show.tsx'
import { checkWords } from '../labels/checks.ts'
import type { Tone } from '../labels/status.ts'
import { AlertsCard } from './alerts-card.tsx'
import { SourcesCard } from './sources-card.tsx'

type Finding = Doctor['findings'][number]

const STATUSES: Readonly<{ [S in Finding['status']]: readonly [string, Tone] }> = {
  failed: ['Failed', 'bad'],
  warning: ['Warning', 'warn'],
  unknown: ['Unknown', 'none'],
  ok: ['OK', 'good'],
}
const FROM_WORST = Object.keys(STATUSES)
export function Deliverability() {
  const doctor = useLoad<Doctor>('/doctor')
  return (
    <>
      <Head title="Deliverability">
        <Button icon="again" disabled={doctor.isLoading} onClick={doctor.reload}>
          Run checks
        </Button>
      </Head>
      <Card
        title="Diagnostics"
        lead={
          doctor.data ? (
            <>
              Last run <Time at={doctor.data.checked_at} />.
            </>
          ) : (
            'Running checks. This takes up to 20 seconds.'
          )
        }
        flush
      >
        {!doctor.data && <Pending of={doctor} />}
        {doctor.data && <Findings findings={doctor.data.findings} />}
      </Card>
      {!doctor.isLoading && (
        <>
          <SourcesCard doctor={doctor.data} />
          <AlertsCard />
        </>
      )}
    </>
  )
}

function Findings({ findings }: { findings: readonly Finding[] }) {
  const sorted = findings.toSorted((a, b) => FROM_WORST.indexOf(a.status) - FROM_WORST.indexOf(b.status))
  return (
    <ul>
      {sorted.map(({ check, subject, status, message, advice }) => (
        <li class="record" key={`${check} ${subject} ${message}`}>
          <div>
            <b>{checkWords(check)}</b> {subject && <span class="mono quiet">{subject}</span>}
          </div>
          <Mark tone={STATUSES[status][1]}>{STATUSES[status][0]}</Mark>
          <p class="quiet" style={{ gridColumn: '1 / -1' }}>
            {message}
          </p>
          {advice && <p class="advice">How to fix: {advice}</p>}
        </li>
      ))}
    </ul>
  )
}
