/** Server log page for operators: the last lines of the log of the process, live. */
import { useState } from 'preact/hooks'
import { withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { LogTail } from '../api/types.ts'
import { Button, Copy } from '../components/controls.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { Head, Mark, Time } from '../components/show.tsx'
import type { Tone } from '../labels/status.ts'

type Line = LogTail['data'][number]

const LIVE_MS = 4_000
const LEVELS = [
  ['info', 'Info and above'],
  ['warn', 'Warnings and errors'],
  ['error', 'Errors'],
] as const
const TONES: Readonly<{ [L in Line['level']]: Tone }> = {
  ...{ trace: 'none', debug: 'none', info: 'none' },
  ...{ warn: 'warn', error: 'bad', fatal: 'bad' },
}

export function ServerLog() {
  const query = useQuery()
  const filters = { level: query.get('level'), event: query.get('event'), q: query.get('q') }
  const log = useLoad<LogTail>(withQuery('/installation/log', filters), { everyMs: LIVE_MS })
  const [opened, setOpened] = useState<Line>()
  const { since = null, has_more: hasMore, events = [] } = log.data ?? {}
  return (
    <>
      <Head title="Server log" />
      <ResourceList<Line>
        name="Log lines"
        list={{ ...log, query, isFiltered: Object.values(filters).some(Boolean) }}
        columns={columnsOf(setOpened)}
        keyOf={line => `${line.time} ${line.event} ${JSON.stringify(line.fields)}`}
        empty={{
          icon: 'logs',
          title: 'No log lines',
          children:
            'Lines since the start of the service appear here. The setting log.level says which are written.',
        }}
        foot={
          <p class="list-foot quiet">
            <span>
              {hasMore && 'Only the newest 100 matching lines are shown. '}
              Lines since <Time at={since} /> are kept; older ones are where your system keeps the log.
            </span>
          </p>
        }
      >
        <FilterBar
          query={query}
          names={['level', 'event']}
          search={
            <Search query={query} label="Search the log" hint="Message, address, id or any other text" />
          }
        >
          <Filter query={query} name="level" label="Any level" options={LEVELS} />
          <Filter
            query={query}
            name="event"
            label="Any event"
            options={events.map(event => [event, event] as const)}
          />
        </FilterBar>
      </ResourceList>
      {opened && <Details line={opened} onClose={() => setOpened(undefined)} />}
    </>
  )
}

function columnsOf(onOpen: (line: Line) => void): Column<Line>[] {
  return [
    { head: 'Message', text: ({ message, event }) => message || event },
    { head: 'Event', width: '22%', text: ({ event }) => event },
    {
      head: 'Level',
      kind: 'status',
      width: 96,
      cell: ({ level }) => <Mark tone={TONES[level]}>{level}</Mark>,
    },
    timeColumn('Time', ({ time }) => time),
    actions(
      line => (
        <Button small onClick={() => onOpen(line)}>
          Details
        </Button>
      ),
      92,
    ),
  ]
}

function Details({ line, onClose }: { line: Line; onClose: () => void }) {
  const { fields, ...head } = line
  return (
    <Dialog title={line.event ?? 'Log line'} wide onClose={onClose}>
      <div class="dialog-body">
        <p>{line.message}</p>
        <Copy block text={JSON.stringify({ ...head, ...fields }, null, 2)} />
      </div>
    </Dialog>
  )
}
