/** The mode of the service: a note on every page while it is not normal, and the dialog to switch it. */
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { isOperator } from '../api/session.ts'
import type { Installation, ServiceMode } from '../api/types.ts'
import { counted } from '../labels/numbers.ts'
import { Button, Choose, TextField } from './controls.tsx'
import { FormDialog, useAct } from './dialog.tsx'
import { Failure, Note } from './feedback.tsx'

type Mode = ServiceMode['mode']

const PATH = '/installation/mode'
const CALM_MS = 30_000
const LIVE_MS = 3_000
/** Counts switches, after which the note reads the mode again. */
const switches = signal(0)

const TEXTS: Record<Mode, string> = {
  normal: '',
  draining: 'The service is draining: queued email is delivered, and no new email is accepted.',
  'read-only': 'The service is read-only: changes are refused, and nothing is sent.',
}

async function switchMode(mode: Mode, reason?: string): Promise<void> {
  await call('PUT', PATH, { mode, ...(reason && { reason }) })
  switches.value++
}

/** Shows nothing in the normal mode. */
export function ServiceModeNote() {
  const { data, reload } = useLoad<Installation>('/installation', { everyMs: CALM_MS })
  useEffect(() => {
    if (switches.value > 0) reload()
  }, [switches.value])
  const mode = data?.mode ?? 'normal'
  const report = useLoad<ServiceMode>(mode !== 'normal' && isOperator() ? PATH : null, { everyMs: LIVE_MS })
  const { error, isBusy, run } = useAct(() => switchMode('normal'))
  if (mode === 'normal') return null
  return (
    <Note tone="warn" isNews>
      <p>
        <b>{TEXTS[mode]}</b> {report.data?.reason}
      </p>
      {report.data && <p>{leftWords(report.data.left)}</p>}
      {isOperator() && (
        <Button small disabled={isBusy} onClick={() => void run()}>
          Return to normal mode
        </Button>
      )}
      {error && <Failure error={error} act="The mode was not switched" />}
    </Note>
  )
}

function leftWords({
  queued,
  deferred,
  in_progress,
  held,
  scheduled_emails,
  broadcasts,
}: ServiceMode['left']) {
  const waiting = queued + deferred + in_progress
  return `Left: ${counted(waiting, 'delivery', 'deliveries')}, ${held} held, ${counted(scheduled_emails, 'scheduled email')}, ${counted(broadcasts, 'broadcast')}.`
}

/** Switches to a mode for maintenance. */
export function ServiceModeDialog({ onClose }: { onClose: () => void }) {
  const [mode, setMode] = useState<Mode>('draining')
  const [reason, setReason] = useState('')
  return (
    <FormDialog
      title="Maintenance mode"
      act="Switch mode"
      bad
      onClose={onClose}
      onSubmit={async () => {
        await switchMode(mode, reason)
        onClose()
      }}
    >
      {error => (
        <>
          <Choose
            label="Mode"
            value={mode}
            onValue={value => setMode(value as Mode)}
            options={[
              ['draining', 'Draining: deliver what is queued'],
              ['read-only', 'Read-only: change and send nothing'],
            ]}
            hint={TEXTS[mode]}
            fault={error?.of('mode')}
          />
          <TextField
            label="Reason (optional)"
            value={reason}
            onValue={setReason}
            hint="Operators see it on every page."
            fault={error?.of('reason')}
          />
        </>
      )}
    </FormDialog>
  )
}
