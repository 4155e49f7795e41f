/** Deliverability page: the findings of the doctor, the sending IP addresses, and alerts. */
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import type { Alert, Doctor, List } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { Empty, Pending } from '../components/feedback.tsx'
import { type Column, ListTable } from '../components/list.tsx'
import { Card, Head, Mark, Time } from '../components/show.tsx'
import { aboutWords, alertWords } from '../labels/alerts.ts'
import { checkWords } from '../labels/checks.ts'
import type { Tone } from '../labels/status.ts'
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
      <Head
        title="Deliverability"
        lead="Diagnostics of DNS, network and reputation, with advice for each issue."
      >
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
      <SourcesCard doctor={doctor.data} />
      <AlertsCard />
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

const ALERT_COLUMNS: readonly Column<Alert>[] = [
  {
    head: 'Alert',
    cell: alert => (
      <>
        <b>{alertWords(alert).what}</b>
        <div class="small quiet">
          {alertWords(alert).fix} <Link href={alertWords(alert).href}>{alertWords(alert).act}</Link>
        </div>
      </>
    ),
  },
  { head: 'About', cell: alert => <span class="quiet">{aboutWords(alert) || '–'}</span> },
  { head: 'Server reply', cell: ({ reply }) => <span class="mono quiet">{reply}</span> },
  { head: 'Time', kind: 'tight', cell: ({ created_at }) => <Time at={created_at} /> },
]

function AlertsCard() {
  const alerts = useLoad<List<Alert>>('/alerts?limit=50')
  return (
    <Card title="Alerts" flush>
      <ListTable<Alert>
        caption="Alerts"
        list={alerts}
        columns={ALERT_COLUMNS}
        keyOf={({ kind, created_at, domain }) => `${kind} ${created_at} ${domain}`}
        empty={
          <Empty icon="check" title="No alerts">
            Replies that point to a poor IP reputation or failed authentication are listed here.
          </Empty>
        }
      />
    </Card>
  )
}
