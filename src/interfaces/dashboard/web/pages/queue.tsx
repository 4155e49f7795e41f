/** Queue page for operators: queued deliveries by destination, with retry, hold, cancel and rate limit. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { type Query, useQuery } from '../api/query.ts'
import type { DomainBan, Hold, Queue, Slowed } from '../api/types.ts'
import { Button, Choices, TextField } from '../components/controls.tsx'
import { confirm, FormDialog } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { ServiceModeDialog } from '../components/service-mode.tsx'
import { Head, Time } from '../components/show.tsx'
import { count, counted } from '../labels/numbers.ts'
import { destinationPlace, emailsAt } from '../labels/places.ts'
import { BanDialog, BannedDomainsCard } from './banned-domains.tsx'
import { HoldsCard, SlowedCard } from './orders.tsx'
import { PathState } from './path-state.tsx'

type Entry = Queue['data'][number]

const LIVE_MS = 3_000
const CALM_MS = 15_000
/** Room for four buttons in two lines. */
const ACTS_WIDTH_PX = 152
/** Narrower than in other lists, for the reasons beside. */
const TIME_WIDTH_PX = 112

export function QueuePage() {
  const query = useQuery()
  const by = query.get('by') === 'destination' ? 'destination' : 'domain'
  const queue = usePaged<Entry, Queue>('/queue', query, {
    filters: { domain: query.get('domain'), class: query.get('class') },
    view: { by },
    everyMs: LIVE_MS,
  })
  const holds = useLoad<{ data: Hold[] }>('/queue/holds', { everyMs: LIVE_MS })
  const slowed = useLoad<{ data: Slowed[] }>('/destinations/slow', { everyMs: CALM_MS })
  const banned = useLoad<{ data: DomainBan[] }>('/installation/banned-domains', { everyMs: CALM_MS })
  const [slowing, setSlowing] = useState<string>()
  const [isSwitching, setSwitching] = useState(false)
  const [isBanning, setBanning] = useState(false)
  const reload = () => {
    queue.reload()
    holds.reload()
    slowed.reload()
    banned.reload()
  }
  return (
    <>
      <Head title="Queue">
        <Choices<'domain' | 'destination'>
          label="Group by"
          value={by}
          options={[
            ['domain', 'Recipient domain'],
            ['destination', 'Mail server'],
          ]}
          onValue={value => query.set({ by: value })}
        />
        <Button onClick={() => setBanning(true)}>Ban a domain</Button>
        <Button onClick={() => setSwitching(true)}>Maintenance mode</Button>
      </Head>
      <Totals queue={queue.data} />
      <HoldsCard holds={holds.data?.data} reload={reload} />
      <BannedDomainsCard bans={banned.data?.data} reload={reload} />
      <SlowedCard slowed={slowed.data?.data} reload={reload} />
      <ResourceList<Entry>
        name="Queued deliveries"
        list={queue}
        columns={columnsOf(by, reload, setSlowing)}
        keyOf={({ domain, destination }) => domain ?? destination ?? ''}
        href={({ domain, destination }) =>
          domain ? emailsAt(domain) : destination ? destinationPlace(destination) : undefined
        }
        empty={{
          icon: 'queue',
          title: 'The queue is empty',
          children:
            'All emails have been processed. Deferred deliveries are listed here with the reply of the receiving server.',
        }}
      >
        <Filters query={query} />
      </ResourceList>
      {isSwitching && <ServiceModeDialog onClose={() => setSwitching(false)} />}
      {isBanning && <BanDialog onClose={() => setBanning(false)} onDone={reload} />}
      {slowing && <SlowDialog destination={slowing} onClose={() => setSlowing(undefined)} onDone={reload} />}
    </>
  )
}

function Filters({ query }: { query: Query }) {
  return (
    <FilterBar
      query={query}
      names={['class']}
      search={<Search query={query} name="domain" label="Recipient domain" />}
    >
      <Filter
        query={query}
        name="class"
        label="Any class"
        options={[
          ['transactional', 'Transactional'],
          ['broadcast', 'Broadcast'],
          ['retry', 'Retry'],
        ]}
      />
    </FilterBar>
  )
}

const TALLIES = [
  ['never_tried', 'Queued', 'not attempted yet'],
  ['under_way', 'In progress', 'being delivered'],
  ['deferred', 'Deferred', 'waiting for a retry'],
  ['held', 'Held', 'until released'],
] as const

function Totals({ queue }: { queue: Queue | undefined }) {
  return (
    <section class="volume" aria-label="Deliveries by state">
      <dl class="figures">
        {TALLIES.map(([name, label, under]) => (
          <div class="figure" key={name}>
            <dt>{label}</dt>
            <dd>
              {queue ? count(queue.totals[name]) : '–'}
              <div class="under">{under}</div>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function columnsOf(
  by: 'domain' | 'destination',
  reload: () => void,
  onSlow: (destination: string) => void,
): Column<Entry>[] {
  return [
    {
      head: by === 'domain' ? 'Domain' : 'Server',
      isWrapped: true,
      text: ({ domain, destination }) => (by === 'domain' ? domain : destination) ?? 'Unknown',
      second: ({ explanation }) => explanation?.summary,
    },
    {
      head: 'Waiting',
      kind: 'number',
      width: 72,
      cell: ({ never_tried, deferred }) => count(never_tried + deferred),
    },
    { head: 'In progress', kind: 'number', width: 92, cell: ({ under_way }) => count(under_way) },
    { head: 'Held', kind: 'number', width: 56, isExtra: true, cell: ({ held }) => count(held) },
    { ...timeColumn('Oldest', ({ oldest_at }: Entry) => oldest_at, '–', true), width: TIME_WIDTH_PX },
    {
      head: 'Next attempt',
      kind: 'time',
      width: TIME_WIDTH_PX,
      cell: ({ next_at }) => (next_at && Date.parse(next_at) <= Date.now() ? 'Now' : <Time at={next_at} />),
    },
    {
      head: 'Throughput',
      width: 108,
      isExtra: true,
      isWrapped: true,
      cell: ({ paths }) => <PathState paths={paths} />,
    },
    actions(
      ({ domain, destination }) => (
        <>
          {domain !== null && <Acts selector={{ domain }} name={domain} reload={reload} />}
          {destination !== null && (
            <Button small label={`Limit rate to ${destination}`} onClick={() => onSlow(destination)}>
              Limit
            </Button>
          )}
        </>
      ),
      ACTS_WIDTH_PX,
    ),
  ]
}

interface ActsProps {
  selector: { domain: string }
  name: string
  reload: () => void
}

function Acts({ selector, name, reload }: ActsProps) {
  const retry = () =>
    confirm({
      title: `Retry deliveries to ${name} now?`,
      text: 'Deferred deliveries are retried immediately. If the server still rejects them temporarily, they are deferred again.',
      act: 'Retry now',
      harmless: true,
      async work() {
        say(`Retrying ${counted(await inPieces('/queue/retry', selector), 'delivery', 'deliveries')}.`)
        reload()
      },
    })
  const hold = () =>
    confirm({
      title: `Hold deliveries to ${name}?`,
      text: 'Current and future deliveries to this domain stay in the queue until you release the hold.',
      act: 'Hold deliveries',
      harmless: true,
      async work() {
        await call('POST', '/queue/hold', selector)
        say(`Deliveries to ${name} are on hold.`)
        reload()
      },
    })
  const drop = () =>
    confirm({
      title: `Cancel all deliveries to ${name}?`,
      text: 'Queued deliveries fail, and their senders get an email.failed event. This cannot be undone.',
      act: 'Cancel deliveries',
      async work() {
        say(`${counted(await inPieces('/queue/cancel', selector), 'delivery', 'deliveries')} canceled.`)
        reload()
      },
    })
  return (
    <>
      <Button small label={`Retry deliveries to ${name}`} onClick={retry}>
        Retry
      </Button>
      <Button small label={`Hold deliveries to ${name}`} onClick={hold}>
        Hold
      </Button>
      <Button small label={`Cancel deliveries to ${name}`} onClick={drop}>
        Cancel
      </Button>
    </>
  )
}

/** A large queue is changed in several requests. */
async function inPieces(path: string, selector: object): Promise<number> {
  let total = 0
  for (;;) {
    const done = await call<{ deliveries: number; has_more: boolean }>('POST', path, selector)
    total += done.deliveries
    if (!done.has_more) return total
  }
}

interface SlowDialogProps {
  destination: string
  onClose: () => void
  onDone: () => void
}

const USUAL = '60'

/** Limits the sending rate to a destination. */
function SlowDialog({ destination, onClose, onDone }: SlowDialogProps) {
  const [most, setMost] = useState(USUAL)
  return (
    <FormDialog
      title={`Limit the rate to ${destination}`}
      act="Set rate limit"
      onClose={onClose}
      onSubmit={async () => {
        await call('POST', '/destinations/slow', { destination, messages_per_minute: Number(most) })
        say(`${destination} is limited to ${counted(Number(most), 'message')} per minute.`)
        onDone()
        onClose()
      }}
    >
      {error => (
        <>
          <p class="quiet">
            The limit applies to all source IP addresses together until you remove it. Deliveries wait in the
            queue.
          </p>
          <TextField
            label="Messages per minute"
            type="number"
            min="1"
            max="60000"
            required
            autofocus
            value={most}
            onValue={setMost}
            fault={error?.of('messages_per_minute')}
          />
        </>
      )}
    </FormDialog>
  )
}
