/** Content of an email: preview, text, headers, source and attachments. */
import { useEffect, useState } from 'preact/hooks'
import { ApiError, call, send } from '../api/client.ts'
import type { Email, List } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { Failure, Note, Waiting } from '../components/feedback.tsx'
import { Icon } from '../components/icons.tsx'
import { Preview } from '../components/preview.tsx'
import { Card, Facts } from '../components/show.tsx'
import { Tabs } from '../components/tabs.tsx'
import { bytes } from '../labels/numbers.ts'

type View = 'preview' | 'text' | 'headers' | 'raw' | 'files'

export function EmailContent({ email }: { email: Email }) {
  const views = viewsOf(email)
  const [chosen, setChosen] = useState<View>()
  const view = chosen ?? views[0]![0]
  return (
    <Card flush title="Message">
      <Tabs label="Message format" tabs={views} chosen={view} onChoose={setChosen} />
      <div role="tabpanel">
        {view === 'preview' && <Preview html={email.html!} title="Email preview" />}
        {view === 'text' && (
          <pre class="letter-text" dir="auto">
            {email.text}
          </pre>
        )}
        {view === 'headers' && (
          <div class="card-body">
            <Facts
              rows={Object.entries(email.headers).map(([name, value]) => [
                name,
                <span key={name} class="mono">
                  {value}
                </span>,
              ])}
            />
          </div>
        )}
        {view === 'raw' && <Raw email={email} />}
        {view === 'files' && <Files email={email} />}
      </div>
    </Card>
  )
}

function viewsOf(email: Email): [View, string][] {
  return [
    ...(email.html === null ? [] : [['preview', 'Preview'] as [View, string]]),
    ...(email.text === null ? [] : [['text', 'Text'] as [View, string]]),
    ...(Object.keys(email.headers).length === 0 ? [] : [['headers', 'Headers'] as [View, string]]),
    ...(email.attachments.length === 0
      ? []
      : [['files', `Attachments (${email.attachments.length})`] as [View, string]]),
    ['raw', 'Source'],
  ]
}

const SHOWN_MAX = 200_000
const FIDELITY: Readonly<Record<string, string>> = {
  exact: 'Exactly as sent, including DKIM signatures.',
  unsigned: 'As sent, without DKIM signatures.',
  'not-sent': 'Not sent yet. DKIM signatures are added on delivery.',
  inexact: 'Reconstructed. It may differ from the message that was sent.',
}

function Raw({ email }: { email: Email }) {
  const [recipient, setRecipient] = useState(email.recipients[0]?.address ?? '')
  const [raw, setRaw] = useState<{ text: string; fidelity: string } | ApiError>()
  const path = `/emails/${email.id}/raw?recipient=${encodeURIComponent(recipient)}`
  useEffect(() => {
    let isOver = false
    setRaw(undefined)
    send('GET', path)
      .then(async reply => ({
        text: await reply.text(),
        fidelity: FIDELITY[reply.headers.get('x-mailhorn-raw') ?? ''] ?? '',
      }))
      .catch((error: ApiError) => error)
      .then(found => {
        if (!isOver) setRaw(found)
      })
    return () => {
      isOver = true
    }
  }, [path])
  return (
    <>
      <div class="filters">
        {email.recipients.length > 1 && (
          <select
            class="input"
            aria-label="Recipient"
            value={recipient}
            onChange={event => setRecipient(event.currentTarget.value)}
          >
            {email.recipients.map(({ address }) => (
              <option key={address}>{address}</option>
            ))}
          </select>
        )}
        <span class="quiet small grow">{raw && 'fidelity' in raw && raw.fidelity}</span>
        <a class="button button-small" href={path} download="email.eml">
          <Icon name="save" size={15} /> Download
        </a>
      </div>
      {!raw && <Waiting />}
      {raw instanceof ApiError && (
        <div class="card-body">
          <Failure error={raw} />
        </div>
      )}
      {raw && 'text' in raw && <pre class="letter-text">{raw.text.slice(0, SHOWN_MAX)}</pre>}
      {raw && 'text' in raw && raw.text.length > SHOWN_MAX && (
        <div class="card-body">
          <Note>
            <p>The source is truncated. Download it to see all of it.</p>
          </Note>
        </div>
      )}
    </>
  )
}

function Files({ email }: { email: Email }) {
  const [error, setError] = useState<ApiError>()
  const save = async (id: string) => {
    setError(undefined)
    try {
      const { data } = await call<List<{ id: string; download_url: string }>>(
        'GET',
        `/emails/${email.id}/attachments`,
      )
      const { pathname, search } = new URL(data.find(file => file.id === id)!.download_url)
      location.assign(pathname + search)
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      setError(failure)
    }
  }
  return (
    <div class="card-body stack">
      {email.attachments.map(({ id, filename, content_type, size }) => (
        <div class="row row-apart" key={id}>
          <span class="row">
            <Icon name="clip" /> <b>{filename}</b>
            <span class="quiet small">
              {content_type}, {bytes(size)}
            </span>
          </span>
          <Button small icon="save" onClick={() => void save(id)}>
            Download
          </Button>
        </div>
      ))}
      {error && <Failure error={error} />}
    </div>
  )
}
