/** Templates page. */
import { Link, useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Template, TemplateRow } from '../api/types.ts'
import { Button, TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { Empty } from '../components/feedback.tsx'
import { type Column, PagedTable, Search } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Card, Head, Mark, Time } from '../components/show.tsx'

/** Initial content of a new template. Its text is derived from the HTML, and so follows it. */
const BEGINNING = {
  subject: 'Welcome, {{first_name|there}}',
  html: '<h1>Welcome, {{first_name|there}}</h1>\n<p>We are glad that you are here.</p>\n',
}

const COLUMNS: readonly Column<TemplateRow>[] = [
  {
    head: 'Template',
    cell: ({ id, name }) => (
      <Link href={`/templates/${id}`} class="row-link">
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  { head: 'Subject', cell: ({ subject }) => <bdi class="quiet">{subject ?? 'None'}</bdi> },
  { head: 'Alias', cell: ({ alias }) => <span class="mono quiet">{alias ?? 'None'}</span> },
  {
    head: 'Status',
    kind: 'tight',
    cell: ({ status }) =>
      status === 'draft' ? <Mark tone="none">Draft</Mark> : <Mark tone="good">Published</Mark>,
  },
  { head: 'Updated', kind: 'tight', cell: ({ updated_at }) => <Time at={updated_at} /> },
]

export function Templates() {
  const query = useQuery()
  const list = usePaged<TemplateRow>('/templates', query, { filters: { q: query.get('q') } })
  const add = () => query.set({ add: '1' })
  return (
    <>
      <Head title="Templates" lead="Reusable emails with variables.">
        <Button kind="main" icon="plus" onClick={add}>
          Create template
        </Button>
      </Head>
      <Card flush>
        <search class="filters">
          <Search query={query} label="Search names" />
        </search>
        <PagedTable<TemplateRow>
          caption="Templates"
          columns={COLUMNS}
          keyOf={({ id }) => id}
          list={list}
          empty={
            <Empty
              icon="templates"
              title="No templates yet"
              act={<Button onClick={add}>Create your first template</Button>}
            >
              Write an email once with variables such as {'{{first_name}}'}. The API request fills them in.
              Every change is kept as a version that you can restore.
            </Empty>
          }
        />
      </Card>
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
