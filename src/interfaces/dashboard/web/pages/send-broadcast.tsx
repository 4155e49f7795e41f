/** Dialogs to send a test of a broadcast, and to review it before it is sent or scheduled. */
import { useEffect, useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { ApiError, call, withQuery } from '../api/client.ts'
import { type Loaded, useLoad } from '../api/load.ts'
import { signedIn } from '../api/session.ts'
import type { Broadcast, BroadcastLint, BroadcastPreview, RecipientPreview } from '../api/types.ts'
import { Choices, TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { Failure, Note, Pending, say } from '../components/feedback.tsx'
import { Rate } from '../components/rate.tsx'
import { RenderedMail } from '../components/rendered.tsx'
import { Facts } from '../components/show.tsx'
import { When } from '../components/when.tsx'
import { attachmentWords, NO_UNSUBSCRIBE_WORDS, untrackedWords } from '../labels/broadcasts.ts'
import { plainWords } from '../labels/faults.ts'
import { linksToOpen, linksWords } from '../labels/links.ts'
import { mailboxesIn } from '../labels/mailboxes.ts'
import { count, counted } from '../labels/numbers.ts'
import { RecipientCount, useAudienceWords, useRecipients, useUntracked } from './broadcast-audience.tsx'
import { formerTime } from './former-time.ts'
import { usePreviewReader } from './preview-reader.tsx'

export function TestBroadcast({ broadcast, onClose }: { broadcast: Broadcast; onClose: () => void }) {
  const [to, setTo] = useState(signedIn().user.email)
  const [isChosen, setChosen] = useState(false)
  const { reader, choice } = usePreviewReader(broadcast)
  return (
    <FormDialog
      title="Send test email"
      act="Send test email"
      onClose={onClose}
      onSubmit={async () => {
        const addresses = mailboxesIn(to)
        const shown = isChosen && reader ? { contact_id: reader.id } : {}
        await call('POST', `/broadcasts/${broadcast.id}/test`, { to: addresses, ...shown })
        say(addresses.length > 1 ? `${addresses.length} test emails were sent.` : 'The test email was sent.')
        onClose()
      }}
    >
      {error => (
        <>
          <TextField
            label="To"
            required
            value={to}
            hint="Up to ten addresses, separated by commas. Unsubscribe links in test emails do not work."
            onValue={setTo}
            fault={error?.of('to')}
          />
          <Choices<'own' | 'chosen'>
            label="Values"
            value={isChosen ? 'chosen' : 'own'}
            options={[
              ['own', 'Of the contact with each address'],
              ['chosen', 'Of a chosen contact'],
            ]}
            onValue={value => setChosen(value === 'chosen')}
          />
          {isChosen && choice}
        </>
      )}
    </FormDialog>
  )
}

interface ReviewProps {
  /** Broadcast as loaded. Only this version is sent. */
  broadcast: Broadcast
  onClose: () => void
  /** Called when the broadcast was changed elsewhere. */
  onChanged: () => void
  onSent: (broadcast: Broadcast) => void
}

/** Rules whose findings make the API refuse the broadcast. */
const REFUSED_RULES: ReadonlySet<string> = new Set([
  'sender_domain',
  'starter_text',
  'unreachable_links',
  'unsupported_tag',
])
/** Time in which sending can be undone. The server keeps the broadcast scheduled as long. */
const UNDO_SECONDS = 30
/** Rule of a broadcast without an unsubscribe link, which needs a reason. */
const NO_LINK = 'missing_unsubscribe'
/** Above this number of recipients, the number has to be typed. */
const TYPED_ABOVE = 10_000

export function ReviewBroadcast({ broadcast, onClose, onChanged, onSent }: ReviewProps) {
  const { id, version, status } = broadcast
  const [when, setWhen] = useState(() => (status === 'scheduled' ? undefined : formerTime(id)))
  const [typed, setTyped] = useState('')
  const [rate, setRate] = useState<number | null | undefined>(broadcast.emails_per_hour)
  const [reason, setReason] = useState(broadcast.no_unsubscribe_reason)
  const recipients = useRecipients(id)
  const { lint, error: lintError } = useLint(id)
  const isRefused = lint?.findings.some(({ rule }) => REFUSED_RULES.has(rule)) ?? false
  const people = recipients.error ? undefined : recipients.data?.recipients
  const isTyped = people === undefined || people <= TYPED_ABOVE || typed.replace(/\D/g, '') === String(people)
  const needsReason = lint?.findings.some(({ rule }) => rule === NO_LINK) ?? false
  const isSaid = lint !== undefined && (!needsReason || reason !== null)
  const isChosen = when !== '' && rate !== undefined
  const isReady = people !== undefined && people > 0 && isTyped && isChosen && isSaid
  const send = async () => {
    const time = when ? { scheduled_at: new Date(when).toISOString() } : { delay_seconds: UNDO_SECONDS }
    const why = needsReason ? { no_unsubscribe_reason: reason } : {}
    try {
      const how = { ...time, ...why, emails_per_hour: rate ?? 0 }
      onSent(await call<Broadcast>('POST', `/broadcasts/${id}/send`, { ...how, version }))
    } catch (error) {
      if (error instanceof ApiError && error.of('version')) onChanged()
      throw error
    }
    say(when ? 'The broadcast is scheduled.' : `You can undo this for ${UNDO_SECONDS} seconds.`)
  }
  return (
    <FormDialog
      title={status === 'scheduled' ? 'Review and send now, before its time' : 'Review and send'}
      act={actWords(people, when !== undefined)}
      wide
      disabled={isRefused || !isReady}
      onClose={onClose}
      onSubmit={send}
    >
      {error => (
        <>
          <Recipients broadcast={broadcast} recipients={recipients} />
          <Words broadcast={broadcast} />
          {lintError && <Failure error={lintError} act="The broadcast could not be checked" />}
          {lint && <Findings findings={lint.findings} isRefused={isRefused} />}
          <NotCounted from={broadcast.from} />
          {needsReason && <WithoutLink reason={reason} onReason={setReason} />}
          <AsReceived broadcast={broadcast} />
          {lint && <Links links={lint.links} />}
          {status !== 'scheduled' && <When when={when} onWhen={setWhen} fault={error?.of('scheduled_at')} />}
          <Rate rate={rate} onRate={setRate} emails={people} fault={error?.of('emails_per_hour')} />
          {people !== undefined && people > TYPED_ABOVE && (
            <TextField
              label={`Type ${count(people)} to confirm the number of recipients`}
              inputMode="numeric"
              autocomplete="off"
              value={typed}
              onValue={setTyped}
              fault={typed !== '' && !isTyped ? `This is not ${count(people)}.` : undefined}
            />
          )}
          {error?.fields
            .filter(({ path }) => error.of(path) && !BESIDE_FIELDS.has(path))
            .map(({ path, message }) => (
              <Note key={path} tone="bad" isNews>
                <p>{path === 'version' ? CHANGED : plainWords(message)}</p>
              </Note>
            ))}
        </>
      )}
    </FormDialog>
  )
}

/** Fields of the dialog that show their own errors. */
const BESIDE_FIELDS: ReadonlySet<string> = new Set(['scheduled_at', 'emails_per_hour'])

const CHANGED =
  'Nothing was sent: this broadcast was changed elsewhere after you opened it. Close this dialog, review the new version, and send again.'

function actWords(people: number | undefined, isLater: boolean): string {
  if (people === undefined) return isLater ? 'Schedule broadcast' : 'Send broadcast'
  return `${isLater ? 'Schedule for' : 'Send to'} ${counted(people, 'person', 'people')}`
}

interface RecipientsProps {
  broadcast: Broadcast
  recipients: Loaded<RecipientPreview>
}

function Recipients({ broadcast, recipients }: RecipientsProps) {
  const { to, topic } = useAudienceWords(broadcast)
  return (
    <section aria-label="Recipients" class="stack stack-tight">
      <h3>Recipients</h3>
      <p class="quiet">
        {to}
        {topic && ` · Topic: ${topic}`}
      </p>
      <RecipientCount recipients={recipients} />
    </section>
  )
}

function Words({ broadcast }: Pick<ReviewProps, 'broadcast'>) {
  const { from, reply_to, subject, preview_text, attachments } = broadcast
  return (
    <Facts
      rows={[
        ['From', from],
        reply_to.length > 0 && ['Reply to', reply_to.join(', ')],
        ['Subject', <bdi key="subject">{subject}</bdi>],
        ['Preview text', preview_text ? <bdi key="preview">{preview_text}</bdi> : 'None'],
        attachments.length > 0 && ['Attachments', <bdi key="files">{attachmentWords(attachments)}</bdi>],
      ]}
    />
  )
}

/** Says before sending which results there will not be. */
function NotCounted({ from }: Pick<Broadcast, 'from'>) {
  const untracked = useUntracked(from)
  if (!untracked) return null
  const { id, name } = untracked.domain
  return (
    <p class="quiet">
      {untrackedWords(untracked)} are not counted for <Link href={`/domains/${id}`}>{name}</Link>.
    </p>
  )
}

/** The email as one recipient gets it, rendered by the server from what is stored. */
function AsReceived({ broadcast }: Pick<ReviewProps, 'broadcast'>) {
  const { contacts, reader, choice } = usePreviewReader(broadcast)
  const preview = useLoad<BroadcastPreview>(
    contacts.data ? withQuery(`/broadcasts/${broadcast.id}/preview`, { contact_id: reader?.id }) : null,
  )
  return (
    <section aria-label="Content" class="stack stack-tight">
      <h3>Content</h3>
      {choice}
      {preview.data ? (
        <RenderedMail
          rendered={{ ok: true, ...preview.data }}
          hasNoText={preview.data.text === null}
          label="Email for the chosen contact"
        />
      ) : (
        <Pending of={preview} />
      )}
    </section>
  )
}

function Links({ links: all }: Pick<BroadcastLint, 'links'>) {
  const links = linksToOpen(all)
  if (all.length === 0) return <p class="quiet">The email has no links.</p>
  if (links.length === 0) return <p class="quiet">The email has no links to open.</p>
  return (
    <details>
      <summary>{linksWords(links)}</summary>
      <ul class="stack stack-tight">
        {links.map(({ url, line, message }) => (
          <li key={`${line} ${url}`}>
            <span class="mono">{url}</span>{' '}
            {message ? <b>{message}</b> : <span class="quiet">not opened</span>}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** Checks the stored broadcast once, when the dialog opens. */
function useLint(id: string): { lint: BroadcastLint | undefined; error: ApiError | undefined } {
  const [found, setFound] = useState<ReturnType<typeof useLint>>({ lint: undefined, error: undefined })
  useEffect(() => {
    call<BroadcastLint>('POST', `/broadcasts/${id}/lint`).then(
      lint => setFound({ lint, error: undefined }),
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error
        setFound({ lint: undefined, error })
      },
    )
  }, [id])
  return found
}

interface FindingsProps extends Pick<BroadcastLint, 'findings'> {
  isRefused: boolean
}

interface WithoutLinkProps {
  reason: Broadcast['no_unsubscribe_reason']
  onReason: (reason: Broadcast['no_unsubscribe_reason']) => void
}

/** Asks why the content has no unsubscribe link. */
function WithoutLink({ reason, onReason }: WithoutLinkProps) {
  return (
    <Note tone="warn">
      <fieldset class="stack stack-tight">
        <legend>
          <b>There is no unsubscribe link.</b> Add {'{{unsubscribe_url}}'}, or say why it is not needed:
        </legend>
        {Object.entries(NO_UNSUBSCRIBE_WORDS).map(([value, [label, meaning]]) => (
          <label key={value}>
            <input
              type="radio"
              name="no-unsubscribe-reason"
              checked={reason === value}
              onChange={() => onReason(value as WithoutLinkProps['reason'])}
            />{' '}
            <b>{label}</b>: {meaning}
          </label>
        ))}
      </fieldset>
    </Note>
  )
}

/** Lint warnings, and errors that prevent sending. */
function Findings({ findings, isRefused }: FindingsProps) {
  const shown = findings.filter(({ rule }) => rule !== NO_LINK)
  if (shown.length === 0) return null
  return (
    <Note tone={isRefused ? 'bad' : 'warn'}>
      <p>
        <b>{isRefused ? 'This broadcast cannot be sent yet:' : 'Before you send it:'}</b>
      </p>
      {shown.map(({ rule, part, line, message }) => (
        <p key={`${rule} ${part} ${line} ${message}`}>
          {plainWords(message)} {rule === 'sender_domain' && <Link href="/domains">View domains</Link>}
        </p>
      ))}
    </Note>
  )
}
