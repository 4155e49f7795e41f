/** One audience: its contacts and its segments. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Audience } from '../api/types.ts'
import { Button } from '../parts/controls.tsx'
import { confirm } from '../parts/dialog.tsx'
import { Failure, say, Waiting } from '../parts/feedback.tsx'
import { Head } from '../parts/show.tsx'
import type { PageProps } from '../shell/routes.tsx'
import { count, counted } from '../words/numbers.ts'
import { NameDialog } from './audiences.tsx'
import { Contacts } from './contacts.tsx'
import { ImportDialog } from './import-contacts.tsx'
import { Segments } from './segments.tsx'

export function AudiencePage({ params: { id } }: PageProps) {
  const query = useQuery()
  const [, navigate] = useLocation()
  const [open, setOpen] = useState<'name' | 'import'>()
  const [seen, setSeen] = useState(0)
  const audience = useLoad<Audience>(`/audiences/${id}`, { on: 'contact.' })
  if (!audience.data)
    return audience.error ? <Failure error={audience.error} retry={audience.reload} /> : <Waiting />
  const { name, contact_count, unsubscribed_count } = audience.data
  const view = query.get('view') === 'segments' ? 'segments' : 'contacts'
  const changed = () => {
    audience.reload()
    setSeen(n => n + 1)
  }
  const remove = () =>
    confirm({
      title: `Delete ${name}?`,
      text: `${counted(contact_count, 'contact goes', 'contacts go')} with it, and its segments. This cannot be undone.`,
      act: 'Delete the audience',
      async work() {
        await call('DELETE', `/audiences/${id}`)
        say(`${name} is deleted.`)
        navigate('/audiences')
      },
    })
  return (
    <>
      <Head
        title={name}
        from={['/audiences', 'Audiences']}
        lead={`${counted(contact_count, 'contact')}, ${count(unsubscribed_count)} of them unsubscribed.`}
      >
        <Button icon="trash" label="Delete the audience" onClick={remove} />
        <Button onClick={() => setOpen('name')}>Rename</Button>
        <a class="button" href={`/audiences/${id}/contacts/export`} download="contacts.csv">
          Export
        </a>
        <Button icon="save" onClick={() => setOpen('import')}>
          Bring in a file
        </Button>
      </Head>
      <div class="tabs" role="tablist" aria-label="What to see of it">
        {(['contacts', 'segments'] as const).map(one => (
          <button
            key={one}
            type="button"
            role="tab"
            aria-selected={one === view}
            onClick={() => query.set({ view: one === 'contacts' ? null : one, q: null })}
          >
            {one === 'contacts' ? 'Contacts' : 'Segments'}
          </button>
        ))}
      </div>
      {view === 'contacts' ? (
        <Contacts key={seen} audience={audience.data} onChanged={audience.reload} />
      ) : (
        <Segments audience={audience.data} />
      )}
      {open === 'name' && (
        <NameDialog audience={audience.data} onClose={() => setOpen(undefined)} onDone={audience.reload} />
      )}
      {open === 'import' && (
        <ImportDialog audience={audience.data} onClose={() => setOpen(undefined)} onDone={changed} />
      )}
    </>
  )
}
