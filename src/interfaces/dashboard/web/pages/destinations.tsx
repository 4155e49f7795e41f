/** Delivery results per receiving server and day, for operators. */
import { call } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Destinations } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Empty, say } from '../components/feedback.tsx'
import { type Column, PagedTable, Search } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Card, Head, Mark, Time } from '../components/show.tsx'
import { count, percent } from '../labels/numbers.ts'
import { meaningOf } from '../labels/replies.ts'
import { PathState } from './path-state.tsx'

type Destination = Destinations['data'][number]

const LIVE_MS = 5_000

export function DestinationsPage() {
  const query = useQuery()
  const list = usePaged<Destination, Destinations>('/destinations', query, {
    filters: { day: query.get('day'), site: query.get('site') },
    everyMs: LIVE_MS,
  })
  return (
    <>
      <Head title="Destinations" lead="Delivery results per receiving server and day (UTC).">
        <input
          class="input"
          type="date"
          aria-label="Day"
          style={{ width: 'auto' }}
          value={query.get('day') || new Date().toISOString().slice(0, 10)}
          onChange={event => query.set({ day: event.currentTarget.value })}
        />
      </Head>
      <Card flush>
        <search class="filters">
          <Search query={query} name="site" label="Server (exact match)" />
        </search>
        <PagedTable<Destination>
          caption="Destinations"
          columns={columnsOf(list.reload)}
          keyOf={({ site }) => site}
          list={list}
          empty={
            <Empty icon="destinations" title="No deliveries on this day">
              Each receiving server is listed with its delivered, deferred, bounced and expired deliveries.
            </Empty>
          }
        />
      </Card>
    </>
  )
}

function columnsOf(reload: () => void): Column<Destination>[] {
  return [
    {
      head: 'Server',
      cell: destination => (
        <>
          <b>{destination.site}</b>
          <Replies replies={destination.replies} />
        </>
      ),
    },
    {
      head: 'Delivered',
      kind: 'number',
      cell: ({ delivered, bounced }) => (
        <>
          {count(delivered)}
          {delivered + bounced > 0 && (
            <div class="small quiet">{percent(delivered / (delivered + bounced))}</div>
          )}
        </>
      ),
    },
    { head: 'Deferred', kind: 'number', cell: ({ deferred }) => count(deferred) },
    { head: 'Bounced', kind: 'number', cell: ({ bounced }) => count(bounced) },
    { head: 'Expired', kind: 'number', cell: ({ expired }) => count(expired) },
    {
      head: 'Throughput',
      cell: ({ site, paths, paused_until, pause_reason }) =>
        paused_until ? (
          <div class="stack stack-tight">
            <span>
              <Mark tone="warn">Paused</Mark>{' '}
              <span class="quiet small">
                until <Time at={paused_until} />. {pause_reason}
              </span>
            </span>
            <Resume site={site} reload={reload} />
          </div>
        ) : (
          <PathState paths={paths} />
        ),
    },
  ]
}

function Replies({ replies }: { replies: Destination['replies'] }) {
  const told = replies.filter(({ result }) => result !== 'delivered').slice(0, 5)
  if (told.length === 0) return null
  return (
    <details class="small">
      <summary class="quiet">Server replies</summary>
      <ul class="stack stack-tight">
        {told.map(({ form, example, count: said }) => (
          <li key={form}>
            <b class="number">{count(said)} ×</b> {meaningOf(example)}
            <div class="mono quiet">{example}</div>
          </li>
        ))}
      </ul>
    </details>
  )
}

function Resume({ site, reload }: { site: string; reload: () => void }) {
  const ask = () =>
    confirm({
      title: `Retry ${site} now?`,
      text: 'Mailhorn attempts a single delivery. If the server accepts it, sending resumes.',
      act: 'Retry now',
      harmless: true,
      async work() {
        await call('POST', '/destinations/resume', { site })
        say('Attempting one delivery.')
        reload()
      },
    })
  return (
    <span>
      <Button small onClick={ask}>
        Retry now
      </Button>
    </span>
  )
}
