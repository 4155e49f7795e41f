/** Recipients of a broadcast, all or those with one result. */
import { withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Broadcast, BroadcastRecipient } from '../api/types.ts'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { type Column, ResourceList } from '../components/list.tsx'
import type { PageProps } from '../components/page.ts'
import { usePaged } from '../components/paged.ts'
import { Head } from '../components/show.tsx'
import { titleOf } from '../labels/broadcasts.ts'
import { count } from '../labels/numbers.ts'
import { RECIPIENT_TYPES } from '../labels/places.ts'

/** While an address is being typed, it is no filter yet. */
const ADDRESS = /^[^\s@]+@[^\s@]+$/

export function BroadcastRecipients({ params: { id } }: PageProps) {
  const query = useQuery()
  const type = query.get('type')
  const address = query.get('email')
  const broadcast = useLoad<Broadcast>(`/broadcasts/${id}`).data
  const filters = { type, email: ADDRESS.test(address) ? address : '' }
  const list = usePaged<BroadcastRecipient>(`/broadcasts/${id}/recipients`, query, { filters })
  const { total } = list.data ?? {}
  return (
    <>
      <Head
        title="Recipients"
        count={total === undefined ? undefined : count(total)}
        from={[`/broadcasts/${id}`, broadcast ? titleOf(broadcast) : 'Broadcast']}
      >
        <a
          class="button"
          href={withQuery(`/broadcasts/${id}/recipients/export`, filters)}
          download="recipients.csv"
        >
          Export CSV
        </a>
      </Head>
      <ResourceList<BroadcastRecipient>
        name="Recipients of the broadcast"
        list={list}
        columns={columnsOf(type)}
        keyOf={recipient => recipient.id}
        href={recipient => `/emails/${recipient.id}`}
        empty={{
          icon: 'broadcasts',
          title: 'No recipients',
          children: 'Recipients are listed once their emails have been created.',
        }}
      >
        <FilterBar
          query={query}
          names={['type']}
          search={<Search query={query} name="email" label="Address (exact match)" />}
        >
          <Filter query={query} name="type" label="Any result" options={Object.entries(RECIPIENT_TYPES)} />
        </FilterBar>
      </ResourceList>
    </>
  )
}

const COUNTED: Readonly<Record<string, string>> = { opened: 'Opens', clicked: 'Clicks' }

/** @param type result of the recipients that are listed; empty for any */
function columnsOf(type: string): Column<BroadcastRecipient>[] {
  const columns: Column<BroadcastRecipient>[] = [{ head: 'Recipient', text: ({ email }) => email }]
  if (type === 'clicked')
    columns.push({
      head: 'Links',
      isExtra: true,
      text: ({ clicked_links = [] }) => clicked_links.map(({ url }) => url).join(', '),
    })
  const counted = COUNTED[type]
  if (counted) columns.push({ head: counted, kind: 'number', cell: ({ count: times = 0 }) => count(times) })
  if (type === 'bounced') columns.push({ head: 'Bounce', width: 160, text: ({ bounce_type }) => bounce_type })
  return columns
}
