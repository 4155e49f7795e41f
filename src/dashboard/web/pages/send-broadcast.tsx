/** A broadcast is tried with a few addresses, and then sent to everybody, now or later. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Audience, Broadcast, Segment } from '../api/types.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Note, say } from '../parts/feedback.tsx'
import { signedIn } from '../shell/session.ts'
import { counted } from '../words/numbers.ts'

interface Lint {
  findings: {
    rule: string
    severity: 'error' | 'warning'
    part: string
    line: number | null
    message: string
  }[]
}

export function TestBroadcast({ id, onClose }: { id: string; onClose: () => void }) {
  const [to, setTo] = useState(signedIn().user.email)
  return (
    <FormDialog
      title="Send a test"
      act="Send the test"
      onClose={onClose}
      onSubmit={async () => {
        await call('POST', `/broadcasts/${id}/test`, { to: to.split(',').map(text => text.trim()) })
        say('The test is on its way.')
        onClose()
      }}
    >
      {error => (
        <TextField
          label="To"
          required
          value={to}
          hint="Up to ten addresses, with commas between them. What was saved last is sent."
          onValue={setTo}
          fault={error?.of('to')}
        />
      )}
    </FormDialog>
  )
}

interface SendProps {
  broadcast: Broadcast
  onClose: () => void
  onSent: (broadcast: Broadcast) => void
}

export function SendBroadcast({ broadcast, onClose, onSent }: SendProps) {
  const [when, setWhen] = useState('')
  const { id, audience_id, segment_id } = broadcast
  const audience = useLoad<Audience>(`/audiences/${audience_id}`)
  const segment = useLoad<Segment>(segment_id && `/audiences/${audience_id}/segments/${segment_id}`)
  const count = segment_id ? segment.data?.contact_count : audience.data?.contact_count
  return (
    <FormDialog
      title="Send it to everybody?"
      act={when ? 'Schedule' : 'Send now'}
      onClose={onClose}
      onSubmit={async () => {
        const scheduled_at = when ? new Date(when).toISOString() : null
        onSent(await call<Broadcast>('POST', `/broadcasts/${id}/send`, { scheduled_at }))
        say(when ? 'It is scheduled.' : 'It is going out.')
      }}
    >
      {error => (
        <>
          <p>
            {count === undefined ? 'Everybody' : counted(count, 'contact')} of{' '}
            <b>{segment.data?.name ?? audience.data?.name}</b>, without those who have unsubscribed or are
            suppressed.
          </p>
          <Findings id={id} />
          <TextField
            label="When, in your time zone"
            type="datetime-local"
            value={when}
            hint="Leave it empty to send now."
            onValue={setWhen}
            fault={error?.of('scheduled_at')}
          />
          {error?.fields
            .filter(({ path }) => path !== 'scheduled_at')
            .map(({ path, message }) => (
              <Note key={path} tone="bad" isNews>
                <p>{message}</p>
              </Note>
            ))}
        </>
      )}
    </FormDialog>
  )
}

/** What would keep it from being read. */
function Findings({ id }: { id: string }) {
  const [lint, setLint] = useState<Lint>()
  const [isAsked, setAsked] = useState(false)
  if (!isAsked) {
    setAsked(true)
    void call<Lint>('POST', `/broadcasts/${id}/lint`).then(setLint)
  }
  if (!lint || lint.findings.length === 0) return null
  return (
    <Note tone="warn">
      <p>
        <b>Before you send it:</b>
      </p>
      {lint.findings.map(({ rule, part, line, message }) => (
        <p key={`${rule} ${part} ${line} ${message}`}>{message}</p>
      ))}
    </Note>
  )
}
