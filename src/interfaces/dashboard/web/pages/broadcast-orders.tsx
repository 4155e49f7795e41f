/** Acts on a stored broadcast: duplicate, make a template of it, change its rate, pause, resume, cancel. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { nameOfSubject } from '../../../../pipeline/broadcasts/names.ts'
import { ApiError, call } from '../api/client.ts'
import type { Loaded } from '../api/load.ts'
import type { Broadcast, Template } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm, FormDialog, useAct } from '../components/dialog.tsx'
import { Failure, say } from '../components/feedback.tsx'
import { Rate } from '../components/rate.tsx'
import { progressOf } from '../labels/broadcasts.ts'

interface OrderProps extends Pick<Loaded<Broadcast>, 'put'> {
  broadcast: Broadcast
}

interface DuplicateProps {
  broadcast: Broadcast
  isBusy?: boolean
  /** Saves what is being written, and then copies it. */
  before?: (copy: () => void) => void
}

/** Makes a draft with the stored content for the same audience, and leads to it. */
export function Duplicate({ broadcast: { id }, isBusy = false, before = copy => copy() }: DuplicateProps) {
  const [, navigate] = useLocation()
  const duplicate = useAct(async () => {
    const copy = await call<Broadcast>('POST', `/broadcasts/${id}/duplicate`)
    say('Broadcast duplicated. This is the copy.')
    navigate(`/broadcasts/${copy.id}`)
  })
  return (
    <>
      <Button
        icon="copy"
        disabled={isBusy || duplicate.isBusy}
        onClick={() => before(() => void duplicate.run())}
      >
        Duplicate
      </Button>
      {duplicate.error && <Failure error={duplicate.error} act="The broadcast was not duplicated" />}
    </>
  )
}

interface SaveAsTemplateProps extends Omit<DuplicateProps, 'before'> {
  /** Saves what is being written, and goes on with what is stored then. */
  before?: (save: (saved: Broadcast) => void) => void
}

/** Makes a template with the stored content, and leads to it. */
export function SaveAsTemplate({ broadcast, isBusy = false, before }: SaveAsTemplateProps) {
  const [, navigate] = useLocation()
  const [error, setError] = useState<ApiError>()
  const [isSaving, setSaving] = useState(false)
  const save = async ({ name, subject, html, text }: Broadcast) => {
    setError(undefined)
    setSaving(true)
    try {
      const content = { subject, ...(html !== null && { html }), ...(text !== null && { text }) }
      const template = await call<Template>('POST', '/templates', {
        name: name || nameOfSubject(subject),
        ...content,
      })
      say('Template created. This is the template.')
      navigate(`/templates/${template.id}`)
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      setError(failure)
      setSaving(false)
    }
  }
  return (
    <>
      <Button
        disabled={isBusy || isSaving}
        onClick={() => (before ? before(saved => void save(saved)) : void save(broadcast))}
      >
        Save as template
      </Button>
      {error && <Failure error={error} act="The template was not created" />}
    </>
  )
}

/** Changes the rate of a broadcast that has begun. */
function RateDialog({ broadcast, put, onClose }: OrderProps & { onClose: () => void }) {
  const [rate, setRate] = useState<number | null | undefined>(broadcast.emails_per_hour)
  const progress = progressOf(broadcast)
  return (
    <FormDialog
      title="Change speed"
      act="Save speed"
      disabled={rate === undefined}
      onClose={onClose}
      onSubmit={async () => {
        put(await call<Broadcast>('PATCH', `/broadcasts/${broadcast.id}`, { emails_per_hour: rate ?? 0 }))
        say('The speed was changed.')
        onClose()
      }}
    >
      {error => (
        <Rate
          rate={rate}
          onRate={setRate}
          emails={progress && progress.goal - progress.sent}
          fault={error?.of('emails_per_hour')}
        />
      )}
    </FormDialog>
  )
}

export function Orders({ broadcast, put }: OrderProps) {
  const { id, status } = broadcast
  const [isChanging, setChanging] = useState(false)
  const order = (what: 'pause' | 'resume', said: string) =>
    void call<Broadcast>('POST', `/broadcasts/${id}/${what}`).then(
      changed => {
        put(changed)
        say(said)
      },
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error
        say(error.message, 'warn')
      },
    )
  const stop = () =>
    confirm({
      title: 'Cancel this broadcast?',
      text: 'It will not be sent to the remaining contacts. This cannot be undone.',
      act: 'Cancel broadcast',
      async work() {
        put(await call<Broadcast>('POST', `/broadcasts/${id}/cancel`))
        say('The broadcast was canceled.')
      },
    })
  return (
    <>
      {(status === 'sending' || status === 'paused') && (
        <Button onClick={() => setChanging(true)}>Change speed …</Button>
      )}
      {isChanging && <RateDialog broadcast={broadcast} put={put} onClose={() => setChanging(false)} />}
      {status === 'sending' && (
        <Button onClick={() => order('pause', 'The broadcast is paused.')}>Pause broadcast</Button>
      )}
      {(status === 'paused' || status === 'failed') && (
        <Button kind="main" onClick={() => order('resume', 'The broadcast is being sent.')}>
          Resume broadcast
        </Button>
      )}
      {(status === 'sending' || status === 'paused') && (
        <Button kind="bad" onClick={stop}>
          Cancel broadcast
        </Button>
      )}
    </>
  )
}
