/** Contacts of an audience: search, add, edit, unsubscribe and delete. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Audience, Contact, List, Segment } from '../api/types.ts'
import { AreaField, Button, Switch, TextField } from '../components/controls.tsx'
import { DateRange, rangeIn } from '../components/date-range.tsx'
import { confirm, FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { say } from '../components/feedback.tsx'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { actions, type Column, ResourceList, RowActs, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Chosen, type Selection, useSelection, withEach } from '../components/selection.tsx'
import { Mark } from '../components/show.tsx'
import { contactBody, contactChanges, formOf } from '../labels/contact-form.ts'
import { counted } from '../labels/numbers.ts'
import { contactPlace } from '../labels/places.ts'
import { Conditions, ContactChips } from './contact-filters.tsx'

const WHAT_REMOVING_MEANS =
  'Topic preferences are deleted, too. To stop sending to a contact, unsubscribe them instead.'

const STATUSES = [
  ['false', 'Subscribed'],
  ['true', 'Unsubscribed'],
] as const

export function Contacts({ audience, onChanged }: { audience: Pick<Audience, 'id'>; onChanged: () => void }) {
  const query = useQuery()
  const [open, setOpen] = useState<Contact | 'new'>()
  const segments = useLoad<List<Segment>>(`/audiences/${audience.id}/segments?limit=100`).data?.data ?? []
  const segment = query.get('segment')
  const place = segment === '' ? '' : `/segments/${segment}`
  const found = usePaged<Contact>(`/audiences/${audience.id}${place}/contacts`, query, {
    filters: {
      ...{ q: query.get('q'), unsubscribed: query.get('unsubscribed'), filters: query.get('filters') },
      ...rangeIn(query),
    },
    on: 'contact.',
  })
  const list = { ...found, isFiltered: found.isFiltered || segment !== '' }
  const changed = () => {
    list.reload()
    onChanged()
  }
  const rows = list.data?.data ?? []
  const selection = useSelection(rows.map(({ id }) => id))
  return (
    <>
      <ResourceList<Contact>
        name="Contacts"
        list={list}
        columns={columnsOf({ onOpen: setOpen, onChanged: changed })}
        keyOf={({ id }) => id}
        href={contactPlace}
        selection={selection}
        nameOf={({ email }) => email}
        empty={{
          icon: 'audiences',
          title: 'No contacts yet',
          children: (
            <>
              Import a CSV file whose header row names the columns: <code>email</code>,{' '}
              <code>first_name</code>, <code>last_name</code>, <code>unsubscribed</code>; other columns become
              properties. You can also add contacts one by one or with the API.
            </>
          ),
        }}
      >
        <FilterBar
          query={query}
          names={['unsubscribed', 'segment', 'filters', 'created_after', 'created_before']}
          search={
            <>
              <Search query={query} label="Search email or name" />
              <Button icon="plus" onClick={() => setOpen('new')}>
                Add contact
              </Button>
            </>
          }
        >
          <Filter query={query} name="unsubscribed" label="Any status" options={STATUSES} />
          {segments.length > 0 && (
            <Filter
              query={query}
              name="segment"
              label="All contacts"
              options={segments.map(({ id, name }) => [id, name] as const)}
            />
          )}
          <Conditions audience={audience} query={query} />
          <DateRange query={query} />
        </FilterBar>
        <ContactChips query={query} />
        <ChosenActs rows={rows} selection={selection} onChanged={changed} />
      </ResourceList>
      {open && (
        <ContactDialog
          audience={audience}
          {...(open !== 'new' && { contact: open })}
          onClose={() => setOpen(undefined)}
          onDone={changed}
        />
      )}
    </>
  )
}

interface ChosenActsProps {
  rows: readonly Contact[]
  selection: Selection
  onChanged: () => void
}

function ChosenActs({ rows, selection, onChanged }: ChosenActsProps) {
  const chosen = rows.filter(({ id }) => selection.keys.has(id))
  const people = counted(chosen.length, 'contact')
  const ask = (
    question: { title: string; text: string; act: string; harmless?: boolean },
    work: typeof unsubscribe,
    words: string,
  ) =>
    confirm({
      ...question,
      async work() {
        await withEach(chosen, work, done => `${counted(done, 'contact')} ${words}.`)
        selection.clear()
        onChanged()
      },
    })
  return (
    <Chosen selection={selection}>
      <Button
        small
        onClick={() =>
          ask(
            {
              title: `Unsubscribe ${people}?`,
              text: 'They stay in the audience but receive no more broadcasts.',
              act: `Unsubscribe ${people}`,
              harmless: true,
            },
            unsubscribe,
            'unsubscribed',
          )
        }
      >
        Unsubscribe
      </Button>
      <Button
        small
        kind="bad"
        icon="trash"
        onClick={() =>
          ask(
            {
              title: `Delete ${people}?`,
              text: WHAT_REMOVING_MEANS,
              act: `Delete ${people}`,
            },
            remove,
            'deleted',
          )
        }
      >
        Delete
      </Button>
    </Chosen>
  )
}

const pathOf = ({ id, audience_id }: Contact) => `/audiences/${audience_id}/contacts/${id}`
const unsubscribe = (contact: Contact): Promise<unknown> =>
  call('PATCH', pathOf(contact), { unsubscribed: true })
const remove = (contact: Contact): Promise<unknown> => call('DELETE', pathOf(contact))

/** Asks for confirmation, then deletes a contact. */
export function askToRemove(contact: Contact, onRemoved: () => void): void {
  confirm({
    title: `Delete ${contact.email}?`,
    text: WHAT_REMOVING_MEANS,
    act: 'Delete contact',
    async work() {
      await remove(contact)
      say(`${contact.email} was deleted.`)
      onRemoved()
    },
  })
}

export function ContactMark({ contact: { unsubscribed, unsubscribed_topics } }: { contact: Contact }) {
  if (unsubscribed) return <Mark tone="none">Unsubscribed</Mark>
  return <Mark tone="good">{unsubscribed_topics.length > 0 ? 'Some topics' : 'Subscribed'}</Mark>
}

interface ColumnActs {
  onOpen: (contact: Contact) => void
  onChanged: () => void
}

function columnsOf({ onOpen, onChanged }: ColumnActs): Column<Contact>[] {
  return [
    { head: 'Contact', text: ({ email }) => email },
    {
      head: 'Name',
      width: '26%',
      text: ({ first_name, last_name }) => [first_name, last_name].filter(Boolean).join(' '),
    },
    {
      head: 'Status',
      kind: 'status',
      cell: contact => <ContactMark contact={contact} />,
    },
    timeColumn('Added', ({ created_at }) => created_at),
    actions(contact => (
      <RowActs
        onChange={() => onOpen(contact)}
        removal={`Delete ${contact.email}`}
        onRemove={() => askToRemove(contact, onChanged)}
      />
    )),
  ]
}

interface ContactDialogProps {
  audience: Pick<Audience, 'id'>
  contact?: Contact
  onClose: () => void
  onDone: () => void
}

export function ContactDialog({ audience, contact, onClose, onDone }: ContactDialogProps) {
  const draft = useDraft(`contact.${audience.id}.${contact?.id ?? 'new'}`, formOf(contact))
  const form = draft.value
  const path = `/audiences/${audience.id}/contacts`
  return (
    <FormDialog
      title={contact ? 'Edit contact' : 'Add contact'}
      act={contact ? 'Save contact' : 'Add contact'}
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        await (contact
          ? call('PATCH', `${path}/${contact.id}`, contactChanges(contact, form))
          : call('POST', path, contactBody(form)))
        say(contact ? 'Contact saved.' : `${form.email} was added.`)
        onDone()
        onClose()
      }}
    >
      {error => (
        <>
          <TextField
            label="Email address"
            type="email"
            required
            autofocus
            {...draft.field('email')}
            fault={error?.of('email')}
          />
          <TextField label="First name" {...draft.field('first')} fault={error?.of('first_name')} />
          <TextField label="Last name" {...draft.field('last')} fault={error?.of('last_name')} />
          <AreaField
            label="Properties"
            code
            rows={4}
            {...draft.field('properties')}
            placeholder={'plan: pro\ncity: Vienna'}
            hint="One property per line, as key: value."
            fault={error?.of('properties')}
          />
          <Switch
            label="Unsubscribed"
            hint="Unsubscribed contacts receive no broadcasts."
            checked={form.unsubscribed}
            onChange={unsubscribed => draft.change({ unsubscribed })}
          />
        </>
      )}
    </FormDialog>
  )
}
