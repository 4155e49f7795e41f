/** Which links of a broadcast were followed, and by how many. */
import { useQuery } from '../api/query.ts'
import type { BroadcastLink } from '../api/types.ts'
import { Empty } from '../components/feedback.tsx'
import { type Column, PagedTable } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Card, Meter } from '../components/show.tsx'
import { count } from '../labels/numbers.ts'

const PAGE_SIZE = 10

export function BroadcastLinks({ id, everyMs }: { id: string; everyMs: number }) {
  const query = useQuery()
  const list = usePaged<BroadcastLink>(`/broadcasts/${id}/links`, query, { everyMs, pageSize: PAGE_SIZE })
  const most = Math.max(1, ...(list.data?.data ?? []).map(({ unique_clicks }) => unique_clicks))
  return (
    <Card title="Links" lead="What readers followed. Filters and previews are counted apart." flush>
      <PagedTable<BroadcastLink>
        caption="Links of the broadcast"
        columns={columnsOf(most)}
        keyOf={({ number }) => String(number)}
        list={list}
        empty={
          <Empty icon="broadcasts" title="No link was followed yet">
            Clicks are counted where click tracking is on for the domain that the broadcast is sent from.
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
          <Meter share={unique_clicks / most} label="Next to the link that most followed" />
        </div>
      ),
    },
    { head: 'Readers', kind: 'number', cell: ({ unique_clicks }) => count(unique_clicks) },
    { head: 'Clicks', kind: 'number', cell: ({ clicks }) => count(clicks) },
    {
      head: 'By machines',
      kind: 'number',
      cell: ({ machine_clicks }) => <span class="quiet">{count(machine_clicks)}</span>,
    },
  ]
}
