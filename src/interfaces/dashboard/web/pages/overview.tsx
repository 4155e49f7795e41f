/** Overview page: status, email volume and latest emails. */
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import { isOperator } from '../api/session.ts'
import type {
  Account,
  Alert,
  Doctor,
  Domain,
  EmailRow,
  Installation,
  List,
  Metrics,
  Queue,
} from '../api/types.ts'
import { StackedColumns } from '../components/chart.tsx'
import { Choices, LinkButton } from '../components/controls.tsx'
import { Pending } from '../components/feedback.tsx'
import { Icon } from '../components/icons.tsx'
import { ResourceList } from '../components/list.tsx'
import { Card, Head } from '../components/show.tsx'
import { type Concern, concernsOf, LIMITS } from '../labels/health.ts'
import { count, counted, percent } from '../labels/numbers.ts'
import { columnsOf, isStretch, metricsQuery, STRETCHES, type Stretch } from '../labels/periods.ts'
import { realMetrics } from '../labels/simulated.ts'
import { span } from '../labels/time.ts'
import { EMAIL_COLUMNS } from './email-columns.tsx'
import { FirstSteps } from './first-steps.tsx'

const LIVE_MS = 10_000
const SLOW_MS = 60_000
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
      <Verdict totals={metrics.data && realMetrics(metrics.data).totals} />
      <FirstSteps />
      <Card
        title="Email volume"
        flush
        acts={
          <Choices<Stretch>
            label="Period"
            value={stretch}
            options={STRETCHES}
            onValue={value => query.set({ span: value })}
          />
        }
      >
        {metrics.data ? (
          <Volume metrics={realMetrics(metrics.data)} stretch={stretch} />
        ) : (
          <Pending of={metrics} />
        )}
      </Card>
      {metrics.data && (
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

/** For operators, the status includes the diagnostics of the server. */
function Verdict({ totals }: { totals: Metrics['totals'] | undefined }) {
  const ofOperators = (path: string) => (isOperator() ? path : null)
  const domains = useLoad<List<Domain>>('/domains?limit=100', { everyMs: SLOW_MS, on: 'domain.' })
  const account = useLoad<Account>('/account', { everyMs: SLOW_MS })
  // slow, and occupies one of the few connections of the browser
  const doctor = useLoad<Doctor>(totals ? ofOperators('/doctor') : null)
  const installation = useLoad<Installation>('/installation')
  const alerts = useLoad<List<Alert>>(ofOperators('/alerts?limit=20'), { everyMs: SLOW_MS })
  const queue = useLoad<Queue>(ofOperators('/queue?limit=1'), { everyMs: LIVE_MS })
  if (!domains.data || !account.data)
    return (
      <Card flush>
        <Pending of={domains} />
      </Card>
    )
  const concerns = concernsOf({
    ...{ totals, domains: domains.data.data, account: account.data },
    ...{ doctor: doctor.data, alerts: alerts.data?.data, installation: installation.data },
  })
  const [worst] = concerns
  return (
    <section class={`verdict ${worst ? `is-${worst.tone}` : ''}`} aria-label="Status">
      <h2>
        <Icon name={worst ? 'warn' : 'check'} size={20} />
        {worst ? `${counted(concerns.length, 'issue needs', 'issues need')} attention` : 'No issues found'}
      </h2>
      {concerns.length > 0 && (
        <ul>
          {concerns.map(concern => (
            <ConcernLine key={concern.text} {...concern} />
          ))}
        </ul>
      )}
      <p class="quiet">
        {isOperator() && !doctor.data && !doctor.error && 'Running diagnostics … '}
        {queue.data ? queueWords(queue.data) : !worst && 'Your emails are being sent.'}
      </p>
    </section>
  )
}

function ConcernLine({ tone, text, advice, href, act }: Concern) {
  return (
    <li class={`is-${tone}`}>
      <span>
        <b>{text}</b> {advice && <span class="quiet">{advice}</span>}
      </span>
      <Link href={href}>{act}</Link>
    </li>
  )
}

function queueWords({ totals, data: [oldest] }: Queue): string {
  const waiting = totals.never_tried + totals.deferred
  if (waiting + totals.under_way + totals.held === 0) return 'The queue is empty.'
  const age = oldest ? `, the oldest for ${span(Date.now() - Date.parse(oldest.oldest_at))}` : ''
  const held = totals.held > 0 ? ` ${counted(totals.held, 'delivery is', 'deliveries are')} held.` : ''
  return `${counted(waiting, 'delivery is', 'deliveries are')} waiting in the queue${age}.${held}`
}

function Volume({ metrics, stretch }: { metrics: Metrics; stretch: Stretch }) {
  const { totals } = metrics
  const of = (name: string) => totals[name] ?? 0
  return (
    <>
      <dl class="figures">
        <Figure
          name="Sent"
          value={count(of('sent'))}
          under={counted(of('delivered'), 'delivery', 'deliveries')}
        />
        <Figure
          name="Delivered"
          value={of('delivered') + of('bounced') === 0 ? '–' : percent(of('delivery_rate'))}
          under={`${count(of('delivery_delayed'))} deferred`}
        />
        <Figure
          name="Bounced"
          value={percent(of('bounce_rate'))}
          {...limitWords(of('bounce_rate'), LIMITS.bounce)}
        />
        <Figure
          name="Complaints"
          value={percent(of('complaint_rate'))}
          {...limitWords(of('complaint_rate'), LIMITS.complaint)}
        />
        <Figure
          name="Opened"
          value={percent(of('open_rate'))}
          under={`${percent(of('click_rate'))} clicked`}
        />
      </dl>
      <div class="card-body">
        {of('simulated_sent') > 0 && (
          <p class="quiet small">
            {counted(of('simulated_sent'), 'email')} to the simulator, not counted here.
          </p>
        )}
        <StackedColumns
          label="Deliveries over time by status"
          series={SERIES}
          columns={columnsOf(stretch, metrics, Date.now())}
        />
      </div>
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
  under: string
  tone?: 'is-bad' | 'is-warn' | undefined
}

function Figure({ name, value, under, tone }: FigureProps) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        {value}
        <div class={`under ${tone ?? ''}`}>{under}</div>
      </dd>
    </div>
  )
}
