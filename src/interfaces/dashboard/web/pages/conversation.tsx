/** Conversation of a received message: received messages and emails of the account, which open in place. */
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import type { Email, Inbound, Thread } from '../api/types.ts'
import { Pending, Waiting } from '../components/feedback.tsx'
import { Icon } from '../components/icons.tsx'
import { Preview } from '../components/preview.tsx'
import { Card, Mark, Time } from '../components/show.tsx'
import { EMAIL_WORDS } from '../labels/status.ts'

type ThreadMessage = Thread['data'][number]

export function Conversation({ message: { id, thread_count } }: { message: Inbound }) {
  const thread = useLoad<Thread>(`/inbound/${id}/thread`, { on: 'email.' })
  if (!thread.data) {
    if (thread.error) return <Pending of={thread} />
    return (
      <Card title="Conversation">
        <Waiting rows={thread_count} />
      </Card>
    )
  }
  const { data, has_more } = thread.data
  return (
    <Card
      title="Conversation"
      flush
      {...(has_more && { lead: `The newest ${data.length} messages are shown.` })}
    >
      <ol class="thread">
        {data.map(one => (
          <li key={one.id} class="thread-item" {...(one.id === id && { 'aria-current': 'true' as const })}>
            {one.id === id ? (
              <div class="thread-head">
                <Heading message={one} />
                <span class="quiet small">shown below</span>
              </div>
            ) : (
              <Other message={one} />
            )}
          </li>
        ))}
      </ol>
    </Card>
  )
}

function Heading({ message: { from, to, unread, status, created_at } }: { message: ThreadMessage }) {
  return (
    <>
      <Icon name={status === null ? 'inbox' : 'emails'} size={15} />
      <span class={unread ? 'thread-who is-unread' : 'thread-who'}>
        <bdi>{from}</bdi> <span class="quiet">to {to.join(', ')}</span>
      </span>
      {status && <Mark tone={EMAIL_WORDS[status].tone}>{EMAIL_WORDS[status].label}</Mark>}
      <Time at={created_at} />
    </>
  )
}

/** A message whose content is loaded when it is opened. */
function Other({ message }: { message: ThreadMessage }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary class="thread-head">
        <Heading message={message} />
      </summary>
      {isOpen && <Content id={message.id} isReceived={message.status === null} />}
    </details>
  )
}

function Content({ id, isReceived }: { id: string; isReceived: boolean }) {
  const place = isReceived ? 'inbox' : 'emails'
  const loaded = useLoad<Inbound | Email>(isReceived ? `/inbound/${id}` : `/emails/${id}`)
  if (!loaded.data) return <Pending of={loaded} />
  const { html, text } = loaded.data
  return (
    <>
      {html === null ? (
        <pre class="letter-text" dir="auto">
          {text}
        </pre>
      ) : (
        <Preview html={html} title={`Message ${id}`} />
      )}
      <p class="card-body">
        <Link href={`/${place}/${id}`}>{isReceived ? 'Open message' : 'Open email'}</Link>
      </p>
    </>
  )
}
