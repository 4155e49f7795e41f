/** The queue, for the operator: what waits, where and why, with a hand to reach in. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { type Query, useQuery } from '../api/query.ts'
import type { Hold, Queue, Slowed } from '../api/types.ts'
import { Button, Choices } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Empty, say } from '../components/feedback.tsx'
import { type Column, Filter, PagedTable, Search } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Card, Head, Time } from '../components/show.tsx'
import { count, counted } from '../labels/numbers.ts'
import { meaningOf } from '../labels/replies.ts'
import { HoldsCard, SlowedCard } from './orders.tsx'
import { PathState } from './path-state.tsx'
import { SlowDialog } from './slow.tsx'

type Entry = Queue['data'][number]

const LIVE_MS = 3_000
const CALM_MS = 15_000

export function QueuePage() {
  const query = useQuery()
  const by = query.get('by') === 'site' ? 'site' : 'domain'
  const queue = usePaged<Entry, Queue>('/queue', query, {
    filters: { by, domain: query.get('domain'), class: query.get('class') },
    everyMs: LIVE_MS,
  })
  const holds = useLoad<{ data: Hold[] }>('/queue/holds', { everyMs: LIVE_MS })
  const slowed = useLoad<{ data: Slowed[] }>('/destinations/slow', { everyMs: CALM_MS })
  const [slowing, setSlowing] = useState<string>()
  const reload = () => {
    queue.reload()
    holds.reload()
    slowed.reload()
  }
  return (
    <>
      <Head
        title="Queue"
        lead="Mail that has not left yet. It is tried again by itself, later and later, for two days."
      >
        <Choices<'domain' | 'site'>
          label="Group by"
          value={by}
          options={[
            ['domain', 'By domain'],
            ['site', 'By server'],
          ]}
          onValue={value => query.set({ by: value })}
        />
      </Head>
      <Totals queue={queue.data} />
      <HoldsCard holds={holds.data?.data} reload={reload} />
      <SlowedCard slowed={slowed.data?.data} reload={reload} />
      <Card flush>
        <Filters query={query} />
        <PagedTable<Entry>
          caption="What waits"
          columns={columnsOf(by, reload, setSlowing)}
          keyOf={({ domain, site }) => domain ?? site ?? ''}
          list={queue}
          empty={
            <Empty icon="queue" title="Nothing waits">
              All mail has gone out. Whatever has to wait for a receiving server is listed here, with the
              reason.
            </Empty>
          }
        />
      </Card>
      {slowing && <SlowDialog site={slowing} onClose={() => setSlowing(undefined)} onDone={reload} />}
    </>
  )
}

function Filters({ query }: { query: Query }) {
  return (
    <search class="filters">
      <Search query={query} name="domain" label="Recipients’ domain" />
      <Filter
        query={query}
        name="class"
        label="Any kind"
        options={[
          ['transactional', 'Transactional'],
          ['broadcast', 'Broadcasts'],
          ['retry', 'Tried before'],
        ]}
      />
    </search>
  )
}

const TALLIES = [
  ['never_tried', 'Waiting', 'for a first attempt'],
  ['under_way', 'Under way', 'being delivered now'],
  ['deferred', 'Deferred', 'asked to come later'],
  ['held', 'Held', 'by you'],
] as const

function Totals({ queue }: { queue: Queue | undefined }) {
  return (
    <Card flush>
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
    </Card>
  )
}

function columnsOf(
  by: 'domain' | 'site',
  reload: () => void,
  onSlow: (site: string) => void,
): Column<Entry>[] {
  return [
    {
      head: by === 'domain' ? 'Domain' : 'Server',
      cell: ({ domain, site, last_reply }) => (
        <>
          <b>{(by === 'domain' ? domain : site) ?? 'Not known yet'}</b>
          {last_reply && (
            <div class="small quiet" title={last_reply}>
              {meaningOf(last_reply) ?? last_reply}
            </div>
          )}
        </>
      ),
    },
    {
      head: 'Waiting',
      kind: 'number',
      cell: ({ never_tried, deferred }) => count(never_tried + deferred),
    },
    { head: 'Under way', kind: 'number', cell: ({ under_way }) => count(under_way) },
    { head: 'Held', kind: 'number', cell: ({ held }) => count(held) },
    { head: 'Oldest', kind: 'tight', cell: ({ oldest_at }) => <Time at={oldest_at} /> },
    { head: 'Next try', kind: 'tight', cell: ({ next_at }) => <Time at={next_at} or="now" /> },
    { head: 'Pace', cell: ({ paths }) => <PathState paths={paths} /> },
    {
      head: 'Acts',
      kind: 'acts',
      cell: ({ domain, site }) => (
        <span class="row">
          {domain !== null && <Acts selector={{ domain }} name={domain} reload={reload} />}
          {site !== null && (
            <Button small icon="slow" label={`Slow down mail to ${site}`} onClick={() => onSlow(site)} />
          )}
        </span>
      ),
    },
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
      title: `Try mail to ${name} now?`,
      text: 'All that was put off is tried at once. If their server still says no, it is put off again.',
      act: 'Try now',
      harmless: true,
      async work() {
        say(
          `${counted(await inPieces('/queue/retry', selector), 'delivery is', 'deliveries are')} tried now.`,
        )
        reload()
      },
    })
  const hold = () =>
    confirm({
      title: `Hold mail to ${name}?`,
      text: 'Nothing more goes there, also of what comes later, until you release it. None is lost.',
      act: 'Hold it',
      harmless: true,
      async work() {
        await call('POST', '/queue/hold', selector)
        say(`Mail to ${name} is held.`)
        reload()
      },
    })
  const drop = () =>
    confirm({
      title: `Drop all mail to ${name}?`,
      text: 'What waits is given up, and its senders are told so. This cannot be undone.',
      act: 'Drop it',
      async work() {
        say(
          `${counted(await inPieces('/queue/cancel', selector), 'delivery was', 'deliveries were')} given up.`,
        )
        reload()
      },
    })
  return (
    <span class="row">
      <Button small icon="again" label={`Try mail to ${name} now`} onClick={retry} />
      <Button small icon="clock" label={`Hold mail to ${name}`} onClick={hold} />
      <Button small icon="trash" label={`Drop mail to ${name}`} onClick={drop} />
    </span>
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
