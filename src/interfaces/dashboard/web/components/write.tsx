/** Dialog to compose and send a single email. */
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { signedIn } from '../api/session.ts'
import type { Domain, Installation, List } from '../api/types.ts'
import { AreaField, TextField } from './controls.tsx'
import { FormDialog } from './dialog.tsx'
import { useDraft } from './draft.tsx'
import { Note } from './feedback.tsx'

export function WriteDialog({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation()
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  const installation = useLoad<Installation>('/installation')
  const verified = domains.data?.data.find(({ status }) => status === 'verified')
  const draft = useDraft('email', { from: '', to: '', subject: '', text: '', when: '' })
  const email = draft.value
  const from = email.from || (verified ? `hello@${verified.name}` : 'you@example.com')
  const simulator = installation.data?.simulator_domain ?? ''
  const send = async () => {
    const { id } = await call<{ id: string }>('POST', '/emails', {
      from,
      to: email.to.split(',').map(text => text.trim()),
      subject: email.subject,
      text: email.text,
      ...(email.when && { scheduled_at: new Date(email.when).toISOString() }),
    })
    onClose()
    navigate(`/emails/${id}`)
  }
  return (
    <FormDialog
      title="Send email"
      act={email.when ? 'Schedule email' : 'Send email'}
      wide
      draft={draft}
      onClose={onClose}
      onSubmit={send}
    >
      {error => (
        <>
          {domains.data && !verified && (
            <Note>
              <p>
                You have no verified domain yet, so you can only send to the simulator. Try{' '}
                <code>delivered@{simulator}</code>.
              </p>
            </Note>
          )}
          <TextField label="From" {...draft.field('from')} placeholder={from} fault={error?.of('from')} />
          <TextField
            label="To"
            required
            {...draft.field('to')}
            placeholder={verified ? signedIn().user.email : `delivered@${simulator}`}
            hint="Separate several addresses with commas."
            fault={error?.of('to')}
          />
          <TextField label="Subject" required {...draft.field('subject')} fault={error?.of('subject')} />
          <AreaField
            label="Message"
            rows={7}
            {...draft.field('text')}
            fault={error?.of('text') ?? error?.of('html')}
          />
          <TextField
            label="Send at"
            type="datetime-local"
            {...draft.field('when')}
            hint="Leave empty to send now."
            fault={error?.of('scheduled_at')}
          />
        </>
      )}
    </FormDialog>
  )
}
