/** Logs page: the API requests of the account, newest first. */
import { Link } from 'wouter-preact'
import { withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { type Query, useQuery } from '../api/query.ts'
import type { ApiKey, List, LoggedRequest } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { Empty, Pending } from '../components/feedback.tsx'
import { Icon } from '../components/icons.tsx'
import { type Column, Filter, Search, Table } from '../components/list.tsx'
import { Card, Head, Mark, Time } from '../components/show.tsx'
import type { Tone } from '../labels/status.ts'

type Page = Pick<List<LoggedRequest>, 'has_more' | 'data'>

const ROWS_PER_PAGE = 25
const LIVE_MS = 5_000
const STATUSES = [
  ['2xx', 'Successful (2xx)'],
  ['4xx', 'Refused (4xx)'],
  ['5xx', 'Service errors (5xx)'],
  ['422', 'Invalid (422)'],
  ['429', 'Rate or quota (429)'],
] as const
const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].map(method => [method, method] as const)

export function Logs() {
  const query = useQuery()
  const keys = useLoad<List<ApiKey>>('/api-keys')
  const after = query.get('after')
  const path = withQuery('/logs', {
    status: query.get('status'),
    method: query.get('method'),
    path: pathFilter(query.get('path')),
    api_key_id: query.get('api_key_id'),
    limit: ROWS_PER_PAGE,
    after,
  })
  const list = useLoad<Page>(path, { everyMs: after === '' ? LIVE_MS : undefined })
  return (
    <>
      <Head
        title="Logs"
        lead="What your programs asked the API and what it replied, without secrets. Changes made in the dashboard are listed, too."
      />
      <Card flush>
        <search class="filters">
          <Search query={query} name="path" label="Search paths, such as /emails" />
          <Filter query={query} name="status" label="Any status" options={STATUSES} />
          <Filter query={query} name="method" label="Any method" options={METHODS} />
          <Filter
            query={query}
            name="api_key_id"
            label="Any API key"
            options={(keys.data?.data ?? []).map(({ id, name }) => [id, name] as const)}
          />
        </search>
        {list.data ? (
          <Requests page={list.data} query={query} after={after} />
        ) : (
          <Pending of={list} rows={6} flush />
        )}
      </Card>
    </>
  )
}

/** The search matches the beginning of a path. */
function pathFilter(text: string): string {
  const wanted = text.trim().replace(/^\/*/, '/').replace(/\**$/, '*')
  return wanted === '/*' ? '' : wanted
}

const COLUMNS: readonly Column<LoggedRequest>[] = [
  {
    head: 'Request',
    cell: ({ id, method, endpoint }) => (
      <Link href={`/logs/${id}`}>
        <code>
          {method} {endpoint}
        </code>
      </Link>
    ),
  },
  { head: 'Status', cell: request => <StatusMark request={request} /> },
  {
    head: 'Client',
    cell: ({ user_agent }) => <span class="quiet">{user_agent ?? '–'}</span>,
  },
  { head: 'Duration', kind: 'number', cell: ({ duration_ms }) => `${duration_ms} ms` },
  { head: 'Time', kind: 'tight', cell: ({ created_at }) => <Time at={created_at} /> },
]

function Requests({ page: { data, has_more }, query, after }: { page: Page; query: Query; after: string }) {
  if (data.length === 0)
    return query.isFiltered ? (
      <Empty icon="search" title="No results" act={<Button onClick={query.clear}>Clear filters</Button>}>
        No requests match your filters.
      </Empty>
    ) : (
      <Empty icon="logs" title="No requests yet">
        Requests appear here as soon as your program uses the API.
      </Empty>
    )
  return (
    <>
      <Table caption="API requests" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />
      {(after !== '' || has_more) && (
        <nav class="list-foot" aria-label="Pages">
          <span />
          <span class="row">
            <Button small icon="back" disabled={after === ''} onClick={() => query.set({ after: null })}>
              Newest
            </Button>
            <Button
              small
              disabled={!has_more}
              onClick={() => query.set({ after: data.at(-1)!.id, page: null })}
            >
              Older <Icon name="next" size={14} />
            </Button>
          </span>
        </nav>
      )}
    </>
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
