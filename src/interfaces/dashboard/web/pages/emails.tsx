/** Emails page: a live list with search, filters and CSV export. */
import { useState } from 'preact/hooks'
import { useLoad } from '../api/load.ts'
import { type Query, useQuery } from '../api/query.ts'
import type { ApiKey, Domain, EmailRow, List } from '../api/types.ts'
import { Button, LinkButton } from '../components/controls.tsx'
import { DateRange, rangeIn } from '../components/date-range.tsx'
import { type Chip, Chips, Filter, FilterBar, Search } from '../components/filters.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { pageOf, usePaged } from '../components/paged.ts'
import { useSelection } from '../components/selection.tsx'
import { Head, Mark } from '../components/show.tsx'
import { count, counted } from '../labels/numbers.ts'
import { rangeWords } from '../labels/ranges.ts'
import { EMAIL_STATUS_ORDER, EMAIL_WORDS } from '../labels/status.ts'
import { ChosenEmails } from './chosen-emails.tsx'
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
  'destination',
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
        <LinkButton href="/emails/compose" kind="main" icon="emails">
          Compose
        </LinkButton>
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
        <Filters query={query} />
        <ChosenEmails rows={rows} selection={selection} reload={list.reload} />
      </ResourceList>
      {isExporting && (
        <ExportDialog filter={filter} total={list.data?.total ?? 0} onClose={() => setExporting(false)} />
      )}
    </>
  )
}

function Filters({ query }: { query: Query }) {
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  const keys = useLoad<List<ApiKey>>('/api-keys')
  const keyNames = (keys.data?.data ?? []).map(({ id, name }) => [id, name] as const)
  return (
    <>
      <FilterBar
        query={query}
        names={['status', 'source', 'domain', 'api_key_id', 'created_after']}
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
        <Filter query={query} name="source" label="Any source" options={SOURCES} />
        <Filter
          query={query}
          name="domain"
          label="Any domain"
          options={(domains.data?.data ?? []).map(({ name }) => [name, name])}
        />
        <Filter query={query} name="api_key_id" label="Any API key" options={keyNames} />
        <DateRange query={query} />
      </FilterBar>
      <Chips query={query} chips={useChips(query, new Map(keyNames))} />
    </>
  )
}

/** Returns the filters in the URL with the names of what they refer to. */
function useChips(query: Query, keyNames: ReadonlyMap<string, string>): Chip[] {
  const broadcast = useName('/broadcasts', query.get('broadcast_id'))
  const template = useName('/templates', query.get('template_id'))
  const named = (
    name: string,
    label: string,
    words: (value: string) => string | undefined = text => text,
  ) => {
    const value = query.get(name)
    return value === '' ? [] : [{ names: [name], label, value: words(value) ?? value }]
  }
  const range = rangeIn(query)
  const days = rangeWords(range, new Date())
  return [
    ...named('status', 'Status', status => new Map<string, string>(STATUSES).get(status)),
    ...named('source', 'Source', source => new Map<string, string>(SOURCES).get(source)),
    ...named('q', 'Subject'),
    ...named('from', 'From'),
    ...named('to', 'To'),
    ...named('domain', 'Domain'),
    ...named('tag', 'Tag'),
    ...named('broadcast_id', 'Broadcast', () => broadcast),
    ...named('template_id', 'Template', () => template),
    ...named('destination', 'Destination'),
    ...named('api_key_id', 'API key', id => keyNames.get(id)),
    ...(days === '' ? [] : [{ names: Object.keys(range), label: 'Date', value: days }]),
  ]
}

/** Returns the name of an object of the API once it is loaded, or the subject of one without a name. */
function useName(path: string, id: string): string | undefined {
  const { data } = useLoad<{ name: string; subject?: string | null }>(
    id === '' ? null : `${path}/${encodeURIComponent(id)}`,
  )
  return data?.name || data?.subject || undefined
}

const EMAIL_COLUMNS: readonly Column<EmailRow>[] = [
  { head: 'Subject', text: ({ subject }) => subject || '(no subject)' },
  {
    head: 'To',
    width: '28%',
    text: ({ to, cc, bcc }) => [...to, ...cc, ...bcc].join(', '),
    cell({ to, cc, bcc }) {
      const more = to.length + cc.length + bcc.length - 1
      return (
        <>
          <bdi>{to[0]}</bdi> {more > 0 && <span class="faint">+{more}</span>}
        </>
      )
    },
  },
  { head: 'From', width: '18%', isExtra: true, text: ({ from }) => from },
  {
    head: 'Status',
    kind: 'status',
    cell: ({ status, open_count, click_count }) => {
      const { tone, label, meaning } = EMAIL_WORDS[status]
      const read = click_count > 0 ? counted(click_count, 'click') : counted(open_count, 'open')
      return (
        <Mark tone={tone} title={open_count + click_count > 0 ? `${meaning} ${read}.` : meaning}>
          {label}
        </Mark>
      )
    },
  },
  timeColumn('Date', ({ created_at, scheduled_at, status }) =>
    status === 'scheduled' ? scheduled_at : created_at,
  ),
]
