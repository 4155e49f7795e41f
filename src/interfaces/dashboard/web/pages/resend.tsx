/** Resends an email to selected recipients as a new email. */
import { useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { call, send, withQuery } from '../api/client.ts'
import { base64Of } from '../api/files.ts'
import type { Email, List, Recipient } from '../api/types.ts'
import { FormDialog } from '../components/dialog.tsx'
import { Note, say } from '../components/feedback.tsx'
import { Mark } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'
import { EMAIL_WORDS, SUPPRESSION_REASONS } from '../labels/status.ts'

/** Header fields that would make the copy look like the same message. */
const OWN_TO_A_MESSAGE = new Set(['message-id', 'date'])

export function ResendDialog({ email, onClose }: { email: Email; onClose: () => void }) {
  const [, navigate] = useLocation()
  const [chosen, setChosen] = useState(() => initialChoice(email))
  const sendable = email.recipients.filter(isSendable)
  const recipients = new Set(sendable.map(({ address }) => address)).intersection(chosen)
  const toggle = (address: string) => {
    const next = new Set(chosen)
    if (!next.delete(address)) next.add(address)
    setChosen(next)
  }
  return (
    <FormDialog
      title="Resend email"
      act="Resend email"
      disabled={recipients.size === 0}
      onClose={onClose}
      onSubmit={async () => {
        const { id } = await call<{ id: string }>('POST', '/emails', await copyOf(email, recipients))
        onClose()
        sayResent(await call<Email>('GET', `/emails/${id}`))
        navigate(`/emails/${id}`)
      }}
    >
      {() => (
        <>
          <p>The message is sent as a new email. Select its recipients.</p>
          <fieldset class="stack stack-tight">
            <legend class="unseen">Recipients</legend>
            {email.recipients.map(recipient => (
              <Choice
                key={recipient.address}
                recipient={recipient}
                isChosen={recipients.has(recipient.address)}
                onToggle={() => toggle(recipient.address)}
              />
            ))}
          </fieldset>
          {sendable.length < email.recipients.length && (
            <Note tone="warn">
              <p>
                {sendable.length === 0 && 'Every recipient is suppressed, so nothing can be sent. '}
                Suppressed addresses receive nothing until you remove them from the suppression list.
              </p>
            </Note>
          )}
        </>
      )}
    </FormDialog>
  )
}

/** Selects the recipients who have not got the email, or all if it was delivered to everybody. */
function initialChoice({ recipients }: Email): Set<string> {
  const lost = recipients.filter(({ status }) => status !== 'delivered')
  return new Set((lost.length > 0 ? lost : recipients).map(({ address }) => address))
}

function isSendable({ suppression }: Recipient): boolean {
  return suppression === null
}

interface ChoiceProps {
  recipient: Recipient
  isChosen: boolean
  onToggle: () => void
}

function Choice({ recipient, isChosen, onToggle }: ChoiceProps) {
  const { address, status, suppression } = recipient
  return (
    <div class="row row-apart">
      <label class="check grow">
        <input type="checkbox" checked={isChosen} disabled={suppression !== null} onChange={onToggle} />
        <span class="grow">{address}</span>
        <Mark tone={EMAIL_WORDS[status].tone}>{EMAIL_WORDS[status].label}</Mark>
      </label>
      {suppression && (
        <span>
          Suppressed:{' '}
          <Link href={withQuery('/suppressions', { q: address })}>
            {SUPPRESSION_REASONS[suppression.reason][0]}
          </Link>
        </span>
      )}
    </div>
  )
}

/** Tells the result. An address can have been suppressed since the dialog was opened. */
function sayResent({ recipients }: Email): void {
  const refused = recipients.filter(({ status }) => status === 'suppressed').length
  if (refused === 0) say('Resent as a new email.')
  else if (refused === recipients.length) say('Not sent: every recipient is suppressed.', 'warn')
  else say(`Resent as a new email, but not to ${counted(refused, 'suppressed recipient')}.`, 'warn')
}

async function copyOf(email: Email, chosen: ReadonlySet<string>) {
  const of = (kind: Recipient['kind'], mailboxes: readonly string[]) => {
    const addresses = email.recipients
      .filter(recipient => recipient.kind === kind && chosen.has(recipient.address))
      .map(({ address }) => address)
    return addresses.map(address => mailboxes.find(text => text.includes(address)) ?? address)
  }
  const [to, cc, bcc] = [of('to', email.to), of('cc', email.cc), of('bcc', email.bcc)]
  const headers = Object.entries(email.headers).filter(([name]) => !OWN_TO_A_MESSAGE.has(name.toLowerCase()))
  return {
    from: email.from,
    to: to.length > 0 ? to : (cc.splice(0).concat(bcc.splice(0)) as string[]),
    cc,
    bcc,
    reply_to: email.reply_to,
    subject: email.subject,
    html: email.html,
    text: email.text,
    headers: Object.fromEntries(headers),
    tags: email.tags,
    ...(email.topic_id !== null && { topic_id: email.topic_id }),
    attachments: await attachmentsOf(email),
  }
}

async function attachmentsOf({ id, attachments }: Email) {
  if (attachments.length === 0) return []
  const { data } = await call<List<{ id: string; download_url: string }>>('GET', `/emails/${id}/attachments`)
  return Promise.all(
    attachments.map(async ({ id: attachmentId, filename, content_type, content_id }) => {
      const { pathname, search } = new URL(data.find(one => one.id === attachmentId)!.download_url)
      const reply = await send('GET', pathname + search)
      const content = await base64Of(reply)
      return { filename, content, content_type, ...(content_id !== null && { content_id }) }
    }),
  )
}
