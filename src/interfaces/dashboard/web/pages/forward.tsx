/** Dialog to forward a received message. */
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import type { Inbound } from '../api/types.ts'
import { TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { say } from '../components/feedback.tsx'
import { mailboxesIn } from '../labels/mailboxes.ts'
import { counted } from '../labels/numbers.ts'

interface DialogProps {
  message: Inbound
  onClose: () => void
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
