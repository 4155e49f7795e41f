/** Dialog to limit the sending rate to a destination. */
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
      title={`Limit the rate to ${site}`}
      act="Set rate limit"
      onClose={onClose}
      onSubmit={async () => {
        await call('POST', '/destinations/slow', { site, messages_per_minute: Number(most) })
        say(`${site} is limited to ${counted(Number(most), 'message')} per minute.`)
        onDone()
        onClose()
      }}
    >
      {error => (
        <>
          <p class="quiet">
            The limit applies to all source IP addresses together until you remove it. Deliveries wait in the
            queue.
          </p>
          <TextField
            label="Messages per minute"
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
