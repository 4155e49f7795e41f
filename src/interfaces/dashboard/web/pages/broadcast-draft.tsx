/** Editor of a broadcast draft: recipients, sender, content, files, and a preview for one of its contacts. */
import { inertLinks } from '../../../../pipeline/broadcasts/inert-links.ts'
import { nameAfter } from '../../../../pipeline/broadcasts/names.ts'
import { compileTemplate } from '../../../../resources/templates/compile.ts'
import { fillTemplate } from '../../../../resources/templates/render.ts'
import { builtInOf, isAmong, propertyOf } from '../../../../resources/templates/variables.ts'
import { useLoad } from '../api/load.ts'
import type { Audience, Broadcast, Contact, List, Segment, Topic } from '../api/types.ts'
import { AreaField, Choose, TextField } from '../components/controls.tsx'
import { FilesField } from '../components/files-field.tsx'
import { RenderedMail } from '../components/rendered.tsx'
import { useSettled } from '../components/settled.ts'
import { Card } from '../components/show.tsx'
import { subscribedWords } from '../labels/broadcasts.ts'
import { RecipientCount, useRecipients } from './broadcast-audience.tsx'
import type { BroadcastEdit, BroadcastText } from './broadcast-edit.ts'
import { BROADCAST_FILES_LIMIT } from './broadcast-files.ts'
import { usePreviewReader } from './preview-reader.tsx'

const CHARACTERS_MAX = 4 * 1024 * 1024
const SETTLED_MS = 350

interface BroadcastDraftProps {
  /** Broadcast as it is stored. */
  broadcast: Broadcast
  edit: BroadcastEdit
  /** What is scheduled is not edited: it goes out as it is shown. */
  isLocked: boolean
}

export function BroadcastDraft({ broadcast, edit, isLocked }: BroadcastDraftProps) {
  const { draft, shown, failure, hasNoText } = edit
  const faultOf = (path: keyof BroadcastText) => failure?.error.of(path)
  const field = (name: keyof BroadcastText) => ({
    ...draft.field(name),
    value: shown[name],
    fault: faultOf(name),
  })
  return (
    <div class="editor">
      <Card>
        <fieldset class="stack" disabled={isLocked}>
          <Readers draft={shown} onDraft={draft.set} faultOf={faultOf} />
          <WillGetIt key={readersOf(broadcast)} broadcast={broadcast} draft={shown} />
          <TextField label="From" {...field('from')} />
          <TextField
            label="Reply-To"
            hint="Where replies go, if not to the sender: addresses, separated by commas."
            {...field('reply_to')}
          />
          <TextField
            label="Subject"
            {...field('subject')}
            onValue={subject =>
              draft.change({ subject, name: nameAfter(shown.name, shown.subject, subject) })
            }
          />
          <TextField
            label="Preview text"
            hint="Inboxes show it after the subject."
            {...field('preview_text')}
          />
          <AreaField label="HTML" code rows={14} {...field('html')} />
          <AreaField
            label="Text"
            code
            rows={7}
            hint="Plain-text version for email clients that do not show HTML. If it is empty, it is derived from the HTML."
            {...field('text')}
          />
          <FilesField
            files={broadcast.attachments.map(({ id, filename, size }) => ({
              id,
              name: filename,
              bytes: size,
            }))}
            hint={BROADCAST_FILES_LIMIT}
            fault={edit.files.fault}
            onAdd={edit.files.add}
            onRemove={edit.files.remove}
          />
          <TextField label="Name" hint="Internal name; recipients do not see it." {...field('name')} />
        </fieldset>
      </Card>
      <AsRead draft={shown} hasNoText={hasNoText} />
    </div>
  )
}

interface ReadersProps {
  draft: BroadcastText
  onDraft: (draft: BroadcastText) => void
  faultOf: (path: keyof BroadcastText) => string | undefined
}

function Readers({ draft, onDraft, faultOf }: ReadersProps) {
  const audiences = useLoad<List<Audience>>('/audiences?limit=100')
  const segments = useLoad<List<Segment>>(`/audiences/${draft.audience_id}/segments?limit=100`)
  const topics = useLoad<List<Topic>>('/topics?limit=100')
  const segmentOptions = optionsWith(
    draft.segment_id,
    'All contacts',
    segments.data?.data.map(({ id, name }) => [id, name]),
  )
  const topicOptions = optionsWith(
    draft.topic_id,
    'None',
    topics.data?.data.map(({ id, name }) => [id, name]),
  )
  return (
    <>
      <Choose
        label="To"
        value={draft.audience_id}
        options={(audiences.data?.data ?? []).map(one => [one.id, `${one.name} (${subscribedWords(one)})`])}
        onValue={audience_id => onDraft({ ...draft, audience_id, segment_id: '' })}
        fault={faultOf('audience_id')}
      />
      <Choose
        label="Segment"
        value={draft.segment_id}
        options={segmentOptions}
        onValue={segment_id => onDraft({ ...draft, segment_id })}
        fault={faultOf('segment_id')}
      />
      <Choose
        label="Topic"
        value={draft.topic_id}
        hint="Contacts who opted out of the topic are skipped."
        options={topicOptions}
        onValue={topic_id => onDraft({ ...draft, topic_id })}
        fault={faultOf('topic_id')}
      />
    </>
  )
}

const readersOf = ({ audience_id, segment_id, topic_id }: Broadcast | BroadcastText) =>
  [audience_id, segment_id, topic_id].map(id => id ?? '').join(' ')

/** The count of the server, which knows the audience on the screen once it is saved. */
function WillGetIt({ broadcast, draft }: { broadcast: Broadcast; draft: BroadcastText }) {
  const recipients = useRecipients(broadcast.id)
  const isOutdated = recipients.isLoading || readersOf(draft) !== readersOf(broadcast)
  return <RecipientCount recipients={recipients} isOutdated={isOutdated} />
}

type Option = readonly [value: string, label: string]

/**
 * Includes the selected value even if it was deleted or is not on the loaded page.
 * @param listed undefined until they are loaded
 */
function optionsWith(chosen: string, none: string, listed: readonly Option[] | undefined): Option[] {
  const isListed = chosen === '' || listed?.some(([value]) => value === chosen)
  const words = listed ? 'Deleted or not listed' : 'Loading …'
  return [['', none], ...(isListed ? [] : [[chosen, words] as const]), ...(listed ?? [])]
}

/** Preview with the values of a contact, rendered by the same code as the email itself. */
function AsRead({ draft, hasNoText }: { draft: BroadcastText; hasNoText: boolean }) {
  const settled = useSettled(draft, SETTLED_MS)
  const { reader, choice } = usePreviewReader(settled)
  const properties = useLoad<List<{ key: string }>>(`/audiences/${settled.audience_id}/properties`)
  const keys = new Set(properties.data?.data.map(({ key }) => key))
  const template = compileTemplate(
    { subject: settled.subject || null, html: settled.html || null, text: settled.text || null },
    name => isAmong(keys, name),
  )
  const values = template.variables.map(({ name }) => valueFor(name, reader))
  const rendered = fillTemplate(template, values, CHARACTERS_MAX)
  return (
    <div class="stack">
      {choice}
      <RenderedMail rendered={rendered} hasNoText={hasNoText} />
    </div>
  )
}

function valueFor(name: string, contact: Contact | undefined): string | undefined {
  const builtIn = builtInOf(name)
  if (builtIn === 'unsubscribe_url') return inertLinks(location.origin).unsubscribe
  if (builtIn === 'view_in_browser_url') return inertLinks(location.origin).view
  if (builtIn === 'broadcast_id' || !contact) return undefined
  if (builtIn) return contact[builtIn] ?? undefined
  const key = [name, propertyOf(name)].find(known => Object.hasOwn(contact.properties, known))
  return key === undefined ? undefined : String(contact.properties[key])
}
