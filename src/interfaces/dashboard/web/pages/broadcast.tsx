/** One broadcast: an editor while it is a draft or scheduled, its results once it is being sent. */
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { ApiError, call } from '../api/client.ts'
import { type Loaded, useLoad } from '../api/load.ts'
import { signedIn } from '../api/session.ts'
import type { Broadcast } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirmRemoval } from '../components/dialog.tsx'
import { Failure, Note, Pending, say } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { Reschedule } from '../components/reschedule.tsx'
import { Head, Mark, Time } from '../components/show.tsx'
import { BROADCAST_WORDS, NO_UNSUBSCRIBE_WORDS, titleOf } from '../labels/broadcasts.ts'
import { counted } from '../labels/numbers.ts'
import { fullTime, onDayAtTime, timeZone } from '../labels/time.ts'
import { BroadcastDraft } from './broadcast-draft.tsx'
import { type BroadcastEdit, isBroadcastField, type SaveFailure, useBroadcastEdit } from './broadcast-edit.ts'
import { Duplicate, Orders, SaveAsTemplate } from './broadcast-orders.tsx'
import { BroadcastResults } from './broadcast-results.tsx'
import { keepFormerTime } from './former-time.ts'
import { ReviewBroadcast, TestBroadcast } from './send-broadcast.tsx'

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
  const { id, status, scheduled_at, undo_until } = broadcast
  const [, navigate] = useLocation()
  const [open, setOpen] = useState<Pick<OpenDialogProps, 'what' | 'broadcast'>>()
  const edit = useBroadcastEdit(broadcast, put)
  const { draft, failure, isSaving } = edit
  const [label, tone] = BROADCAST_WORDS[status]
  const close = () => setOpen(undefined)
  const remove = () =>
    confirmDeletion(broadcast, () => {
      draft.discard()
      navigate('/broadcasts')
    })
  const isUndoable = undo_until !== null
  const unschedule = async () => {
    try {
      const draft = await call<Broadcast>('POST', `/broadcasts/${id}/unschedule`)
      if (scheduled_at !== null && !isUndoable) keepFormerTime(id, scheduled_at)
      put(draft)
      say('The broadcast is a draft again and will not be sent.')
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      say(error.status === 422 ? 'Sending has already begun.' : error.message, 'warn')
      reload()
    }
  }
  const openFor = (what: OpenDialogProps['what']) =>
    edit.afterSaving('Nothing was sent, because the changes could not be saved', saved =>
      setOpen({ what, broadcast: saved }),
    )
  return (
    <>
      <Head
        title={titleOf(broadcast)}
        from={FROM}
        lead={
          <>
            <Mark tone={tone}>{label}</Mark>
            {status === 'scheduled' && (
              <>
                {' '}
                It will be sent{' '}
                <time dateTime={scheduled_at!} title={fullTime(scheduled_at!)}>
                  {onDayAtTime(scheduled_at!)}
                </time>{' '}
                ({timeZone}).
              </>
            )}
          </>
        }
      >
        {status === 'draft' && <SaveState broadcast={broadcast} edit={edit} />}
        <Button icon="trash" label="Delete broadcast" onClick={remove} />
        <Duplicate
          broadcast={broadcast}
          isBusy={isSaving}
          before={copy =>
            edit.afterSaving('Nothing was duplicated, because the changes could not be saved', copy)
          }
        />
        <SaveAsTemplate
          broadcast={broadcast}
          isBusy={isSaving}
          before={save =>
            edit.afterSaving('No template was created, because the changes could not be saved', save)
          }
        />
        <Button disabled={isSaving} onClick={() => openFor('test')}>
          Send test email
        </Button>
        {status === 'scheduled' && !isUndoable && (
          <Button icon="clock" disabled={isSaving} onClick={() => openFor('reschedule')}>
            Reschedule …
          </Button>
        )}
        {!isUndoable && (
          <Button
            kind={status === 'draft' ? 'main' : undefined}
            icon="broadcasts"
            disabled={isSaving}
            onClick={() => openFor('send')}
          >
            {status === 'draft' ? 'Review and send …' : 'Send now …'}
          </Button>
        )}
      </Head>
      {failure?.act && <NotSaved failure={failure} act={failure.act} />}
      {status === 'draft' && draft.isOutdated && <Conflict broadcast={broadcast} edit={edit} />}
      {undo_until !== null && <Undo until={undo_until} since={broadcast.updated_at} undo={unschedule} />}
      {status === 'scheduled' && !isUndoable && (
        <Locked broadcast={broadcast} edit={edit} unschedule={unschedule} />
      )}
      <BroadcastDraft broadcast={broadcast} edit={edit} isLocked={status === 'scheduled'} />
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
  if (what === 'test') return <TestBroadcast broadcast={broadcast} onClose={onClose} />
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
    <ReviewBroadcast
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

interface EditProps {
  broadcast: Broadcast
  edit: BroadcastEdit
}

/** Tells whether what is on the screen is on the server. */
function SaveState({ broadcast, edit }: EditProps) {
  const { draft, failure, isSaving, discard } = edit
  const { updated_at, updated_by } = broadcast
  const isByOther = updated_by !== null && updated_by !== signedIn().user.email
  if (draft.isOutdated) return <Mark tone="warn">Not saved: changed elsewhere</Mark>
  return (
    <span class="row" role="status">
      {failure && !isSaving ? (
        <>
          <Mark tone="bad">Not saved: {reasonOf(failure)}</Mark>
          <Button small kind="plain" onClick={discard}>
            Discard changes
          </Button>
        </>
      ) : draft.isChanged || isSaving ? (
        <span class="quiet">Saving …</span>
      ) : (
        <span class="quiet">
          Saved <Time at={updated_at} />
          {isByOther && ` by ${updated_by}`}
        </span>
      )}
    </span>
  )
}

/** Errors of a single field are shown next to the field. */
function reasonOf({ error }: SaveFailure): string {
  if (isOfField(error)) return 'correct the highlighted field'
  return error.message || 'an unexpected error occurred'
}

function isOfField({ fields }: ApiError): boolean {
  return fields.some(({ path }) => isBroadcastField(path))
}

/** Choice between the text on the screen and the one that somebody else has saved meanwhile. */
function Conflict({ broadcast: { updated_at, updated_by }, edit }: EditProps) {
  const who =
    updated_by === signedIn().user.email ? 'You, in another window,' : (updated_by ?? 'Somebody else')
  return (
    <div class="conflict">
      <Note tone="warn" isNews>
        <p>
          <b>
            {who} changed this broadcast at <Time at={updated_at} />, while you were editing it.
          </b>{' '}
          Your text is kept in this browser and is not saved. Which one should stay?
        </p>
        <div class="row">
          <Button small disabled={edit.isSaving} onClick={edit.keepMine}>
            Keep my text
          </Button>
          <Button small disabled={edit.isSaving} onClick={edit.discard}>
            Use the other text
          </Button>
        </div>
      </Note>
    </div>
  )
}

interface UndoProps {
  until: string
  /** Limits the time left, since the clock of the browser may be wrong. */
  since: string
  undo: () => void
}

/** Counts the seconds until sending begins, and offers to undo it. */
function Undo({ until, since, undo }: UndoProps) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const end = Date.parse(until)
  const seconds = Math.ceil(Math.min(end - now, end - Date.parse(since)) / 1_000)
  return (
    <Note tone="warn">
      <div class="row row-apart">
        <p>
          <b>{seconds > 0 ? `Sending in ${counted(seconds, 'second')}.` : 'Sending begins.'}</b>
        </p>
        <Button kind="main" onClick={undo}>
          Undo
        </Button>
      </div>
    </Note>
  )
}

/** Tells what a scheduled broadcast sends, which is not what this browser may still hold. */
function Locked({ broadcast, edit, unschedule }: EditProps & { unschedule: () => void }) {
  const { draft, discard } = edit
  const reason = broadcast.no_unsubscribe_reason
  return (
    <Note tone={draft.isChanged ? 'warn' : 'info'}>
      <div class="row row-apart">
        <p>
          This broadcast is scheduled and goes out as you see it. Unschedule it to edit.
          {reason && <> Without an unsubscribe link: {NO_UNSUBSCRIBE_WORDS[reason][0].toLowerCase()}.</>}
        </p>
        <Button small onClick={unschedule}>
          Unschedule to edit
        </Button>
      </div>
      {draft.isChanged && (
        <div class="row row-apart">
          <p>
            <b>This browser holds changes that will not be sent.</b> They were not saved before the broadcast
            was scheduled
            {draft.restoredAt && (
              <>
                {' '}
                (<Time at={draft.restoredAt} />)
              </>
            )}
            . Unschedule to continue with them.
          </p>
          <Button small onClick={discard}>
            Discard changes
          </Button>
        </div>
      )}
    </Note>
  )
}

function NotSaved({ failure: { error }, act }: { failure: SaveFailure; act: string }) {
  if (!isOfField(error)) return <Failure error={error} act={act} />
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
  const { status, error, counts } = broadcast
  const [, navigate] = useLocation()
  const [label, tone] = BROADCAST_WORDS[status]
  const isWithoutEmails = Object.values(counts).every(count => count === 0)
  return (
    <>
      <Head title={titleOf(broadcast)} from={FROM} lead={<Mark tone={tone}>{label}</Mark>}>
        {status === 'canceled' && isWithoutEmails && (
          <Button
            icon="trash"
            label="Delete broadcast"
            onClick={() => confirmDeletion(broadcast, () => navigate('/broadcasts'))}
          />
        )}
        <Duplicate broadcast={broadcast} />
        <SaveAsTemplate broadcast={broadcast} />
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
