/** Mail that has come in. */
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

const COLUMNS: readonly Column<InboundRow>[] = [
  {
    head: 'Message',
    cell: ({ id, subject, from, attachments }) => (
      <>
        <Link href={`/inbox/${id}`} class="row-link">
          {subject || 'Without a subject'}
        </Link>{' '}
        {attachments.length > 0 && <Icon name="clip" size={13} />}
        <div class="quiet small">{from}</div>
      </>
    ),
  },
  { head: 'To', cell: ({ received_for }) => <span class="quiet small">{received_for.join(', ')}</span> },
  {
    head: 'Judged',
    kind: 'tight',
    cell: row => {
      const { label, tone } = judgementOf(row)
      return <Mark tone={tone}>{label}</Mark>
    },
  },
  { head: 'When', kind: 'tight', cell: ({ created_at }) => <Time at={created_at} /> },
]

export function Inbox() {
  const query = useQuery()
  const list = usePaged<InboundRow>('/inbound', query, {
    filters: { q: query.get('q') },
    ...{ everyMs: LIVE_MS, on: 'email.received' },
  })
  return (
    <>
      <Head title="Inbox" lead="Mail to your domains. It appears by itself, and programs hear of it." />
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
              title="Nothing has come in"
              act={<LinkButton href="/domains">To your domains</LinkButton>}
            >
              Lead the MX record of a domain here, and its mail is listed, with what it was judged to be.
            </Empty>
          }
        />
      </Card>
    </>
  )
}
