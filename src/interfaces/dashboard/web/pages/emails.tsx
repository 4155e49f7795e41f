/** Emails page: a live list with search, filters and CSV export. */
import { useState } from 'preact/hooks'
import { useLoad } from '../api/load.ts'
import { type Query, useQuery } from '../api/query.ts'
import type { ApiKey, Domain, EmailRow, List } from '../api/types.ts'
import { Button, LinkButton } from '../components/controls.tsx'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { ResourceList } from '../components/list.tsx'
import { pageOf, usePaged } from '../components/paged.ts'
import { useSelection } from '../components/selection.tsx'
import { Head } from '../components/show.tsx'
import { WriteDialog } from '../components/write.tsx'
import { count, counted } from '../labels/numbers.ts'
import { EMAIL_STATUS_ORDER, EMAIL_WORDS } from '../labels/status.ts'
import { ChosenEmails } from './chosen-emails.tsx'
import { EMAIL_COLUMNS } from './email-columns.tsx'
import { ExportDialog } from './export-emails.tsx'

/** Events refresh the list at once; polling covers events that were missed. */
const LIVE_MS = 20_000
const STATUSES = EMAIL_STATUS_ORDER.map(status => [status, EMAIL_WORDS[status].label] as const)
const SOURCES = [
  ['api', 'API'],
  ['smtp', 'SMTP'],
  ['broadcast', 'Broadcast'],
  ['dashboard', 'Dashboard'],
] as const
const FILTERS = [
  'search',
  'status',
  'q',
  'from',
  'to',
  'tag',
  'domain',
  'created_after',
  'created_before',
  'broadcast_id',
  'template_id',
  'api_key_id',
  'source',
]

export function Emails() {
  const query = useQuery()
  const [isExporting, setExporting] = useState(false)
  const filter = Object.fromEntries(FILTERS.map(name => [name, query.get(name)]))
  const list = usePaged<EmailRow>('/emails', query, {
    filters: filter,
    ...(pageOf(query) === 1 && { everyMs: LIVE_MS, on: 'email.' }),
  })
  const rows = list.data?.data ?? []
  const selection = useSelection(rows.map(({ id }) => id))
  return (
    <>
      <Head
        title="Emails"
        count={list.data && (list.isFiltered ? counted(list.data.total, 'result') : count(list.data.total))}
      >
        <Button icon="save" onClick={() => setExporting(true)}>
          Export CSV
        </Button>
        <Button kind="main" icon="emails" onClick={() => query.set({ write: '1' })}>
          Send email
        </Button>
      </Head>
      <ResourceList<EmailRow>
        name="Emails"
        list={list}
        columns={EMAIL_COLUMNS}
        keyOf={({ id }) => id}
        href={({ id }) => `/emails/${id}`}
        selection={selection}
        nameOf={({ subject, to }) => `${subject} to ${to[0]}`}
        empty={{
          icon: 'emails',
          title: 'No emails yet',
          act: <LinkButton href="/start">Send your first email</LinkButton>,
          children:
            'Emails sent with the API, over SMTP or from the dashboard are listed here with their delivery status.',
        }}
      >
        <Filters query={query} isFiltered={list.isFiltered} />
        <ChosenEmails rows={rows} selection={selection} reload={list.reload} />
      </ResourceList>
      {query.get('write') && <WriteDialog onClose={() => query.set({ write: null })} />}
      {isExporting && (
        <ExportDialog filter={filter} total={list.data?.total ?? 0} onClose={() => setExporting(false)} />
      )}
    </>
  )
}

function Filters({ query, isFiltered }: { query: Query; isFiltered: boolean }) {
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  const keys = useLoad<List<ApiKey>>('/api-keys')
  return (
    <FilterBar
      query={query}
      names={['status', 'domain', 'source', 'api_key_id', 'created_after']}
      search={
        <Search
          query={query}
          name="search"
          label="Search emails"
          hint="Subject, address, domain, tag, eml_…, Message-ID"
        />
      }
    >
      <Filter query={query} name="status" label="Any status" options={STATUSES} />
      <Filter
        query={query}
        name="domain"
        label="Any domain"
        options={(domains.data?.data ?? []).map(({ name }) => [name, name])}
      />
      <Filter query={query} name="source" label="Any source" options={SOURCES} />
      <Filter
        query={query}
        name="api_key_id"
        label="Any API key"
        options={(keys.data?.data ?? []).map(({ id, name }) => [id, name])}
      />
      <input
        class="input"
        type="date"
        aria-label="Created since"
        title="Created since"
        value={query.get('created_after').slice(0, 10)}
        onChange={event => query.set({ created_after: event.currentTarget.value })}
      />
      {isFiltered && (
        <Button small kind="plain" icon="cross" onClick={query.clear}>
          Clear filters
        </Button>
      )}
    </FilterBar>
  )
}
