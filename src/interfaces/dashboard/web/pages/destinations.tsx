/** Delivery results per receiving server and day, for operators. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Destinations } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm, Dialog } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'
import { Filter, Search } from '../components/filters.tsx'
import { actions, type Column, ResourceList } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Head, Mark, Time } from '../components/show.tsx'
import { count, percent } from '../labels/numbers.ts'
import { emailsWith } from '../labels/places.ts'
import { PathState } from './path-state.tsx'

type Destination = Destinations['data'][number]

const LIVE_MS = 5_000

export function DestinationsPage() {
  const query = useQuery()
  const [shown, setShown] = useState<Destination>()
  const list = usePaged<Destination, Destinations>('/destinations', query, {
    filters: { destination: query.get('destination'), paused: query.get('paused') },
    view: { day: query.get('day') },
    everyMs: LIVE_MS,
  })
  return (
    <>
      <Head title="Destinations">
        <input
          class="input"
          type="date"
          aria-label="Day (UTC)"
          title="Day (UTC)"
          style={{ width: 'auto' }}
          value={query.get('day') || new Date().toISOString().slice(0, 10)}
          onChange={event => query.set({ day: event.currentTarget.value })}
        />
      </Head>
      <ResourceList<Destination>
        name="Destinations"
        list={list}
        columns={columnsOf({ reload: list.reload, onReplies: setShown })}
        keyOf={({ destination }) => destination}
        href={({ destination }) => emailsWith({ destination })}
        empty={{
          icon: 'destinations',
          title: 'No deliveries on this day',
          children:
            'Each receiving server is listed with its delivered, deferred, bounced and expired deliveries.',
        }}
      >
        <search class="filters">
          <Search query={query} name="destination" label="Server (exact match)" />
          <Filter query={query} name="paused" label="Any state" options={[['true', 'Paused']]} />
        </search>
      </ResourceList>
      {shown && <Replies shown={shown} onClose={() => setShown(undefined)} />}
    </>
  )
}

interface ColumnActs {
  reload: () => void
  onReplies: (destination: Destination) => void
}

function columnsOf({ reload, onReplies }: ColumnActs): Column<Destination>[] {
  return [
    {
      head: 'Server',
      text: ({ destination }) => destination,
      second: ({ replies, pause_reason }) => pause_reason ?? troublesOf(replies)[0]?.example,
    },
    { head: 'Delivered', kind: 'number', width: 88, cell: ({ delivered }) => count(delivered) },
    {
      head: 'Delivery rate',
      kind: 'number',
      width: 112,
      isExtra: true,
      cell: ({ delivered, bounced }) =>
        delivered + bounced > 0 ? percent(delivered / (delivered + bounced)) : '–',
    },
    { head: 'Deferred', kind: 'number', width: 88, cell: ({ deferred }) => count(deferred) },
    { head: 'Bounced', kind: 'number', width: 88, cell: ({ bounced }) => count(bounced) },
    { head: 'Expired', kind: 'number', width: 80, isExtra: true, cell: ({ expired }) => count(expired) },
    {
      head: 'Throughput',
      width: '20%',
      isExtra: true,
      cell: ({ paths, paused_until }) =>
        paused_until ? (
          <>
            <Mark tone="warn">Paused</Mark> until <Time at={paused_until} />
          </>
        ) : (
          <PathState paths={paths} />
        ),
    },
    actions(
      destination => (
        <>
          {destination.paused_until && <Resume destination={destination.destination} reload={reload} />}
          {troublesOf(destination.replies).length > 0 && (
            <Button small onClick={() => onReplies(destination)}>
              Replies
            </Button>
          )}
        </>
      ),
      176,
    ),
  ]
}

const SHOWN_REPLIES_MAX = 5

function troublesOf(replies: Destination['replies']) {
  return replies.filter(({ result }) => result !== 'delivered').slice(0, SHOWN_REPLIES_MAX)
}

function Replies({ shown, onClose }: { shown: Destination; onClose: () => void }) {
  return (
    <Dialog title={`Replies of ${shown.destination}`} wide onClose={onClose}>
      <ul class="dialog-body">
        {troublesOf(shown.replies).map(({ form, example, count: said, class: why }) => (
          <li key={form}>
            <b class="number">{count(said)} ×</b> {why === 'unknown' ? '' : why}
            <div class="mono quiet">{example}</div>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

function Resume({ destination, reload }: { destination: string; reload: () => void }) {
  const ask = () =>
    confirm({
      title: `Retry ${destination} now?`,
      text: 'Mailhorn attempts a single delivery. If the server accepts it, sending resumes.',
      act: 'Retry now',
      harmless: true,
      async work() {
        await call('POST', '/destinations/resume', { destination })
        say('Attempting one delivery.')
        reload()
      },
    })
  return (
    <Button small onClick={ask}>
      Retry now
    </Button>
  )
}
