/** A site gets fewer messages than it would bear. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'
import { counted } from '../labels/numbers.ts'

interface SlowDialogProps {
  site: string
  onClose: () => void
  onDone: () => void
}

const USUAL = '60'

export function SlowDialog({ site, onClose, onDone }: SlowDialogProps) {
  const [most, setMost] = useState(USUAL)
  return (
    <FormDialog
      title={`Slow down mail to ${site}`}
      act="Slow it down"
      onClose={onClose}
      onSubmit={async () => {
        await call('POST', '/destinations/slow', { site, messages_per_minute: Number(most) })
        say(`${site} gets ${counted(Number(most), 'message')} a minute at most.`)
        onDone()
        onClose()
      }}
    >
      {error => (
        <>
          <p class="quiet">
            What waits goes out more slowly, from all of our addresses together, until you end it. None is
            lost.
          </p>
          <TextField
            label="Messages a minute"
            type="number"
            min="1"
            max="60000"
            required
            autofocus
            value={most}
            onValue={setMost}
            fault={error?.of('messages_per_minute')}
          />
        </>
      )}
    </FormDialog>
  )
}
