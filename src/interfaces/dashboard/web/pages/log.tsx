/** One API request with the bodies of request and reply, which are shown as text. */
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import type { RequestDetail } from '../api/types.ts'
import { Copy } from '../components/controls.tsx'
import { Pending } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { Card, Facts, Head, Time } from '../components/show.tsx'
import { credentialName, StatusMark } from './logs.tsx'

export function LogPage({ params: { id } }: PageProps) {
  const { data: request, error, reload } = useLoad<RequestDetail>(`/logs/${id}`)
  if (!request) return <Pending of={{ error, reload }} />
  return (
    <>
      <Head
        title={`${request.method} ${request.endpoint}`}
        from={['/logs', 'Logs']}
        lead={<StatusMark request={request} />}
      >
        <a class="button" href={`/docs?replay=${request.id}`}>
          Replay in API reference
        </a>
      </Head>
      <Card title="Request">
        <Facts
          rows={[
            ['Time', <Time key="time" at={request.created_at} />],
            ['Duration', `${request.duration_ms} ms`],
            ['Client', request.user_agent ?? '–'],
            ['Client address', request.client_address ?? '–'],
            ['Credential', <Credential key="credential" {...request.credential} />],
            request.query !== null && ['Query', <code key="query">{request.query}</code>],
            ['Request id', <Copy key="id" text={request.id.slice('log_'.length)} label="Copy request id" />],
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
function Credential(credential: RequestDetail['credential']) {
  const { kind, id, name } = credential
  if (name === null) return <span title={id}>{credentialName(credential)}</span>
  return (
    <Link href="/keys" title={id}>
      {kind === 'key' ? 'API key' : 'Access token'} {name}
    </Link>
  )
}

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
