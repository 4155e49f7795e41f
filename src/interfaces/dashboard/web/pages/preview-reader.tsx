/** Chooses the contact whose values a preview or a test email of a broadcast shows. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { withQuery } from '../api/client.ts'
import { type Loaded, useLoad } from '../api/load.ts'
import type { Broadcast, Contact, List } from '../api/types.ts'
import { useSettled } from '../components/settled.ts'

const SETTLED_MS = 350
const FOUND_MAX = 20

interface PreviewReader {
  contacts: Loaded<List<Contact>>
  /** Undefined if no contact is found, and while they are loaded. */
  reader: Contact | undefined
  /** Null if there are no contacts to choose from. */
  choice: JSX.Element | null
}

export function usePreviewReader({
  audience_id,
  segment_id,
}: Pick<Broadcast, 'audience_id' | 'segment_id'>): PreviewReader {
  const [search, setSearch] = useState('')
  const [chosen, setChosen] = useState('')
  const q = useSettled(search.trim(), SETTLED_MS)
  const part = segment_id ? `/segments/${segment_id}` : ''
  const contacts = useLoad<List<Contact>>(
    withQuery(`/audiences/${audience_id}${part}/contacts`, { limit: FOUND_MAX, q }),
  )
  const people = contacts.data?.data ?? []
  const reader = people.find(({ id }) => id === chosen) ?? people[0]
  const isShown = !contacts.data || people.length > 0 || search !== ''
  const choice = isShown ? (
    <fieldset class="stack stack-tight">
      <legend class="label">
        <b class="small">Preview as</b>
      </legend>
      <div class="halves">
        <select
          class="input"
          aria-label="Preview as"
          value={reader?.id ?? ''}
          onChange={event => setChosen(event.currentTarget.value)}
        >
          {people.length === 0 && <option value="">No contact found</option>}
          {people.map(({ id, email }) => (
            <option key={id} value={id}>
              {email}
            </option>
          ))}
        </select>
        <input
          class="input"
          type="search"
          aria-label="Search contacts for the preview"
          placeholder="Search by name or address"
          value={search}
          onInput={event => setSearch(event.currentTarget.value)}
        />
      </div>
    </fieldset>
  ) : null
  return { contacts, reader, choice }
}
