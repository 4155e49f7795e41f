/** Templates page. */
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Template, TemplateRow } from '../api/types.ts'
import { Button, TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { Search } from '../components/filters.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Head, Mark } from '../components/show.tsx'

/** Initial content of a new template. Its text is derived from the HTML, and so follows it. */
const BEGINNING = {
  subject: 'Welcome, {{first_name|there}}',
  html: '<h1>Welcome, {{first_name|there}}</h1>\n<p>We are glad that you are here.</p>\n',
}

const COLUMNS: readonly Column<TemplateRow>[] = [
  { head: 'Template', text: ({ name }) => name },
  { head: 'Subject', width: '30%', text: ({ subject }) => subject },
  {
    head: 'Alias',
    width: '18%',
    isExtra: true,
    text: ({ alias }) => alias,
    cell: ({ alias }) => (alias ? <code>{alias}</code> : <span class="faint">–</span>),
  },
  {
    head: 'Status',
    kind: 'status',
    cell: ({ status }) =>
      status === 'draft' ? <Mark tone="none">Draft</Mark> : <Mark tone="good">Published</Mark>,
  },
  timeColumn('Updated', ({ updated_at }) => updated_at),
]

export function Templates() {
  const query = useQuery()
  const list = usePaged<TemplateRow>('/templates', query, { filters: { q: query.get('q') } })
  const add = () => query.set({ add: '1' })
  return (
    <>
      <Head title="Templates">
        <Button kind="main" icon="plus" onClick={add}>
          Create template
        </Button>
      </Head>
      <ResourceList<TemplateRow>
        name="Templates"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        href={({ id }) => `/templates/${id}`}
        empty={{
          icon: 'templates',
          title: 'No templates yet',
          act: <Button onClick={add}>Create your first template</Button>,
          children:
            'Write an email once with variables such as {{first_name}}. The API request fills them in, or each contact of a broadcast. Every change is kept as a version that you can restore.',
        }}
      >
        <search class="filters">
          <Search query={query} label="Search names" />
        </search>
      </ResourceList>
      {query.get('add') && <AddTemplate onClose={() => query.set({ add: null })} />}
    </>
  )
}

function AddTemplate({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation()
  const draft = useDraft('new-template', { name: '' })
  return (
    <FormDialog
      title="Create template"
      act="Create template"
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        const { id } = await call<Template>('POST', '/templates', { ...draft.value, ...BEGINNING })
        onClose()
        navigate(`/templates/${id}`)
      }}
    >
      {error => (
        <TextField
          label="Name"
          required
          autofocus
          placeholder="Welcome email"
          hint="Internal name; recipients do not see it."
          {...draft.field('name')}
          fault={error?.of('name')}
        />
      )}
    </FormDialog>
  )
}
