/** Dialogs to reply to a received message and to forward it. */
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import type { Inbound } from '../api/types.ts'
import { AreaField, TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { say } from '../components/feedback.tsx'
import { mailboxesIn } from '../labels/mailboxes.ts'
import { counted } from '../labels/numbers.ts'

interface DialogProps {
  message: Inbound
  onClose: () => void
}

/** Sends a reply in the thread of the message (RFC 5322 §3.6.4). */
export function AnswerDialog({ message, onClose }: DialogProps) {
  const [, navigate] = useLocation()
  const draft = useDraft(`answer.${message.id}`, {
    from: message.received_for[0] ?? '',
    to: message.reply_to[0] ?? message.from,
    subject: /^re:/i.test(message.subject) ? message.subject : `Re: ${message.subject}`,
    text: '',
  })
  const thread = [...(message.headers.references ?? []), message.message_id ?? ''].join(' ').trim()
  return (
    <FormDialog
      title="Reply"
      act="Send reply"
      wide
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        const { id } = await call<{ id: string }>('POST', '/emails', {
          ...draft.value,
          ...(message.message_id && {
            headers: { 'In-Reply-To': message.message_id, References: thread.replace(/\s+/g, ' ') },
          }),
        })
        say('Your reply was sent.')
        navigate(`/emails/${id}`)
      }}
    >
      {error => (
        <>
          <TextField label="From" required {...draft.field('from')} fault={error?.of('from')} />
          <TextField label="To" required {...draft.field('to')} fault={error?.of('to')} />
          <TextField label="Subject" required {...draft.field('subject')} fault={error?.of('subject')} />
          <AreaField
            label="Message"
            rows={9}
            {...draft.field('text')}
            fault={error?.of('text') ?? error?.of('html')}
          />
        </>
      )}
    </FormDialog>
  )
}

/** Forwards the message with its attachments as a new email. */
export function ForwardDialog({ message, onClose }: DialogProps) {
  const [, navigate] = useLocation()
  const draft = useDraft(`forward.${message.id}`, { from: message.received_for[0] ?? '', to: '' })
  const { from, to } = draft.value
  const fileCount = message.attachments.length
  return (
    <FormDialog
      title="Forward message"
      act="Forward message"
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        const { id } = await call<{ id: string }>('POST', `/inbound/${message.id}/forward`, {
          from,
          to: mailboxesIn(to),
        })
        say('The message was forwarded.')
        navigate(`/emails/${id}`)
      }}
    >
      {error => (
        <>
          <p class="quiet">
            {fileCount > 0
              ? `The message is forwarded with ${counted(fileCount, 'attachment')}.`
              : 'The message is forwarded unchanged.'}{' '}
            Replies go to the From address.
          </p>
          <TextField label="From" required {...draft.field('from')} fault={error?.of('from')} />
          <TextField
            label="To"
            required
            autofocus
            {...draft.field('to')}
            hint="Separate several addresses with commas."
            fault={error?.of('to')}
          />
        </>
      )}
    </FormDialog>
  )
}
