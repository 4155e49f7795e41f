/** One broadcast: an editor while it is a draft or scheduled, its results once it is being sent. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { type Loaded, useLoad } from '../api/load.ts'
import type { Broadcast } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm, confirmRemoval } from '../components/dialog.tsx'
import { DraftNotice, DraftState } from '../components/draft.tsx'
import { Failure, Note, Pending, say } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { Reschedule } from '../components/reschedule.tsx'
import { Head, Mark, Time } from '../components/show.tsx'
import { BROADCAST_WORDS } from '../labels/broadcasts.ts'
import { BroadcastDraft } from './broadcast-draft.tsx'
import { isBroadcastField, type SaveFailure, useBroadcastEdit } from './broadcast-edit.ts'
import { BroadcastResults } from './broadcast-results.tsx'
import { SendBroadcast, TestBroadcast } from './send-broadcast.tsx'

const LIVE_MS = 1_500
const CALM_MS = 20_000
const FROM = ['/broadcasts', 'Broadcasts'] as const

export function BroadcastPage({ params: { id } }: PageProps) {
  const [everyMs, setEvery] = useState<number>()
  const broadcast = useLoad<Broadcast>(`/broadcasts/${id}`, { everyMs })
  if (!broadcast.data) return <Pending of={broadcast} />
  const { status } = broadcast.data
  const wanted = status === 'draft' ? undefined : status === 'sent' ? CALM_MS : LIVE_MS
  if (wanted !== everyMs) setEvery(wanted)
  const isOpen = status === 'draft' || status === 'scheduled'
  const Page = isOpen ? OpenBroadcast : BegunBroadcast
  return (
    <Page key={broadcast.data.id} broadcast={broadcast.data} put={broadcast.put} reload={broadcast.reload} />
  )
}

interface BroadcastProps extends Pick<Loaded<Broadcast>, 'reload' | 'put'> {
  broadcast: Broadcast
}

/** View of a draft or scheduled broadcast. */
function OpenBroadcast({ broadcast, put, reload }: BroadcastProps) {
  const { id, name, subject, status, scheduled_at } = broadcast
  const [, navigate] = useLocation()
  const [open, setOpen] = useState<Pick<OpenDialogProps, 'what' | 'broadcast'>>()
  const edit = useBroadcastEdit(broadcast, put)
  const { draft, failure, isBusy } = edit
  const [label, tone] = BROADCAST_WORDS[status]
  const close = () => setOpen(undefined)
  const remove = () =>
    confirmDeletion(broadcast, () => {
      draft.discard()
      navigate('/broadcasts')
    })
  const unschedule = () =>
    void call<Broadcast>('POST', `/broadcasts/${id}/cancel`).then(changed => {
      put(changed)
      say('The broadcast is a draft again and will not be sent.')
    })
  const openFor = (what: OpenDialogProps['what']) =>
    edit.afterSaving('Nothing was sent, because the changes could not be saved', saved =>
      setOpen({ what, broadcast: saved }),
    )
  return (
    <>
      <Head
        title={name || subject}
        from={FROM}
        lead={
          <>
            <Mark tone={tone}>{label}</Mark>
            {status === 'scheduled' && (
              <>
                {' '}
                Scheduled for <Time at={scheduled_at} />.
              </>
            )}
          </>
        }
      >
        <DraftState draft={draft} />
        <Button icon="trash" label="Delete broadcast" onClick={remove} />
        <Button disabled={isBusy} onClick={() => openFor('test')}>
          Send test email
        </Button>
        {status === 'scheduled' && (
          <Button icon="clock" disabled={isBusy} onClick={() => openFor('reschedule')}>
            Reschedule …
          </Button>
        )}
        <Button
          kind={status === 'draft' ? 'main' : undefined}
          icon="broadcasts"
          disabled={isBusy}
          onClick={() => openFor('send')}
        >
          {status === 'draft' ? 'Send broadcast …' : 'Send now …'}
        </Button>
      </Head>
      {failure && <NotSaved failure={failure} />}
      <DraftNotice draft={draft} what="broadcast" />
      {status === 'scheduled' && (
        <Note>
          <div class="row row-apart">
            <p>This broadcast is scheduled and goes out as you see it. Unschedule it to edit.</p>
            <Button small onClick={unschedule}>
              Unschedule to edit
            </Button>
          </div>
        </Note>
      )}
      <BroadcastDraft edit={edit} isLocked={status === 'scheduled'} />
      {open && <OpenDialog {...open} put={put} reload={reload} onClose={close} />}
    </>
  )
}

interface OpenDialogProps extends BroadcastProps {
  what: 'test' | 'send' | 'reschedule'
  onClose: () => void
}

/** The dialog that is open over a draft or scheduled broadcast. */
function OpenDialog({ what, broadcast, put, reload, onClose }: OpenDialogProps) {
  const { id, version, scheduled_at } = broadcast
  if (what === 'test') return <TestBroadcast id={id} onClose={onClose} />
  if (what === 'reschedule')
    return (
      <Reschedule
        what="broadcast"
        act="Save new time"
        at={scheduled_at!}
        save={async at =>
          put(await call<Broadcast>('PATCH', `/broadcasts/${id}`, { scheduled_at: at, version }))
        }
        onClose={onClose}
      />
    )
  return (
    <SendBroadcast
      broadcast={broadcast}
      onClose={onClose}
      onChanged={reload}
      onSent={sent => {
        put(sent)
        onClose()
      }}
    />
  )
}

function confirmDeletion(
  { id, name, subject }: Pick<Broadcast, 'id' | 'name' | 'subject'>,
  onDeleted: () => void,
) {
  confirmRemoval('broadcast', {
    name: name || subject,
    path: `/broadcasts/${id}`,
    text: 'The broadcast will be deleted. This cannot be undone.',
    onRemoved: onDeleted,
  })
}

/** Errors of a single field are shown next to the field. */
function NotSaved({ failure: { error, act } }: { failure: SaveFailure }) {
  if (!error.fields.some(({ path }) => isBroadcastField(path))) return <Failure error={error} act={act} />
  return (
    <Note tone="bad" isNews>
      <p>
        <b>{act}.</b> Correct the highlighted field below.
      </p>
    </Note>
  )
}

/** View of a broadcast that is being sent or was sent. */
function BegunBroadcast({ broadcast, put }: BroadcastProps) {
  const { name, subject, status, error, counts } = broadcast
  const [, navigate] = useLocation()
  const [label, tone] = BROADCAST_WORDS[status]
  const isWithoutEmails = Object.values(counts).every(count => count === 0)
  return (
    <>
      <Head title={name || subject} from={FROM} lead={<Mark tone={tone}>{label}</Mark>}>
        {status === 'canceled' && isWithoutEmails && (
          <Button
            icon="trash"
            label="Delete broadcast"
            onClick={() => confirmDeletion(broadcast, () => navigate('/broadcasts'))}
          />
        )}
        <Orders broadcast={broadcast} put={put} />
      </Head>
      {error && (
        <Note tone="bad">
          <p>{error}</p>
        </Note>
      )}
      <BroadcastResults broadcast={broadcast} />
    </>
  )
}

function Orders({ broadcast: { id, status }, put }: Pick<BroadcastProps, 'broadcast' | 'put'>) {
  const order = (what: 'pause' | 'resume', said: string) =>
    void call<Broadcast>('POST', `/broadcasts/${id}/${what}`).then(changed => {
      put(changed)
      say(said)
    })
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
      {status === 'sending' && (
        <Button onClick={() => order('pause', 'The broadcast is paused.')}>Pause broadcast</Button>
      )}
      {status === 'paused' && (
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
