/** Dialogs to send a test of a broadcast, and to send or schedule it. */
import { useEffect, useState } from 'preact/hooks'
import { ApiError, call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { signedIn } from '../api/session.ts'
import type { Audience, Broadcast, Segment } from '../api/types.ts'
import { TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { Failure, Note, say } from '../components/feedback.tsx'
import { counted } from '../labels/numbers.ts'

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
      title="Send test email"
      act="Send test email"
      onClose={onClose}
      onSubmit={async () => {
        await call('POST', `/broadcasts/${id}/test`, { to: to.split(',').map(text => text.trim()) })
        say('The test email was sent.')
        onClose()
      }}
    >
      {error => (
        <TextField
          label="To"
          required
          value={to}
          hint="Up to ten addresses, separated by commas. The unsubscribe link of a test email is #unsubscribe: it unsubscribes nobody."
          onValue={setTo}
          fault={error?.of('to')}
        />
      )}
    </FormDialog>
  )
}

interface SendProps {
  /** Broadcast as loaded. Only this version is sent. */
  broadcast: Broadcast
  onClose: () => void
  /** Called when the broadcast was changed elsewhere. */
  onChanged: () => void
  onSent: (broadcast: Broadcast) => void
}

/** Rules whose findings make the API refuse the broadcast. */
const REFUSED_RULES: ReadonlySet<string> = new Set(['starter_text', 'unreachable_links', 'unsupported_tag'])

export function SendBroadcast({ broadcast, onClose, onChanged, onSent }: SendProps) {
  const [when, setWhen] = useState('')
  const { id, version, audience_id, segment_id, subject, from, status } = broadcast
  const isScheduled = status === 'scheduled'
  const audience = useLoad<Audience>(`/audiences/${audience_id}`)
  const segment = useLoad<Segment>(segment_id && `/audiences/${audience_id}/segments/${segment_id}`)
  const lint = useLint(id)
  const isRefused = lint.findings.some(({ rule }) => REFUSED_RULES.has(rule))
  const count = segment_id ? segment.data?.contact_count : audience.data?.contact_count
  const send = async () => {
    const scheduled_at = when ? new Date(when).toISOString() : null
    try {
      onSent(await call<Broadcast>('POST', `/broadcasts/${id}/send`, { scheduled_at, version }))
    } catch (error) {
      if (error instanceof ApiError && error.of('version')) onChanged()
      throw error
    }
    say(when ? 'The broadcast is scheduled.' : 'The broadcast is being sent.')
  }
  return (
    <FormDialog
      title={isScheduled ? 'Send this broadcast now, before its time?' : 'Send this broadcast?'}
      act={when ? 'Schedule broadcast' : isScheduled ? 'Send broadcast now' : 'Send broadcast'}
      disabled={isRefused}
      onClose={onClose}
      onSubmit={send}
    >
      {error => (
        <>
          <p>
            {count === undefined ? 'All contacts' : counted(count, 'contact')} of{' '}
            <b>{segment.data?.name ?? audience.data?.name}</b>, except unsubscribed and suppressed contacts.
          </p>
          <p class="quiet">
            Subject: <b>{subject}</b>. From: {from}.
          </p>
          <Findings lint={lint} isRefused={isRefused} />
          {!isScheduled && (
            <TextField
              label="Send at (your time zone)"
              type="datetime-local"
              value={when}
              hint="Leave empty to send now."
              onValue={setWhen}
              fault={error?.of('scheduled_at')}
            />
          )}
          {error?.fields
            .filter(({ path }) => path !== 'scheduled_at')
            .map(({ path, message }) => (
              <Note key={path} tone="bad" isNews>
                <p>{path === 'version' ? CHANGED : message}</p>
              </Note>
            ))}
        </>
      )}
    </FormDialog>
  )
}

const CHANGED =
  'Nothing was sent: this broadcast was changed elsewhere after you opened it. Close this dialog, review the new version, and send again.'

/** Checks the stored broadcast once, when the dialog opens. */
function useLint(id: string): { findings: Lint['findings']; error: ApiError | undefined } {
  const [found, setFound] = useState<{ findings: Lint['findings']; error: ApiError | undefined }>({
    findings: [],
    error: undefined,
  })
  useEffect(() => {
    call<Lint>('POST', `/broadcasts/${id}/lint`).then(
      ({ findings }) => setFound({ findings, error: undefined }),
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error
        setFound({ findings: [], error })
      },
    )
  }, [id])
  return found
}

/** Lint warnings, and errors that prevent sending. */
function Findings({
  lint: { findings, error },
  isRefused,
}: {
  lint: ReturnType<typeof useLint>
  isRefused: boolean
}) {
  if (error) return <Failure error={error} act="The broadcast could not be checked" />
  if (findings.length === 0) return null
  return (
    <Note tone={isRefused ? 'bad' : 'warn'}>
      <p>
        <b>{isRefused ? 'This broadcast cannot be sent yet:' : 'Before you send it:'}</b>
      </p>
      {findings.map(({ rule, part, line, message }) => (
        <p key={`${rule} ${part} ${line} ${message}`}>{message}</p>
      ))}
    </Note>
  )
}
