/** Status of the installation in one line, which opens to a list of issues. */
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import { isOperator } from '../api/session.ts'
import type {
  Account,
  Alert,
  Destinations,
  Doctor,
  Domain,
  Hold,
  Installation,
  List,
  Metrics,
  Queue,
} from '../api/types.ts'
import { Pending } from '../components/feedback.tsx'
import { type Concern, concernsOf } from '../labels/health.ts'
import { counted } from '../labels/numbers.ts'
import { span } from '../labels/time.ts'

const LIVE_MS = 10_000
const SLOW_MS = 60_000

/** For operators, the status includes the diagnostics of the server. */
export function StatusLine({ totals }: { totals: Metrics['totals'] | undefined }) {
  const ofOperators = (path: string) => (isOperator() ? path : null)
  const domains = useLoad<List<Domain>>('/domains?limit=100', { everyMs: SLOW_MS, on: 'domain.' })
  const account = useLoad<Account>('/account', { everyMs: SLOW_MS })
  // slow, and occupies one of the few connections of the browser
  const doctor = useLoad<Doctor>(totals ? ofOperators('/doctor') : null)
  const installation = useLoad<Installation>('/installation')
  const alerts = useLoad<List<Alert>>(ofOperators('/alerts?limit=20'), { everyMs: SLOW_MS })
  const queue = useLoad<Queue>(ofOperators('/queue?limit=1'), { everyMs: LIVE_MS })
  const paused = useLoad<Destinations>(ofOperators('/destinations?paused=true&limit=2'), { everyMs: SLOW_MS })
  const holds = useLoad<{ data: Hold[] }>(ofOperators('/queue/holds'), { everyMs: SLOW_MS })
  if (!domains.data || !account.data)
    return domains.error ? <Pending of={domains} /> : <div class="status quiet">Checking …</div>
  const concerns = concernsOf({
    ...{ totals, domains: domains.data.data, account: account.data },
    ...{ doctor: doctor.data, alerts: alerts.data?.data, installation: installation.data },
    ...{ paused: paused.data, holds: holds.data?.data },
  })
  const [worst] = concerns
  const line = (
    <>
      <span class={worst ? `dot is-${worst.tone}` : 'dot'} />
      <b>
        {worst ? `${counted(concerns.length, 'issue needs', 'issues need')} attention` : 'No issues found'}
      </b>
      <span class="quiet worst">{worst?.text}</span>
      <span class="quiet">
        {isOperator() && !doctor.data && !doctor.error ? 'Checking …' : queue.data && queueWords(queue.data)}
      </span>
    </>
  )
  return (
    <section aria-label="Status">
      {worst ? (
        <details>
          <summary class="status">{line}</summary>
          <ul class="concerns">
            {concerns.map(concern => (
              <ConcernLine key={concern.text} {...concern} />
            ))}
          </ul>
        </details>
      ) : (
        <div class="status">{line}</div>
      )}
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
