/** Dialog that changes the time of something scheduled, and nothing else. */
import { useState } from 'preact/hooks'
import { localInput, timeZone } from '../labels/time.ts'
import { TextField } from './controls.tsx'
import { FormDialog } from './dialog.tsx'
import { Note, say } from './feedback.tsx'

interface RescheduleProps {
  what: 'email' | 'broadcast'
  /** Text of the button. */
  act: string
  /** Present time. */
  at: string
  /** Stores the new time. @throws ApiError */
  save(scheduledAt: string): Promise<void>
  onClose: () => void
}

export function Reschedule({ what, act, at, save, onClose }: RescheduleProps) {
  const [when, setWhen] = useState(localInput(at))
  return (
    <FormDialog
      title={`Reschedule ${what}`}
      act={act}
      onClose={onClose}
      onSubmit={async () => {
        await save(new Date(when).toISOString())
        say(`The ${what} was rescheduled.`)
        onClose()
      }}
    >
      {error => (
        <>
          <TextField
            label={`Send at (${timeZone})`}
            type="datetime-local"
            required
            value={when}
            onValue={setWhen}
            fault={error?.of('scheduled_at')}
          />
          {error?.of('version') !== undefined && (
            <Note tone="bad" isNews>
              <p>This {what} was changed elsewhere after you opened it. Reload the page to see it.</p>
            </Note>
          )}
        </>
      )}
    </FormDialog>
  )
}
