/** Whether the world trusts this machine's mail: the check-up, our addresses, and what providers hold against us. */
import { useLoad } from '../api/load.ts'
import type { Alert, Doctor, List, Sources } from '../api/types.ts'
import { Button } from '../parts/controls.tsx'
import { Empty, Failure, Waiting } from '../parts/feedback.tsx'
import { type Column, Table } from '../parts/list.tsx'
import { Card, Head, Mark, Meter, Time } from '../parts/show.tsx'
import { checkWords } from '../words/checks.ts'
import { alertWords } from '../words/health.ts'
import { count } from '../words/numbers.ts'
import type { Tone } from '../words/status.ts'

type Finding = Doctor['findings'][number]

const STATUSES: Readonly<{ [S in Finding['status']]: readonly [string, Tone] }> = {
  failed: ['To be mended', 'bad'],
  warning: ['To be looked at', 'warn'],
  unknown: ['Not known', 'none'],
  ok: ['Good', 'good'],
}
const FROM_WORST = Object.keys(STATUSES)
export function Deliverability() {
  const doctor = useLoad<Doctor>('/doctor')
  return (
    <>
      <Head
        title="Deliverability"
        lead="Whether mail servers trust this machine, and what to do where they do not."
      >
        <Button icon="again" disabled={doctor.isLoading} onClick={doctor.reload}>
          Look again
        </Button>
      </Head>
      <Card
        title="Check-up"
        lead={
          doctor.data ? (
            <>
              Looked at from all sides <Time at={doctor.data.checked_at} />.
            </>
          ) : (
            'The machine is being looked at from all sides. That takes up to twenty seconds.'
          )
        }
        flush
      >
        {!doctor.data &&
          (doctor.error ? <Failure error={doctor.error} retry={doctor.reload} /> : <Waiting />)}
        {doctor.data && <Findings findings={doctor.data.findings} />}
      </Card>
      <SourcesCard />
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
          {advice && <p class="advice">What to do: {advice}</p>}
        </li>
      ))}
    </ul>
  )
}

function SourcesCard() {
  const { data, error, reload } = useLoad<Sources>('/sources')
  return (
    <Card
      title="Our addresses"
      lead="A new address earns trust by sending a little more each day. That is seen to by itself."
    >
      {!data && (error ? <Failure error={error} retry={reload} /> : <Waiting />)}
      {data?.data.length === 0 && <p class="quiet">The system chooses the address that mail leaves from.</p>}
      <div class="stack">
        {data?.data.map(({ source_ip, ehlo_name, warmup, rests }) => (
          <div class="stack stack-tight" key={source_ip}>
            <div class="row row-apart">
              <span>
                <b class="mono">{source_ip}</b> <span class="quiet">as {ehlo_name}</span>
              </span>
              <Mark tone={warmup ? 'warn' : 'good'}>
                {warmup ? `Day ${warmup.day} of warming up` : 'Warm'}
              </Mark>
            </div>
            {warmup?.sent.map(({ provider, count: sent }) => (
              <div key={provider}>
                <div class="row row-apart small">
                  <span>{provider === 'other' ? 'All other providers' : provider}</span>
                  <span class="quiet number">
                    {count(sent)} of {count(warmup.cap)} today
                  </span>
                </div>
                <Meter share={sent / Math.max(1, warmup.cap)} label={`Sent to ${provider} today`} />
              </div>
            ))}
            {rests.map(({ site, until, reason }) => (
              <p class="small quiet" key={site}>
                Sends nothing to {site} until <Time at={until} />: {reason}
              </p>
            ))}
          </div>
        ))}
      </div>
    </Card>
  )
}

const ALERT_COLUMNS: readonly Column<Alert>[] = [
  { head: 'What', cell: ({ kind }) => <b>{alertWords(kind)}</b> },
  {
    head: 'About',
    cell: ({ provider, domain, source_ip }) => (
      <span class="quiet">{[provider, domain, source_ip].filter(Boolean).join(', ') || '–'}</span>
    ),
  },
  { head: 'In their words', cell: ({ reply }) => <span class="mono quiet">{reply}</span> },
  { head: 'When', kind: 'tight', cell: ({ created_at }) => <Time at={created_at} /> },
]

function AlertsCard() {
  const { data, error, reload } = useLoad<List<Alert>>('/alerts?limit=50')
  return (
    <Card title="Alerts" flush>
      {!data && (error ? <Failure error={error} retry={reload} /> : <Waiting />)}
      {data?.total === 0 && (
        <Empty icon="check" title="Nobody complains about us">
          When a mailbox provider distrusts our address or our signatures, it is told here.
        </Empty>
      )}
      {data && data.total > 0 && (
        <Table<Alert>
          caption="Alerts"
          columns={ALERT_COLUMNS}
          rows={data.data}
          keyOf={({ kind, created_at, domain }) => `${kind} ${created_at} ${domain}`}
        />
      )}
    </Card>
  )
}
