/** One received message: its content, its verdicts, and reply and forward. */
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { ApiError, call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Inbound } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirmRemoval, useChange } from '../components/dialog.tsx'
import { Failure, Note, Pending } from '../components/feedback.tsx'
import { Icon } from '../components/icons.tsx'
import type { PageProps } from '../components/page.ts'
import { Preview } from '../components/preview.tsx'
import { Card, Facts, Head, Mark, Time } from '../components/show.tsx'
import { Tabs } from '../components/tabs.tsx'
import { refreshUnread } from '../components/unread.ts'
import { answeredMailboxes } from '../labels/answer.ts'
import { bytes } from '../labels/numbers.ts'
import { judgementOf, VERDICT_WORDS, VERDICTS } from '../labels/verdicts.ts'
import { Answer } from './answer.tsx'
import { Conversation } from './conversation.tsx'
import { ForwardDialog } from './forward.tsx'

type OpenForm = 'answer' | 'all' | 'forward'

export function InboundPage({ params: { id } }: PageProps) {
  const [, navigate] = useLocation()
  const [open, setOpen] = useState<OpenForm>()
  const { data: message, error, reload } = useLoad<Inbound>(`/inbound/${id}`)
  const mark = async (unread: boolean) => {
    await call('PATCH', `/inbound/${id}`, { unread })
    refreshUnread()
  }
  const { error: markFault, act: markUnread } = useChange<void>(async () => {
    await mark(true)
    navigate('/inbox')
  })
  const isUnread = message?.unread === true
  // a message that is shown has been read
  useEffect(() => {
    if (isUnread) mark(false).catch(staysUnread)
  }, [id, isUnread])
  if (!message) return <Pending of={{ error, reload }} />
  const { label, tone } = judgementOf(message)
  return (
    <>
      <Head
        title={message.subject || '(no subject)'}
        from={['/inbox', 'Inbox']}
        lead={
          <>
            <Mark tone={tone}>{label}</Mark> from <bdi>{message.from}</bdi>, <Time at={message.created_at} />
          </>
        }
      >
        <Acts message={message} onOpen={setOpen} onUnread={() => markUnread()} />
      </Head>
      {markFault && <Failure error={markFault} />}
      {message.parse_error && (
        <Note tone="warn">
          <p>The message could not be parsed completely: {message.parse_error}</p>
        </Note>
      )}
      {message.thread_count > 1 && <Conversation key={`${id} ${message.thread_count}`} message={message} />}
      <Content message={message} />
      {(open === 'answer' || open === 'all') && (
        <Answer
          key={`${id} ${open}`}
          message={message}
          isToAll={open === 'all'}
          onClose={() => setOpen(undefined)}
          onSent={() => {
            setOpen(undefined)
            reload()
          }}
        />
      )}
      <div class="halves">
        <Details message={message} />
        <Checks message={message} />
      </div>
      {open === 'forward' && <ForwardDialog message={message} onClose={() => setOpen(undefined)} />}
    </>
  )
}

/** Ignores a refusal, such as that of a service that is read-only: the message is shown all the same. */
function staysUnread(error: unknown): void {
  if (!(error instanceof ApiError)) throw error
}

interface ActsProps {
  message: Inbound
  onOpen: (form: OpenForm) => void
  onUnread: () => void
}

function Acts({ message, onOpen, onUnread }: ActsProps) {
  const [, navigate] = useLocation()
  const remove = () =>
    confirmRemoval('message', {
      path: `/inbound/${message.id}`,
      text: 'The message and its attachments will be deleted. This cannot be undone.',
      onRemoved() {
        refreshUnread()
        navigate('/inbox')
      },
    })
  return (
    <>
      <Button icon="trash" label="Delete message" onClick={remove} />
      <Button icon="inbox" onClick={onUnread}>
        Mark as unread
      </Button>
      <Button icon="next" onClick={() => onOpen('forward')}>
        Forward
      </Button>
      {answeredMailboxes(message, true).cc !== '' && (
        <Button icon="emails" onClick={() => onOpen('all')}>
          Reply all
        </Button>
      )}
      <Button kind="main" icon="emails" onClick={() => onOpen('answer')}>
        Reply
      </Button>
    </>
  )
}

function Details({ message }: { message: Inbound }) {
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['From', <bdi key="from">{message.from}</bdi>],
          ['To', <Addresses key="to" list={message.to} />],
          message.cc.length > 0 && ['Cc', <Addresses key="cc" list={message.cc} />],
          ['Envelope recipients', message.received_for.join(', ')],
          ['Sending server', `${message.envelope.helo ?? ''} (${message.envelope.client_ip ?? 'unknown'})`],
          ['TLS', message.envelope.tls ?? 'none'],
          ['Size', bytes(message.size)],
          [
            'Message-ID',
            <span key="mid" class="mono">
              {message.message_id ?? '–'}
            </span>,
          ],
        ]}
      />
    </Card>
  )
}

function Checks({ message }: { message: Inbound }) {
  return (
    <Card title="Spam and authentication checks">
      <ul class="stack">
        {VERDICTS.map(([key, name, question]) => (
          <li key={key} class="row row-apart">
            <span>
              <b>{name}</b> <span class="quiet small">{question}</span>
            </span>
            <Mark tone={VERDICT_WORDS[message[key]][1]}>{VERDICT_WORDS[message[key]][0]}</Mark>
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** Each address is isolated, so that a name written from right to left does not turn its neighbours round. */
function Addresses({ list }: { list: readonly string[] }) {
  return (
    <>
      {list.map((address, i) => (
        <span key={i}>
          {i > 0 && ', '}
          <bdi>{address}</bdi>
        </span>
      ))}
    </>
  )
}

type View = 'preview' | 'text' | 'headers' | 'files'

function Content({ message }: { message: Inbound }) {
  const { html, text, headers, attachments } = message
  const views: [View, string][] = [
    ...(html === null ? [] : [['preview', 'Preview'] as [View, string]]),
    ...(text === null ? [] : [['text', 'Text'] as [View, string]]),
    ...(attachments.length === 0 ? [] : [['files', `Attachments (${attachments.length})`] as [View, string]]),
    ['headers', 'Headers'],
  ]
  const [chosen, setChosen] = useState<View>()
  const view = chosen ?? views[0]![0]
  return (
    <Card
      title="Message"
      flush
      acts={
        <a class="button button-small" href={`/inbound/${message.id}/raw`} download="message.eml">
          <Icon name="save" size={15} /> Download source
        </a>
      }
    >
      <Tabs label="Message format" tabs={views} chosen={view} onChoose={setChosen} />
      <div role="tabpanel">
        {view === 'preview' && <Preview html={html!} title="Message preview" />}
        {view === 'text' && (
          <pre class="letter-text" dir="auto">
            {text}
          </pre>
        )}
        {view === 'headers' && (
          <div class="card-body">
            <Facts
              rows={Object.entries(headers).map(([name, values]) => [
                name,
                <bdi key={name} class="mono">
                  {values.join('\n')}
                </bdi>,
              ])}
            />
          </div>
        )}
        {view === 'files' && (
          <div class="card-body stack">
            {attachments.map(({ id, filename, content_type, size }, i) => (
              <div class="row row-apart" key={id}>
                <span class="row">
                  <Icon name="clip" />{' '}
                  <b>
                    <bdi>{filename}</bdi>
                  </b>
                  <span class="quiet small">
                    {content_type}, {bytes(size)}
                  </span>
                </span>
                <a
                  class="button button-small"
                  href={`/inbound/${message.id}/attachments/${i}`}
                  download={filename}
                >
                  <Icon name="save" size={15} /> Download
                </a>
              </div>
            ))}
          </div>
        )}
      </div>
    </Card>
  )
}
