/** Configuration page for operators: settings in force, where each came from, and news of the version. */
import { useState } from 'preact/hooks'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Releases, Setting } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Pending } from '../components/feedback.tsx'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { type Column, ResourceList } from '../components/list.tsx'
import { Head } from '../components/show.tsx'
import { count } from '../labels/numbers.ts'

const SOURCES = { default: 'Default', file: 'File', environment: 'Environment' } as const
const OPTIONS = Object.entries(SOURCES)

export function Configuration() {
  const query = useQuery()
  const [isReading, setReading] = useState(false)
  const { data, ...settings } = useLoad<{ data: Setting[] }>('/installation/settings')
  const words = query.get('q').toLowerCase().split(/\s+/)
  const source = query.get('source')
  const isShown = (setting: Setting) =>
    (source === '' || setting.source === source) && words.every(word => textOf(setting).includes(word))
  return (
    <>
      <Head title="Configuration" count={data && count(data.data.length)}>
        <Button onClick={() => setReading(true)}>Version and news</Button>
      </Head>
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
      {isReading && <News onClose={() => setReading(false)} />}
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
  { head: 'Meaning', isExtra: true, isWrapped: true, text: ({ description }) => description },
]

const RELEASES_SHOWN_MAX = 3
/** Markdown of a change: bold, code and links, whose texts are shown. */
const MARKUP = /(\*\*[^*]+\*\*|`[^`]+`|\[[^\]]+\]\([^)]*\))/

/** Shows the version that is running, and what the newest releases have changed. */
function News({ onClose }: { onClose: () => void }) {
  const releases = useLoad<Releases>('/installation/releases')
  const { data } = releases
  return (
    <Dialog title={data ? `Version ${data.version}` : 'Version'} wide onClose={onClose}>
      <div class="dialog-body">
        {!data && <Pending of={releases} />}
        {data?.data.length === 0 && <p>The changelog is not part of this installation.</p>}
        {data?.data.slice(0, RELEASES_SHOWN_MAX).map(({ version, date, sections }) => (
          <section key={version}>
            <h3>{version === null ? 'Since the last release' : `${version}${date ? `, ${date}` : ''}`}</h3>
            {sections.map(({ title, items }) => (
              <details key={title}>
                <summary>
                  {title} ({count(items.length)})
                </summary>
                <ul class="stack">
                  {items.map(item => (
                    <li key={item}>{item.split(MARKUP).map(marked)}</li>
                  ))}
                </ul>
              </details>
            ))}
          </section>
        ))}
      </div>
      <div class="dialog-acts">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}

function marked(text: string) {
  if (text.startsWith('**')) return <b>{text.slice(2, -2)}</b>
  if (text.startsWith('`')) return <code>{text.slice(1, -1)}</code>
  return text.startsWith('[') ? text.slice(1, text.indexOf('](')) : text
}
