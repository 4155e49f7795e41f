/** Audiences and topics page. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Audience } from '../api/types.ts'
import { Button, TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Head } from '../components/show.tsx'
import { subscribedWords } from '../labels/broadcasts.ts'
import { Topics } from './topics.tsx'

const COLUMNS: readonly Column<Audience>[] = [
  { head: 'Audience', text: ({ name }) => name },
  { head: 'Contacts', kind: 'number', width: 240, cell: subscribedWords },
  timeColumn('Created', ({ created_at }) => created_at),
]

export function Audiences() {
  const query = useQuery()
  const list = usePaged<Audience>('/audiences', query, { on: 'contact.' })
  const add = () => query.set({ add: '1' })
  return (
    <>
      <Head title="Contacts">
        <Button kind="main" icon="plus" onClick={add}>
          Create audience
        </Button>
      </Head>
      <ResourceList<Audience>
        title="Audiences"
        name="Audiences"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        href={({ id }) => `/audiences/${id}`}
        empty={{
          icon: 'audiences',
          title: 'No audiences yet',
          act: <Button onClick={add}>Create your first audience</Button>,
          children:
            'An audience is a list of contacts, such as newsletter subscribers. Import contacts from a CSV file or add them one by one.',
        }}
      />
      {list.data && <Topics />}
      {query.get('add') && <NameDialog onClose={() => query.set({ add: null })} />}
    </>
  )
}

interface NameDialogProps {
  /** Audience to rename; undefined creates a new one. */
  audience?: Audience
  onClose: () => void
  onDone?: () => void
}

export function NameDialog({ audience, onClose, onDone }: NameDialogProps) {
  const [, navigate] = useLocation()
  const [name, setName] = useState(audience?.name ?? '')
  return (
    <FormDialog
      title={audience ? 'Rename audience' : 'Create audience'}
      act={audience ? 'Rename audience' : 'Create audience'}
      onClose={onClose}
      onSubmit={async () => {
        if (audience) await call('PATCH', `/audiences/${audience.id}`, { name })
        else {
          const { id } = await call<Audience>('POST', '/audiences', { name })
          navigate(`/audiences/${id}`)
          return
        }
        say('Saved.')
        onDone?.()
        onClose()
      }}
    >
      {error => (
        <TextField
          label="Name"
          required
          autofocus
          placeholder="Newsletter subscribers"
          value={name}
          onValue={setName}
          fault={error?.of('name')}
        />
      )}
    </FormDialog>
  )
}
