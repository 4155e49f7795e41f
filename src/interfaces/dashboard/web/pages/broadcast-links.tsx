/** Clicks per link of a broadcast. */
import { useQuery } from '../api/query.ts'
import type { BroadcastLink } from '../api/types.ts'
import { Empty } from '../components/feedback.tsx'
import { type Column, PagedTable } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Card, Meter } from '../components/show.tsx'
import { count } from '../labels/numbers.ts'

const ROWS_PER_PAGE = 10

export function BroadcastLinks({ id, everyMs }: { id: string; everyMs: number }) {
  const query = useQuery()
  const list = usePaged<BroadcastLink>(`/broadcasts/${id}/links`, query, { everyMs, pageSize: ROWS_PER_PAGE })
  const most = Math.max(1, ...(list.data?.data ?? []).map(({ unique_clicks }) => unique_clicks))
  return (
    <Card
      title="Links"
      lead="Clicks per link. Clicks by bots and link scanners are counted separately."
      flush
    >
      <PagedTable<BroadcastLink>
        caption="Links of the broadcast"
        columns={columnsOf(most)}
        keyOf={({ number }) => String(number)}
        list={list}
        empty={
          <Empty icon="broadcasts" title="No clicks yet">
            Clicks are counted if click tracking is on for the sending domain.
          </Empty>
        }
      />
    </Card>
  )
}

function columnsOf(most: number): Column<BroadcastLink>[] {
  return [
    {
      head: 'Link',
      cell: ({ url, unique_clicks }) => (
        <div class="stack stack-tight">
          <span class="mono">{url}</span>
          <Meter share={unique_clicks / most} label="Compared with the most clicked link" />
        </div>
      ),
    },
    { head: 'Unique clicks', kind: 'number', cell: ({ unique_clicks }) => count(unique_clicks) },
    { head: 'Total clicks', kind: 'number', cell: ({ clicks }) => count(clicks) },
    {
      head: 'Bot clicks',
      kind: 'number',
      cell: ({ machine_clicks }) => <span class="quiet">{count(machine_clicks)}</span>,
    },
  ]
}
