/** One API request with the bodies of request and reply, which are shown as text. */
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import type { List, RequestDetail } from '../api/types.ts'
import { Pending } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { Card, Facts, Head, Time } from '../components/show.tsx'
import { StatusMark } from './logs.tsx'

export function LogPage({ params: { id } }: PageProps) {
  const { data: request, error, reload } = useLoad<RequestDetail>(`/logs/${id}`)
  if (!request) return <Pending of={{ error, reload }} />
  return (
    <>
      <Head
        title={`${request.method} ${request.endpoint}`}
        from={['/logs', 'Logs']}
        lead={<StatusMark request={request} />}
      />
      <Card title="Request">
        <Facts
          rows={[
            ['Time', <Time key="time" at={request.created_at} />],
            ['Duration', `${request.duration_ms} ms`],
            ['Client', request.user_agent ?? '–'],
            ['Client address', request.client_address ?? '–'],
            ['Credential', <Credential key="credential" {...request.credential} />],
            request.query !== null && ['Query', <code key="query">{request.query}</code>],
            ['Request id', <code key="id">{request.id.slice('log_'.length)}</code>],
            request.resource_id?.startsWith('eml_') === true && [
              'Email',
              <Link key="email" href={`/emails/${request.resource_id}`}>
                View email
              </Link>,
            ],
          ]}
        />
      </Card>
      {!request.bodies_stored && request.method !== 'GET' && (
        <p class="quiet">Body not stored (storage limit reached).</p>
      )}
      <Body title="Request body" body={request.request_body} isCut={request.request_body_truncated} />
      <Body title="Response body" body={request.response_body} isCut={request.response_body_truncated} />
    </>
  )
}

/** Names the API key or the access token of a request. */
function Credential({ kind, id }: RequestDetail['credential']) {
  const known = useLoad<List<{ id: string; name: string }>>(LISTS[kind])
  if (kind === 'session') return <span title={id}>Dashboard</span>
  const name = known.data?.data.find(one => one.id === id)?.name
  const what = kind === 'key' ? 'API key' : 'Access token'
  return (
    <Link href="/keys" title={id}>
      {what} {name ?? (known.data ? '(deleted)' : '')}
    </Link>
  )
}

const LISTS = { key: '/api-keys?limit=100', token: '/access-tokens?limit=100', session: null } as const

function Body({ title, body, isCut }: { title: string; body: unknown; isCut: boolean }) {
  if (body === null || body === undefined) return null
  return (
    <Card title={title} {...(isCut && { lead: 'The body was too long to be stored completely.' })} flush>
      <div class="talk">
        <pre class="letter-text">{JSON.stringify(body, null, 2)}</pre>
      </div>
    </Card>
  )
}
