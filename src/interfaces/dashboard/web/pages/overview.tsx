/** Overview page: status, email volume and latest emails. */
import { useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { EmailRow, List, Metrics } from '../api/types.ts'
import { StackedColumns } from '../components/chart.tsx'
import { Choices, LinkButton } from '../components/controls.tsx'
import { Pending, Waiting } from '../components/feedback.tsx'
import { ResourceList } from '../components/list.tsx'
import { Head } from '../components/show.tsx'
import { LIMITS } from '../labels/health.ts'
import { count, counted, percent } from '../labels/numbers.ts'
import {
  columnsOf,
  formerQuery,
  isStretch,
  metricsQuery,
  STRETCHES,
  type Stretch,
} from '../labels/periods.ts'
import { realMetrics } from '../labels/simulated.ts'
import { EMAIL_COLUMNS } from './email-columns.tsx'
import { FirstSteps, useStepsLeft } from './first-steps.tsx'
import { StatusLine } from './status-line.tsx'

const LIVE_MS = 10_000
const SERIES = [
  { name: 'delivered', label: 'Delivered' },
  { name: 'bounced', label: 'Bounced' },
  { name: 'failed', label: 'Failed' },
] as const

export function Overview() {
  const query = useQuery()
  const chosen = query.get('span')
  const stretch: Stretch = isStretch(chosen) ? chosen : 'week'
  const [openedAt] = useState(Date.now)
  const metrics = useLoad<Metrics>(withQuery('/emails/metrics', metricsQuery(stretch, openedAt)), {
    everyMs: LIVE_MS,
    on: 'email.',
  })
  const steps = useStepsLeft()
  const former = useLoad<Metrics>(withQuery('/emails/metrics', formerQuery(stretch, openedAt)))
  const latest = useLoad<List<EmailRow>>('/emails?limit=6', { everyMs: LIVE_MS, on: 'email.' })
  return (
    <>
      <Head title="Overview">
        <LinkButton href="/start" icon="start">
          First steps
        </LinkButton>
        <LinkButton href="/emails?write=1" kind="main" icon="emails">
          Send email
        </LinkButton>
      </Head>
      <StatusLine totals={metrics.data && realMetrics(metrics.data).totals} />
      {steps && steps !== 'unknown' && <FirstSteps progress={steps} />}
      {steps === 'unknown' ? (
        <Waiting rows={8} />
      ) : (
        <section class="resource volume" aria-label="Email volume">
          <div class="resource-head">
            <h2>Email volume</h2>
            <span class="row">
              <span class="small quiet">vs previous {STRETCHES.find(([name]) => name === stretch)![1]}</span>
              <Choices<Stretch>
                label="Period"
                value={stretch}
                options={STRETCHES}
                onValue={value => query.set({ span: value })}
              />
            </span>
          </div>
          {metrics.data ? (
            <Volume
              metrics={realMetrics(metrics.data)}
              former={former.data && realMetrics(former.data).totals}
              stretch={stretch}
            />
          ) : (
            <Pending of={metrics} rows={8} />
          )}
        </section>
      )}
      {metrics.data && steps !== 'unknown' && (
        <ResourceList<EmailRow>
          title="Latest emails"
          acts={<Link href="/emails">View all emails</Link>}
          name="The latest emails"
          list={latest}
          columns={EMAIL_COLUMNS}
          keyOf={({ id }) => id}
          href={({ id }) => `/emails/${id}`}
          empty={{
            icon: 'emails',
            title: 'No emails yet',
            act: <LinkButton href="/start">Send your first email</LinkButton>,
            children:
              'Emails you send appear here within seconds. You can try the simulator without a domain.',
          }}
        />
      )}
    </>
  )
}

interface VolumeProps {
  metrics: Metrics
  /** Value in the period before. */
  former: Metrics['totals'] | undefined
  stretch: Stretch
}

function Volume({ metrics: { totals, ...metrics }, former, stretch }: VolumeProps) {
  const [, navigate] = useLocation()
  const of = (name: string) => totals[name] ?? 0
  const rate = (name: string) => ({ value: percent(of(name)), was: former && percent(former[name] ?? 0) })
  const isUsed = of('delivered') + of('bounced') > 0
  return (
    <>
      <dl class="figures">
        <Figure
          name="Sent"
          value={count(of('sent'))}
          was={former && count(former.sent ?? 0)}
          under={counted(of('delivered'), 'delivery', 'deliveries')}
        />
        <Figure
          name="Delivered"
          {...(isUsed ? rate('delivery_rate') : { value: '–', was: undefined })}
          under={`${count(of('delivery_delayed'))} deferred`}
        />
        <Figure name="Bounced" {...rate('bounce_rate')} {...limitWords(of('bounce_rate'), LIMITS.bounce)} />
        <Figure
          name="Complaints"
          {...rate('complaint_rate')}
          {...limitWords(of('complaint_rate'), LIMITS.complaint)}
        />
        <Figure name="Opened" {...rate('open_rate')} under={`${percent(of('click_rate'))} clicked`} />
      </dl>
      <StackedColumns
        label="Deliveries over time by status"
        series={SERIES}
        columns={columnsOf(stretch, { totals, ...metrics }, Date.now())}
        onChoose={({ from, to }) =>
          navigate(withQuery('/emails', { created_after: from, created_before: to }))
        }
      />
      {of('simulated_sent') > 0 && (
        <p class="quiet small">
          {counted(of('simulated_sent'), 'email')} to the simulator, not counted here.
        </p>
      )}
    </>
  )
}

function limitWords(rate: number, { watch, refuse }: { watch: number; refuse: number }) {
  const tone = rate > refuse ? ('is-bad' as const) : rate > watch ? ('is-warn' as const) : undefined
  return { under: `keep below ${percent(watch)}`, tone }
}

interface FigureProps {
  name: string
  value: string
  /** Value of the period before. */
  was: string | undefined
  under: string
  tone?: 'is-bad' | 'is-warn' | undefined
}

function Figure({ name, value, was, under, tone }: FigureProps) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        {value} <span class="was">{was && `was ${was}`}</span>
        <div class={`under ${tone ?? ''}`}>{under}</div>
      </dd>
    </div>
  )
}
