/** Page of API keys and access tokens. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { ApiKey, Domain, Installation, List } from '../api/types.ts'
import { CodeSamples } from '../components/code.tsx'
import { Button, Choose, TextField } from '../components/controls.tsx'
import { confirmRemoval, FormDialog, ShownOnce } from '../components/dialog.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { Head } from '../components/show.tsx'
import { emailsWith } from '../labels/places.ts'
import { sampleSender } from '../labels/sample-sender.ts'
import { AccessTokens } from './access-tokens.tsx'

const MAY =
  'An API key sends email, reads sent email, reads and changes received mail, and manages suppressions. Everything else needs an access token.'

/** The last use is accurate to a minute. */
const LIVE_MS = 30_000

export function Keys() {
  const query = useQuery()
  const keys = useLoad<List<ApiKey>>('/api-keys', { everyMs: LIVE_MS })
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  /** Keys with full access are access tokens, which have a list of their own. */
  const sending = keys.data?.data.filter(({ permission }) => permission === 'sending_access')
  const add = () => query.set({ add: '1' })
  const close = () => query.set({ add: null })
  return (
    <>
      <Head title="API keys" lead={MAY}>
        <Button kind="main" icon="plus" onClick={add}>
          Create API key
        </Button>
      </Head>
      <ResourceList<ApiKey>
        name="API keys"
        list={{ ...keys, data: sending && { data: sending } }}
        columns={columnsOf(domains.data?.data ?? [], keys.reload)}
        keyOf={({ id }) => id}
        href={({ id }) => emailsWith({ api_key_id: id })}
        empty={{
          icon: 'keys',
          title: 'No API keys yet',
          act: <Button onClick={add}>Create your first API key</Button>,
          children:
            'An API key lets an application send and read emails and manage the suppression list, and nothing else. Use one key per application so that you can revoke it separately.',
        }}
      />
      {keys.data && <AccessTokens />}
      {query.get('add') === '1' && (
        <MakeKey domains={domains.data?.data ?? []} onClose={close} onMade={keys.reload} />
      )}
    </>
  )
}

function columnsOf(domains: readonly Domain[], reload: () => void): Column<ApiKey>[] {
  const remove = ({ id, name }: ApiKey) =>
    confirmRemoval('API key', {
      name,
      path: `/api-keys/${id}`,
      text: 'Applications that use it can no longer send email. This cannot be undone.',
      onRemoved: reload,
    })
  return [
    { head: 'Name', text: ({ name }) => name },
    { head: 'Token', width: 164, cell: ({ token_start }) => <code>{token_start}…</code> },
    {
      head: 'Domain',
      width: '22%',
      isExtra: true,
      text: ({ domain_id }) =>
        domain_id === null ? 'All domains' : (domains.find(({ id }) => id === domain_id)?.name ?? domain_id),
    },
    timeColumn('Created', ({ created_at }) => created_at, '–', true),
    timeColumn('Last used', ({ last_used_at }) => last_used_at, 'Never'),
    actions(
      key => (
        <Button small kind="plain" icon="trash" label={`Delete ${key.name}`} onClick={() => remove(key)} />
      ),
      56,
    ),
  ]
}

interface MakeKeyProps {
  domains: readonly Domain[]
  onClose: () => void
  onMade: () => void
}

function MakeKey({ domains, onClose, onMade }: MakeKeyProps) {
  const [name, setName] = useState('')
  const [domainId, setDomain] = useState('')
  const [token, setToken] = useState<string>()
  if (token !== undefined) return <NewKey {...{ token, onClose, domainId }} />
  return (
    <FormDialog
      title="Create API key"
      act="Create API key"
      onClose={onClose}
      onSubmit={async () => {
        const made = await call<{ token: string }>('POST', '/api-keys', {
          name,
          domain_id: domainId || null,
        })
        setToken(made.token)
        onMade()
      }}
    >
      {error => (
        <>
          <p class="quiet">{MAY}</p>
          <TextField
            label="Name"
            required
            autofocus
            maxLength={50}
            placeholder="Web shop"
            hint="What uses the key, for example “Web shop”."
            value={name}
            onValue={setName}
            fault={error?.of('name')}
          />
          {domains.length > 0 && (
            <Choose
              label="Domain"
              value={domainId}
              options={[['', 'All domains'], ...domains.map(({ id, name }) => [id, `Only ${name}`] as const)]}
              onValue={setDomain}
              fault={error?.of('domain_id')}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}

interface NewKeyProps {
  token: string
  domainId: string
  onClose: () => void
}

function NewKey({ token, domainId, onClose }: NewKeyProps) {
  return (
    <ShownOnce title="Your new API key" wide what="API key" secret={token} onClose={onClose}>
      <UseKey token={token} domainId={domainId} />
    </ShownOnce>
  )
}

/**
 * Code that sends an email with an API key.
 *
 * @param domainId the only domain that the key may use, if there is one
 */
export function UseKey({ token, domainId }: { token: string; domainId?: string }) {
  const { data } = useLoad<Installation>('/installation')
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  if (!data || !domains.data) return null
  const body = {
    from: sampleSender(domains.data.data, domainId),
    to: `delivered@${data.simulator_domain}`,
    subject: 'Hello',
    text: 'It works.',
  }
  return (
    <div class="stack">
      <h3>Send an email</h3>
      <CodeSamples
        call={{ method: 'POST', baseUrl: data.base_url.replace(/\/$/, ''), path: '/emails', body, token }}
      />
    </div>
  )
}
