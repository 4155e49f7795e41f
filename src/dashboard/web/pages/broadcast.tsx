/** One broadcast: written while it is a draft, watched once it goes out. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Broadcast } from '../api/types.ts'
import { Button } from '../parts/controls.tsx'
import { confirm } from '../parts/dialog.tsx'
import { Failure, Note, say, Waiting } from '../parts/feedback.tsx'
import { Head, Mark, Time } from '../parts/show.tsx'
import type { PageProps } from '../shell/page.ts'
import { BROADCAST_WORDS } from '../words/broadcasts.ts'
import { BroadcastDraft } from './broadcast-draft.tsx'
import { BroadcastResults } from './broadcast-results.tsx'
import { SendBroadcast, TestBroadcast } from './send-broadcast.tsx'

const LIVE_MS = 1_500
const CALM_MS = 20_000

export function BroadcastPage({ params: { id } }: PageProps) {
  const [everyMs, setEvery] = useState<number>()
  const broadcast = useLoad<Broadcast>(`/broadcasts/${id}`, { everyMs })
  if (!broadcast.data)
    return broadcast.error ? <Failure error={broadcast.error} retry={broadcast.reload} /> : <Waiting />
  const { status, name, subject, scheduled_at, error } = broadcast.data
  const [label, tone] = BROADCAST_WORDS[status]
  const isOpen = status === 'draft' || status === 'scheduled'
  const wanted = status === 'draft' ? undefined : status === 'sent' ? CALM_MS : LIVE_MS
  if (wanted !== everyMs) setEvery(wanted)
  return (
    <>
      <Head
        title={name || subject}
        from={['/broadcasts', 'Broadcasts']}
        lead={
          <>
            <Mark tone={tone}>{label}</Mark>
            {status === 'scheduled' && (
              <>
                {' '}
                Goes out <Time at={scheduled_at} />.
              </>
            )}
          </>
        }
      >
        <Acts broadcast={broadcast.data} put={broadcast.put} />
      </Head>
      {error && (
        <Note tone="bad">
          <p>{error}</p>
        </Note>
      )}
      {isOpen ? (
        <BroadcastDraft key={broadcast.data.id} broadcast={broadcast.data} put={broadcast.put} />
      ) : (
        <BroadcastResults broadcast={broadcast.data} />
      )}
    </>
  )
}

interface ActsProps {
  broadcast: Broadcast
  put: (broadcast: Broadcast) => void
}

function Acts({ broadcast, put }: ActsProps) {
  const { id, status, name, subject } = broadcast
  const [, navigate] = useLocation()
  const [open, setOpen] = useState<'test' | 'send'>()
  const order = (what: 'pause' | 'resume', said: string) =>
    void call<Broadcast>('POST', `/broadcasts/${id}/${what}`).then(changed => {
      put(changed)
      say(said)
    })
  const stop = () =>
    confirm({
      title: 'Stop it for good?',
      text: 'Whoever has not got it yet does not get it. This cannot be undone.',
      act: 'Stop the broadcast',
      async work() {
        put(await call<Broadcast>('POST', `/broadcasts/${id}/cancel`))
        say('Stopped.')
      },
    })
  const remove = () =>
    confirm({
      title: `Delete ${name || subject}?`,
      text: 'What has been written is lost. This cannot be undone.',
      act: 'Delete the broadcast',
      async work() {
        await call('DELETE', `/broadcasts/${id}`)
        say('The broadcast is deleted.')
        navigate('/broadcasts')
      },
    })
  const isOpen = status === 'draft' || status === 'scheduled'
  return (
    <>
      {isOpen && (
        <>
          <Button icon="trash" label="Delete the broadcast" onClick={remove} />
          <Button onClick={() => setOpen('test')}>Send a test</Button>
          <Button kind="main" icon="broadcasts" onClick={() => setOpen('send')}>
            {status === 'draft' ? 'Send …' : 'Another time …'}
          </Button>
        </>
      )}
      {status === 'sending' && (
        <Button onClick={() => order('pause', 'Paused. Nothing more goes out.')}>Pause</Button>
      )}
      {status === 'paused' && (
        <Button kind="main" onClick={() => order('resume', 'It goes on.')}>
          Go on
        </Button>
      )}
      {(status === 'sending' || status === 'paused') && (
        <Button kind="bad" onClick={stop}>
          Stop
        </Button>
      )}
      {open === 'test' && <TestBroadcast id={id} onClose={() => setOpen(undefined)} />}
      {open === 'send' && (
        <SendBroadcast
          broadcast={broadcast}
          onClose={() => setOpen(undefined)}
          onSent={sent => {
            put(sent)
            setOpen(undefined)
          }}
        />
      )}
    </>
  )
}
