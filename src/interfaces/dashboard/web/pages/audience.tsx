/** One audience: its contacts and its segments. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Audience } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirmRemoval } from '../components/dialog.tsx'
import { Pending } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { Head } from '../components/show.tsx'
import { Tabs } from '../components/tabs.tsx'
import { subscribedWords } from '../labels/broadcasts.ts'
import { counted } from '../labels/numbers.ts'
import { NameDialog } from './audiences.tsx'
import { Contacts } from './contacts.tsx'
import { ImportDialog } from './import-contacts.tsx'
import { Segments } from './segments.tsx'

const VIEWS = [
  ['contacts', 'Contacts'],
  ['segments', 'Segments'],
] as const

export function AudiencePage({ params: { id } }: PageProps) {
  const query = useQuery()
  const [open, setOpen] = useState<'name' | 'import'>()
  const [seen, setSeen] = useState(0)
  const { data: audience, error, reload } = useLoad<Audience>(`/audiences/${id}`, { on: 'contact.' })
  if (!audience) return <Pending of={{ error, reload }} />
  const view = query.get('view') === 'segments' ? 'segments' : 'contacts'
  const changed = () => {
    reload()
    setSeen(n => n + 1)
  }
  return (
    <>
      <AudienceHead audience={audience} onOpen={setOpen} />
      <Tabs
        label="Audience"
        tabs={VIEWS}
        chosen={view}
        onChoose={one => query.set({ view: one === 'contacts' ? null : one, q: null })}
      />
      {view === 'contacts' ? (
        <Contacts key={seen} audience={{ id: id! }} onChanged={reload} />
      ) : (
        <Segments audience={{ id: id! }} />
      )}
      {open === 'name' && (
        <NameDialog audience={audience} onClose={() => setOpen(undefined)} onDone={reload} />
      )}
      {open === 'import' && (
        <ImportDialog audience={audience} onClose={() => setOpen(undefined)} onDone={changed} />
      )}
    </>
  )
}

interface AudienceHeadProps {
  audience: Audience
  onOpen: (what: 'name' | 'import') => void
}

function AudienceHead({ audience, onOpen }: AudienceHeadProps) {
  const [, navigate] = useLocation()
  const { id, name, contact_count } = audience
  const remove = () =>
    confirmRemoval('audience', {
      name,
      path: `/audiences/${id}`,
      text: `The audience, its ${counted(contact_count, 'contact')} and its segments will be deleted. This cannot be undone.`,
      said: `${name} was deleted.`,
      onRemoved: () => navigate('/audiences'),
    })
  return (
    <Head title={name} from={['/audiences', 'Contacts']} lead={`${subscribedWords(audience)} contacts.`}>
      <Button icon="trash" label="Delete audience" onClick={remove} />
      <Button onClick={() => onOpen('name')}>Rename</Button>
      <a class="button" href={`/audiences/${id}/contacts/export`} download="contacts.csv">
        Export CSV
      </a>
      <Button icon="save" onClick={() => onOpen('import')}>
        Import CSV
      </Button>
    </Head>
  )
}
