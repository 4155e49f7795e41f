/** How receiving servers take our mail on a day, for the operator. */
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
      <Head title="Destinations" lead="How the servers that receive our mail take it, day by day (in UTC).">
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
          <Search query={query} name="site" label="Server, exactly" />
        </search>
        <PagedTable<Destination>
          caption="Destinations"
          columns={columnsOf(list.reload)}
          keyOf={({ site }) => site}
          list={list}
          empty={
            <Empty icon="destinations" title="No mail went out on this day">
              Each server that mail was brought to is listed, with what it took, put off and refused.
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
      head: 'Taken',
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
    { head: 'Put off', kind: 'number', cell: ({ deferred }) => count(deferred) },
    { head: 'Refused', kind: 'number', cell: ({ bounced }) => count(bounced) },
    { head: 'Given up', kind: 'number', cell: ({ expired }) => count(expired) },
    {
      head: 'Pace',
      cell: ({ site, paths, paused_until, pause_reason }) =>
        paused_until ? (
          <div class="stack stack-tight">
            <span>
              <Mark tone="warn">Rests</Mark>{' '}
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
      <summary class="quiet">What it said</summary>
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
      title: `Try ${site} now?`,
      text: 'One delivery goes out to see whether the server takes mail again; if it does, the others follow.',
      act: 'Try now',
      harmless: true,
      async work() {
        await call('POST', '/destinations/resume', { site })
        say('One delivery is tried.')
        reload()
      },
    })
  return (
    <span>
      <Button small onClick={ask}>
        Try now
      </Button>
    </span>
  )
}
