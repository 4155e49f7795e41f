/** Dialog to reschedule a scheduled email. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Email } from '../api/types.ts'
import { TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'

export function ScheduleDialog({ email, onClose }: { email: Email; onClose: () => void }) {
  const [when, setWhen] = useState(localInput(email.scheduled_at!))
  return (
    <FormDialog
      title="Reschedule email"
      act="Reschedule email"
      onClose={onClose}
      onSubmit={async () => {
        await call('PATCH', `/emails/${email.id}`, { scheduled_at: new Date(when).toISOString() })
        say('The email was rescheduled.')
        onClose()
      }}
    >
      {error => (
        <TextField
          label="Send at (your time zone)"
          type="datetime-local"
          required
          value={when}
          onValue={setWhen}
          fault={error?.of('scheduled_at')}
        />
      )}
    </FormDialog>
  )
}

/** Formats a local time without a zone for an `input` of type `datetime-local`. */
function localInput(iso: string): string {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
