/** Logs page: the API requests of the account, newest first. */
import { withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { type Query, useQuery } from '../api/query.ts'
import type { ApiKey, List, LoggedRequest } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { Icon } from '../components/icons.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { Head, Mark } from '../components/show.tsx'
import { programOf } from '../labels/programs.ts'
import type { Tone } from '../labels/status.ts'

type Page = Pick<List<LoggedRequest>, 'has_more' | 'data'>

const ROWS_PER_PAGE = 25
const LIVE_MS = 5_000
const STATUSES = [
  ['2xx', 'Successful (2xx)'],
  ['4xx', 'Client errors (4xx)'],
  ['5xx', 'Server errors (5xx)'],
  ['422', 'Invalid (422)'],
  ['429', 'Rate limited (429)'],
] as const
const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].map(method => [method, method] as const)

export function Logs() {
  const query = useQuery()
  const keys = useLoad<List<ApiKey>>('/api-keys')
  const after = query.get('after')
  const filters = {
    status: query.get('status'),
    method: query.get('method'),
    q: query.get('q'),
    api_key_id: query.get('api_key_id'),
  }
  const list = useLoad<Page>(withQuery('/logs', { ...filters, limit: ROWS_PER_PAGE, after }), {
    everyMs: after === '' ? LIVE_MS : undefined,
  })
  const isFiltered = Object.values(filters).some(value => value !== '')
  return (
    <>
      <Head title="Logs" />
      <ResourceList<LoggedRequest>
        name="API requests"
        list={{ ...list, query, isFiltered }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        href={({ id }) => `/logs/${id}`}
        empty={{
          icon: 'logs',
          title: 'No requests yet',
          children: 'Requests of your programs appear here with their replies. Secrets are removed.',
        }}
        foot={list.data && <Cursor page={list.data} query={query} />}
      >
        <FilterBar
          query={query}
          names={['status', 'method', 'api_key_id']}
          search={
            <Search query={query} label="Search requests" hint="Path, request id, eml_… or another id" />
          }
        >
          <Filter query={query} name="status" label="Any status" options={STATUSES} />
          <Filter query={query} name="method" label="Any method" options={METHODS} />
          <Filter
            query={query}
            name="api_key_id"
            label="Any API key"
            options={(keys.data?.data ?? []).map(({ id, name }) => [id, name] as const)}
          />
        </FilterBar>
      </ResourceList>
    </>
  )
}

const COLUMNS: readonly Column<LoggedRequest>[] = [
  {
    head: 'Request',
    text: ({ method, endpoint }) => `${method} ${endpoint}`,
    cell: ({ method, endpoint }) => (
      <code>
        {method} {endpoint}
      </code>
    ),
  },
  { head: 'Key', width: '16%', text: ({ credential }) => credentialName(credential) },
  {
    head: 'Client',
    width: '24%',
    isExtra: true,
    text: ({ client_address, user_agent }) => [client_address, user_agent].filter(Boolean).join('  '),
    cell: ({ client_address, user_agent }) => (
      <>
        <span class="mono">{client_address ?? '–'}</span> {programOf(user_agent)}
      </>
    ),
  },
  { head: 'Status', kind: 'status', width: 208, cell: request => <StatusMark request={request} /> },
  { head: 'Duration', kind: 'number', isExtra: true, cell: ({ duration_ms }) => `${duration_ms} ms` },
  timeColumn('Time', ({ created_at }) => created_at),
]

/** Names the API key or access token of a request. */
export function credentialName({ kind, name }: LoggedRequest['credential']): string {
  if (kind === 'session') return 'Dashboard'
  return name ?? (kind === 'key' ? 'Deleted API key' : 'Deleted access token')
}

/** Leads to older requests, and back to the newest. */
function Cursor({ page: { data, has_more }, query }: { page: Page; query: Query }) {
  const isNewest = query.get('after') === ''
  if (isNewest && !has_more) return null
  return (
    <nav class="list-foot" aria-label="Pages">
      <span />
      <span class="row">
        <Button small icon="back" disabled={isNewest} onClick={() => query.set({ after: null })}>
          Newest
        </Button>
        <Button small disabled={!has_more} onClick={() => query.set({ after: data.at(-1)!.id, page: null })}>
          Older <Icon name="next" size={14} />
        </Button>
      </span>
    </nav>
  )
}

export function StatusMark({ request }: { request: Pick<LoggedRequest, 'response_status' | 'error_name'> }) {
  const { response_status: status, error_name: name } = request
  return <Mark tone={toneOf(status)}>{name === null ? String(status) : `${status} ${name}`}</Mark>
}

function toneOf(status: number): Tone {
  if (status >= 500) return 'bad'
  return status >= 400 ? 'warn' : 'good'
}
