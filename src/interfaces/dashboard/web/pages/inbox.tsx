/** Inbox page: received email. */
import { useQuery } from '../api/query.ts'
import type { InboundRow } from '../api/types.ts'
import { LinkButton } from '../components/controls.tsx'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { Icon } from '../components/icons.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { useSelection } from '../components/selection.tsx'
import { Head, Mark } from '../components/show.tsx'
import { useUnread } from '../components/unread.ts'
import { judgementOf } from '../labels/verdicts.ts'
import { ChosenInbound } from './chosen-inbound.tsx'

const LIVE_MS = 30_000
const AUTOMATIC = { 'auto-reply': 'Automatic reply', report: 'Report', bulk: 'Bulk' } as const

const COLUMNS: readonly Column<InboundRow>[] = [
  {
    head: 'Message',
    text: ({ subject }) => subject || '(no subject)',
    cell: ({ subject, attachments, automatic, unread, thread_count }) => (
      <>
        {unread && <UnreadDot />}
        {attachments.length > 0 && <Icon name="clip" size={13} />}{' '}
        {automatic && <Mark tone="info">{AUTOMATIC[automatic]}</Mark>} <bdi>{subject || '(no subject)'}</bdi>
        {thread_count > 1 && <ThreadCount count={thread_count} />}
      </>
    ),
  },
  { head: 'From', width: '26%', text: ({ from }) => from },
  { head: 'To', width: '18%', isExtra: true, text: ({ received_for }) => received_for.join(', ') },
  {
    head: 'Verdict',
    kind: 'status',
    cell: row => {
      const { label, tone } = judgementOf(row)
      return <Mark tone={tone}>{label}</Mark>
    },
  },
  timeColumn('Received', ({ created_at }) => created_at),
]

const READ_STATES = [
  ['true', 'Unread'],
  ['false', 'Read'],
] as const

export function Inbox() {
  const query = useQuery()
  const unread = useUnread()
  const list = usePaged<InboundRow>('/inbound', query, {
    filters: { q: query.get('q'), unread: query.get('unread') },
    ...{ everyMs: LIVE_MS, on: 'email.received' },
  })
  const rows = list.data?.data ?? []
  const selection = useSelection(rows.map(({ id }) => id))
  return (
    <>
      <Head title="Inbox" {...(unread && { count: `${unread} unread`, windowTitle: `(${unread}) Inbox` })} />
      <ResourceList<InboundRow>
        name="Received mail"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        href={({ id }) => `/inbox/${id}`}
        selection={selection}
        nameOf={({ subject, from }) => `${subject || '(no subject)'} from ${from}`}
        isUnread={row => row.unread}
        empty={{
          icon: 'inbox',
          title: 'No messages yet',
          act: <LinkButton href="/domains">View domains</LinkButton>,
          children:
            'Turn on receiving for a domain and point its MX record to Mailhorn to see its email here.',
        }}
      >
        <FilterBar query={query} names={['unread']} search={<Search query={query} label="Search subjects" />}>
          <Filter query={query} name="unread" label="Read and unread" options={READ_STATES} />
        </FilterBar>
        <ChosenInbound rows={rows} selection={selection} reload={list.reload} />
      </ResourceList>
    </>
  )
}

function ThreadCount({ count }: { count: number }) {
  return (
    <span class="quiet number" title={`${count} messages in this conversation`}>
      {' '}
      ({count})
    </span>
  )
}

function UnreadDot() {
  return (
    <span class="unread-dot">
      <span class="unseen">Unread</span>
    </span>
  )
}
