/** Overview page: status, email volume and latest problems. Before the first mail it is the checklist. */
import { useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { withQuery } from '../api/client.ts'
import { type Loaded, useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import { isOperator } from '../api/session.ts'
import type { Installation, Metrics } from '../api/types.ts'
import { StackedColumns } from '../components/chart.tsx'
import { Choices, LinkButton } from '../components/controls.tsx'
import { Pending, Waiting } from '../components/feedback.tsx'
import { lazy } from '../components/lazy.tsx'
import { Head } from '../components/show.tsx'
import { limitWords } from '../labels/health.ts'
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
import type { Progress } from '../labels/steps.ts'
import { FirstSteps, useStepsLeft } from './first-steps.tsx'
import { LatestProblems, Providers } from './overview-lists.tsx'
import { StatusLine } from './status-line.tsx'

const LIVE_MS = 10_000
const FirstRun = lazy(async () => (await import('./start.tsx')).FirstRun)
const SERIES = [
  { name: 'delivered', label: 'Delivered' },
  { name: 'bounced', label: 'Bounced' },
  { name: 'failed', label: 'Failed' },
] as const

export function Overview() {
  const steps = useStepsLeft()
  const [isFirstRun, setFirstRun] = useState<boolean>()
  // asked for together with what decides whether they are shown
  const figures = useFigures(isFirstRun !== true)
  if (steps === 'unknown')
    return (
      <>
        <Head title="Overview" />
        <Waiting rows={8} />
      </>
    )
  // it stays the checklist while somebody follows it
  if (isFirstRun === undefined) setFirstRun(steps !== undefined && !steps.tested)
  if (steps && (isFirstRun ?? !steps.tested)) return <FirstRun />
  return <Numbers steps={steps} {...figures} />
}

interface Figures {
  stretch: Stretch
  metrics: Loaded<Metrics>
  /** The period before. */
  former: Loaded<Metrics>
}

function useFigures(isWanted: boolean): Figures {
  const chosen = useQuery().get('span')
  const stretch: Stretch = isStretch(chosen) ? chosen : 'week'
  const [openedAt] = useState(Date.now)
  const pathOf = (query: Record<string, string>) => (isWanted ? withQuery('/emails/metrics', query) : null)
  return {
    stretch,
    metrics: useLoad<Metrics>(pathOf(metricsQuery(stretch, openedAt)), { everyMs: LIVE_MS, on: 'email.' }),
    former: useLoad<Metrics>(pathOf(formerQuery(stretch, openedAt))),
  }
}

function Numbers({ steps, stretch, metrics, former }: Figures & { steps: Progress | undefined }) {
  const query = useQuery()
  return (
    <>
      <Head title="Overview">
        <span class="small quiet wide">vs previous {STRETCHES.find(([name]) => name === stretch)![1]}</span>
        <Choices<Stretch>
          label="Period"
          value={stretch}
          options={STRETCHES}
          onValue={value => query.set({ span: value })}
        />
        <LinkButton href="/emails/compose" kind="main" icon="emails">
          Compose
        </LinkButton>
      </Head>
      <StatusLine totals={metrics.data && realMetrics(metrics.data).totals} />
      {steps && <FirstSteps progress={steps} />}
      <section class="volume" aria-label="Email volume">
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
      {metrics.data && (
        <div class={isOperator() ? 'two-thirds' : ''}>
          <LatestProblems />
          {isOperator() && <Providers />}
        </div>
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
  const limits = useLoad<Installation>('/installation').data?.rate_limits
  const of = (name: string) => totals[name] ?? 0
  // without mail there were no rates
  const hadMail = former !== undefined && (former.delivered ?? 0) + (former.bounced ?? 0) > 0
  const rate = (name: string) => ({
    value: percent(of(name)),
    was: hadMail ? percent(former[name] ?? 0) : undefined,
  })
  const emails = (status = '') => withQuery('/emails', { status, created_after: metrics.start_date })
  const isUsed = of('delivered') + of('bounced') > 0
  return (
    <>
      <dl class="figures">
        <Figure
          name="Sent"
          href={emails()}
          value={count(of('sent'))}
          was={former && count(former.sent ?? 0)}
          under={counted(of('delivered'), 'delivery', 'deliveries')}
        />
        <Figure
          name="Delivered"
          href={emails('delivered')}
          {...(isUsed ? rate('delivery_rate') : { value: '–', was: undefined })}
          under={`${counted(of('delivery_delayed'), 'recipient')} deferred`}
        />
        <Figure
          name="Bounced"
          href={emails('bounced')}
          {...rate('bounce_rate')}
          {...limitWords(of('bounce_rate'), limits?.bounces)}
        />
        <Figure
          name="Complaints"
          href={emails('complained')}
          {...rate('complaint_rate')}
          {...limitWords(of('complaint_rate'), limits?.complaints)}
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

interface FigureProps {
  name: string
  /** Where the number leads to. */
  href?: string
  value: string
  /** Value of the period before. */
  was: string | undefined
  under: string
  tone?: 'is-bad' | 'is-warn' | undefined
}

function Figure({ name, href, value, was, under, tone }: FigureProps) {
  return (
    <div class="figure">
      <dt>{href ? <Link href={href}>{name}</Link> : name}</dt>
      <dd>
        {value} <span class="was">{was && `was ${was}`}</span>
        <div class={`under ${tone ?? ''}`}>{under}</div>
      </dd>
    </div>
  )
}
