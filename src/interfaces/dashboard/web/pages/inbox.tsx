/** Inbox page: received email. */
import { useQuery } from '../api/query.ts'
import type { InboundRow } from '../api/types.ts'
import { LinkButton } from '../components/controls.tsx'
import { Search } from '../components/filters.tsx'
import { Icon } from '../components/icons.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Head, Mark } from '../components/show.tsx'
import { judgementOf } from '../labels/verdicts.ts'

const LIVE_MS = 30_000
const AUTOMATIC = { 'auto-reply': 'Automatic reply', report: 'Report', bulk: 'Bulk' } as const

const COLUMNS: readonly Column<InboundRow>[] = [
  {
    head: 'Message',
    text: ({ subject }) => subject || '(no subject)',
    cell: ({ subject, attachments, automatic }) => (
      <>
        {attachments.length > 0 && <Icon name="clip" size={13} />}{' '}
        {automatic && <Mark tone="info">{AUTOMATIC[automatic]}</Mark>} <bdi>{subject || '(no subject)'}</bdi>
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

export function Inbox() {
  const query = useQuery()
  const list = usePaged<InboundRow>('/inbound', query, {
    filters: { q: query.get('q') },
    ...{ everyMs: LIVE_MS, on: 'email.received' },
  })
  return (
    <>
      <Head title="Inbox" />
      <ResourceList<InboundRow>
        name="Received mail"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        href={({ id }) => `/inbox/${id}`}
        empty={{
          icon: 'inbox',
          title: 'No messages yet',
          act: <LinkButton href="/domains">View domains</LinkButton>,
          children:
            'Turn on receiving for a domain and point its MX record to Mailhorn to see its email here.',
        }}
      >
        <search class="filters">
          <Search query={query} label="Search subjects" />
        </search>
      </ResourceList>
    </>
  )
}
