/** Inbox page: received email. */
import { Link } from 'wouter-preact'
import { useQuery } from '../api/query.ts'
import type { InboundRow } from '../api/types.ts'
import { LinkButton } from '../components/controls.tsx'
import { Empty } from '../components/feedback.tsx'
import { Icon } from '../components/icons.tsx'
import { type Column, PagedTable, Search } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Card, Head, Mark, Time } from '../components/show.tsx'
import { judgementOf } from '../labels/verdicts.ts'

const LIVE_MS = 30_000
const AUTOMATIC = { 'auto-reply': 'Automatic reply', report: 'Report', bulk: 'Bulk' } as const

const COLUMNS: readonly Column<InboundRow>[] = [
  {
    head: 'Message',
    cell: ({ id, subject, from, attachments, automatic }) => (
      <>
        <Link href={`/inbox/${id}`} class="row-link">
          <bdi>{subject || '(no subject)'}</bdi>
        </Link>{' '}
        {automatic && <Mark tone="info">{AUTOMATIC[automatic]}</Mark>}{' '}
        {attachments.length > 0 && <Icon name="clip" size={13} />}
        <div class="quiet small">
          <bdi>{from}</bdi>
        </div>
      </>
    ),
  },
  { head: 'To', cell: ({ received_for }) => <span class="quiet small">{received_for.join(', ')}</span> },
  {
    head: 'Verdict',
    kind: 'tight',
    cell: row => {
      const { label, tone } = judgementOf(row)
      return <Mark tone={tone}>{label}</Mark>
    },
  },
  { head: 'Received', kind: 'tight', cell: ({ created_at }) => <Time at={created_at} /> },
]

export function Inbox() {
  const query = useQuery()
  const list = usePaged<InboundRow>('/inbound', query, {
    filters: { q: query.get('q') },
    ...{ everyMs: LIVE_MS, on: 'email.received' },
  })
  return (
    <>
      <Head
        title="Inbox"
        lead="Email received for your domains. The list updates automatically, and webhooks are notified."
      />
      <Card flush>
        <search class="filters">
          <Search query={query} label="Search subjects" />
        </search>
        <PagedTable<InboundRow>
          caption="Received mail"
          columns={COLUMNS}
          keyOf={({ id }) => id}
          list={list}
          empty={
            <Empty
              icon="inbox"
              title="No messages yet"
              act={<LinkButton href="/domains">View domains</LinkButton>}
            >
              Turn on receiving for a domain and point its MX record to Mailhorn to see its email here.
            </Empty>
          }
        />
      </Card>
    </>
  )
}
