/** Palette that finds pages, actions and objects by a few letters, and opens them. */
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type {
  ApiKey,
  Audience,
  BroadcastRow,
  Contact,
  Domain,
  EmailRow,
  InboundRow,
  List,
  TemplateRow,
  Webhook,
} from '../api/types.ts'
import { Dialog } from '../components/dialog.tsx'
import { Icon, type IconName } from '../components/icons.tsx'
import { useSettled } from '../components/settled.ts'
import { contactPlace, emailsWith } from '../labels/places.ts'
import { EMAIL_WORDS } from '../labels/status.ts'
import { openDialog, ownPlaces } from './keyboard.ts'

interface Entry {
  kind: string
  icon: IconName
  label: string
  /** May be empty. */
  detail: string
  href: string
}

const ACTIONS: readonly Entry[] = (
  [
    ['Compose and send an email', 'emails', '/emails/compose'],
    ['Create broadcast', 'broadcasts', '/broadcasts?add=1'],
    ['Create audience', 'audiences', '/audiences?add=1'],
    ['Create template', 'templates', '/templates?add=1'],
    ['Add domain', 'domains', '/domains?add=1'],
    ['Create API key', 'keys', '/keys?add=1'],
    ['Create access token', 'keys', '/keys?add=token'],
    ['Create webhook', 'webhooks', '/webhooks?add=1'],
  ] as const
).map(([label, icon, href]) => entry('Action', icon, label, href))

/** Address of the API reference, which is a document of its own. */
const REFERENCE = '/docs'
const REFERENCE_ENTRY = entry('Page', 'logs', 'API reference', REFERENCE, 'docs, code samples, OpenAPI')
/** Ids of requests, with or without their prefix. */
const REQUEST_ID = /^(?:log_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const SETTLED_MS = 150
/** Time for which the lists of named objects are not loaded again. */
const NAMED_KEPT_MS = 60_000
/** Entries of one kind. */
const SHOWN_MAX = 6
/** Longest text that every search of the API accepts. */
const CHARACTERS_MAX = 100

export function Palette() {
  return openDialog.value === 'palette' ? <Open /> : null
}

function close(): void {
  openDialog.value = undefined
}

function Open() {
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const { entries, isSearching } = useEntries(text.trim())
  const at = Math.min(chosen, entries.length - 1)
  const go = ({ href }: Entry) => {
    close()
    if (href.startsWith(REFERENCE)) window.location.assign(href)
    else navigate(href)
  }
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && entries.length > 0) setChosen((at + step + entries.length) % entries.length)
    else if (event.key === 'Enter' && entries[at]) go(entries[at])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Search everything" wide onClose={close}>
      <div class="dialog-body palette">
        <input
          class="input"
          type="text"
          role="combobox"
          aria-label="Search everything"
          aria-expanded="true"
          aria-autocomplete="list"
          aria-controls="palette-entries"
          {...(at >= 0 && { 'aria-activedescendant': `palette-${at}` })}
          autocomplete="off"
          spellcheck={false}
          placeholder="Page, subject, address, name, id …"
          value={text}
          onInput={event => {
            setText(event.currentTarget.value)
            setChosen(0)
          }}
          onKeyDown={press}
        />
        <Entries entries={entries} at={at} go={go} />
        <p class="quiet small" role="status">
          {entries.length === 0 && (isSearching ? 'Searching …' : `Nothing found for “${text}”.`)}
        </p>
      </div>
    </Dialog>
  )
}

interface EntriesProps {
  entries: readonly Entry[]
  /** Index of the chosen entry. */
  at: number
  go: (entry: Entry) => void
}

function Entries({ entries, at, go }: EntriesProps) {
  useEffect(() => {
    document.getElementById(`palette-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  return (
    <div id="palette-entries" role="listbox" aria-label="Results">
      {entries.map((entry, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the list are those of the text field
        <div
          key={`${entry.kind} ${entry.href}`}
          id={`palette-${i}`}
          role="option"
          tabIndex={-1}
          aria-selected={i === at}
          onClick={() => go(entry)}
        >
          <Icon name={entry.icon} size={16} />
          <span class="line">
            <bdi>{entry.label}</bdi> {entry.detail && <bdi class="quiet">{entry.detail}</bdi>}
          </span>
          <span class="quiet small">{entry.kind}</span>
        </div>
      ))}
    </div>
  )
}

/** Returns what fits the text, and whether the API is still being asked. */
function useEntries(text: string): { entries: Entry[]; isSearching: boolean } {
  const settled = useSettled(text, SETTLED_MS)
  const remote = useFound(settled)
  const named = useNamed(text !== '')
  const pages = [
    ...ownPlaces().map(({ path, label, icon, section }) => entry('Page', icon, label, path, section)),
    REFERENCE_ENTRY,
  ]
  const words = text.toLowerCase().split(/\s+/)
  const fits = ({ label, detail }: Entry) => {
    const all = `${label} ${detail}`.toLowerCase()
    return words.every(word => all.includes(word))
  }
  if (text === '') return { entries: [...pages, ...ACTIONS], isSearching: false }
  const local = Object.values(
    Object.groupBy([...pages, ...ACTIONS, ...named].filter(fits), ({ kind }) => kind),
  )
  return {
    entries: [
      ...local.flatMap(some => some!.slice(0, SHOWN_MAX)),
      ...(REQUEST_ID.test(text)
        ? [entry('Log', 'logs', text, withQuery('/logs', { q: text }), 'request')]
        : []),
      ...(settled === text ? remote.entries : []),
    ],
    isSearching: settled !== text || remote.isSearching,
  }
}

/** Returns objects of which an account has few, loaded once there is a text, and kept for a while. */
function useNamed(isWanted: boolean): Entry[] {
  const path = (list: string) => (isWanted ? list : null)
  const kept = { keptMs: NAMED_KEPT_MS }
  const domains = useLoad<List<Domain>>(path('/domains?limit=100'), kept)
  const audiences = useLoad<List<Audience>>(path('/audiences?limit=100'), kept)
  const webhooks = useLoad<List<Webhook>>(path('/webhooks?limit=100'), kept)
  const keys = useLoad<List<ApiKey>>(path('/api-keys'), kept)
  return [
    ...rowsOf(domains).map(({ id, name }) => entry('Domain', 'domains', name, `/domains/${id}`)),
    ...rowsOf(audiences).map(({ id, name }) => entry('Audience', 'audiences', name, `/audiences/${id}`)),
    ...rowsOf(webhooks).map(({ id, url }) => entry('Webhook', 'webhooks', url, `/webhooks/${id}`)),
    ...rowsOf(keys).map(({ id, name, permission }) => {
      const kind = permission === 'sending_access' ? 'API key' : 'Access token'
      return entry(kind, 'keys', name, emailsWith({ api_key_id: id }), 'emails sent with it')
    }),
  ]
}

/** Returns objects of which an account may have very many, as the API finds them. */
function useFound(text: string): { entries: Entry[]; isSearching: boolean } {
  const asked = text.slice(0, CHARACTERS_MAX)
  const path = (place: string, name: string) =>
    asked === '' ? null : withQuery(place, { [name]: asked, limit: SHOWN_MAX })
  const emails = useLoad<List<EmailRow>>(path('/emails', 'search'))
  const contacts = useLoad<List<Contact>>(path('/contacts', 'q'))
  const broadcasts = useLoad<List<BroadcastRow>>(path('/broadcasts', 'q'))
  const templates = useLoad<List<TemplateRow>>(path('/templates', 'q'))
  const inbound = useLoad<List<InboundRow>>(path('/inbound', 'q'))
  return {
    entries: [
      ...rowsOf(broadcasts).map(({ id, name, subject }) =>
        entry('Broadcast', 'broadcasts', name || subject || id, `/broadcasts/${id}`),
      ),
      ...rowsOf(templates).map(({ id, name }) => entry('Template', 'templates', name, `/templates/${id}`)),
      ...rowsOf(contacts).map(contactEntry),
      ...rowsOf(emails).map(({ id, subject, to, status }) => {
        const detail = `${to[0] ?? ''} · ${EMAIL_WORDS[status].label}`
        return entry('Email', 'emails', subject || '(no subject)', `/emails/${id}`, detail)
      }),
      ...rowsOf(inbound).map(({ id, subject, from }) =>
        entry('Received email', 'inbox', subject || '(no subject)', `/inbox/${id}`, from ?? ''),
      ),
    ],
    isSearching: [emails, contacts, broadcasts, templates, inbound].some(({ isLoading }) => isLoading),
  }
}

function contactEntry(contact: Contact): Entry {
  const { email, first_name, last_name } = contact
  const name = [first_name, last_name].filter(Boolean).join(' ')
  return entry('Contact', 'audiences', email, contactPlace(contact), name)
}

function entry(kind: string, icon: IconName, label: string, href: string, detail = ''): Entry {
  return { kind, icon, label, href, detail }
}

function rowsOf<T>({ data }: { data: List<T> | undefined }): readonly T[] {
  return data?.data ?? []
}
