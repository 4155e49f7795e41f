/** Configuration page for operators: the settings in force, and where each came from. */
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Setting } from '../api/types.ts'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { type Column, ResourceList } from '../components/list.tsx'
import { Head } from '../components/show.tsx'
import { count } from '../labels/numbers.ts'

const SOURCES = { default: 'Default', file: 'File', environment: 'Environment' } as const
const OPTIONS = Object.entries(SOURCES)

export function Configuration() {
  const query = useQuery()
  const { data, ...settings } = useLoad<{ data: Setting[] }>('/installation/settings')
  const words = query.get('q').toLowerCase().split(/\s+/)
  const source = query.get('source')
  const isShown = (setting: Setting) =>
    (source === '' || setting.source === source) && words.every(word => textOf(setting).includes(word))
  return (
    <>
      <Head title="Configuration" count={data && count(data.data.length)} />
      <ResourceList<Setting>
        name="Settings"
        list={{
          ...settings,
          data: data && { data: data.data.filter(isShown) },
          ...{ query, isFiltered: true },
        }}
        columns={COLUMNS}
        keyOf={({ key }) => key}
        empty={{ icon: 'settings', title: 'No settings' }}
      >
        <FilterBar
          query={query}
          names={['source']}
          search={<Search query={query} label="Search settings" hint="Setting, value, variable or meaning" />}
        >
          <Filter query={query} name="source" label="Any source" options={OPTIONS} />
        </FilterBar>
      </ResourceList>
    </>
  )
}

function textOf({ key, value, source_name, description }: Setting): string {
  return `${key} ${value ?? ''} ${source_name ?? ''} ${description}`.toLowerCase()
}

const COLUMNS: readonly Column<Setting>[] = [
  { head: 'Setting', width: '24%', text: ({ key }) => key },
  {
    head: 'Value',
    width: '20%',
    text: ({ value, unit }) => value && (unit && /^\d+$/.test(value) ? `${value} ${unit}` : value),
  },
  {
    head: 'Source',
    kind: 'status',
    width: '24%',
    text: ({ source, source_name: name }) => name ?? SOURCES[source],
  },
  { head: 'Meaning', isExtra: true, text: ({ description }) => description },
]
