/** Lists of the Overview: the latest problems, and the receiving servers of today. */
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import type { Destinations, EmailRow, List } from '../api/types.ts'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { Mark } from '../components/show.tsx'
import { count, percent } from '../labels/numbers.ts'
import { EMAIL_WORDS } from '../labels/status.ts'

type Destination = Destinations['data'][number]

const LIVE_MS = 10_000
const ROWS = 5
const PROBLEM_COLUMNS: readonly Column<EmailRow>[] = [
  {
    head: 'Email',
    text: ({ subject }) => subject || '(no subject)',
    second: ({ to, cc, bcc }) => [...to, ...cc, ...bcc].join(', '),
  },
  {
    head: 'Status',
    kind: 'status',
    cell: ({ status }) => <Mark tone={EMAIL_WORDS[status].tone}>{EMAIL_WORDS[status].label}</Mark>,
  },
  timeColumn('Date', ({ created_at }) => created_at),
]
const PROVIDER_COLUMNS: readonly Column<Destination>[] = [
  { head: 'Server', text: ({ destination }) => destination },
  {
    head: 'Delivered',
    kind: 'number',
    width: 88,
    cell: ({ delivered, bounced }) =>
      delivered + bounced > 0 ? percent(delivered / (delivered + bounced)) : '–',
  },
  { head: 'Deferred', kind: 'number', width: 84, cell: ({ deferred }) => count(deferred) },
]

/** Emails that were deferred, bounced or failed, newest first. */
export function LatestProblems() {
  const lists = [
    useLoad<List<EmailRow>>(pathOf('delivery_delayed'), { everyMs: LIVE_MS }),
    useLoad<List<EmailRow>>(pathOf('bounced'), { everyMs: LIVE_MS }),
    useLoad<List<EmailRow>>(pathOf('failed'), { everyMs: LIVE_MS }),
  ]
  const isLoaded = lists.every(({ data }) => data)
  const rows = lists
    .flatMap(({ data }) => data?.data ?? [])
    .sort((a, b) => b.created_at.localeCompare(a.created_at))
    .slice(0, ROWS)
  return (
    <ResourceList<EmailRow>
      title="Latest problems"
      acts={<Link href="/emails">View all emails</Link>}
      name="Latest problems"
      list={{
        data: isLoaded ? { data: rows } : undefined,
        error: lists.find(({ error }) => error)?.error,
        reload() {
          for (const { reload } of lists) reload()
        },
      }}
      columns={PROBLEM_COLUMNS}
      keyOf={({ id }) => id}
      href={({ id }) => `/emails/${id}`}
      empty={{
        icon: 'check',
        title: 'No problems',
        children: 'Emails that are deferred, bounce or fail are listed here.',
      }}
    />
  )
}

function pathOf(status: EmailRow['status']): string {
  return `/emails?status=${status}&limit=${ROWS}`
}

/** Receiving servers of the day with the most deliveries. */
export function Providers() {
  const list = useLoad<Destinations>(`/destinations?limit=${ROWS}`, { everyMs: LIVE_MS })
  return (
    <ResourceList<Destination>
      title="Attempts by provider, today"
      lead="An email that is deferred three times counts three times here, and once above."
      acts={<Link href="/destinations">View all</Link>}
      name="Receiving servers today"
      list={{ ...list, data: list.data && { data: list.data.data } }}
      columns={PROVIDER_COLUMNS}
      keyOf={({ destination }) => destination}
      href={({ destination }) => `/destinations?destination=${encodeURIComponent(destination)}`}
      empty={{
        icon: 'destinations',
        title: 'No deliveries today',
        children: 'Each receiving server is listed here with its share of deliveries.',
      }}
    />
  )
}
