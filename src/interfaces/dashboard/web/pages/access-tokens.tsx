/** Access tokens on the page of API keys: the list, and the dialog that creates one. */
import { useState } from 'preact/hooks'
import { SCOPES, type TokenScope } from '../../../../resources/accounts/scopes.ts'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import { isOperator } from '../api/session.ts'
import type { AccessToken, Installation, List } from '../api/types.ts'
import { CodeSamples } from '../components/code.tsx'
import { AreaField, Button, Choices, Choose, Field, Switch, TextField } from '../components/controls.tsx'
import { confirm, FormDialog, ShownOnce } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { Mark, Time } from '../components/show.tsx'
import { exampleCall } from '../labels/example-call.ts'
import { emailsWith } from '../labels/places.ts'

export function AccessTokens() {
  const query = useQuery()
  const tokens = useLoad<List<AccessToken>>('/access-tokens')
  const add = () => query.set({ add: 'token' })
  return (
    <>
      <ResourceList<AccessToken>
        title="Access tokens"
        lead="Programs that manage domains, contacts or templates authenticate with access tokens."
        acts={
          <Button icon="plus" onClick={add}>
            Create access token
          </Button>
        }
        name="Access tokens"
        list={tokens}
        columns={columnsOf(tokens.reload)}
        keyOf={({ id }) => id}
        href={({ id }) => emailsWith({ api_key_id: id })}
        empty={{
          icon: 'keys',
          title: 'No access tokens yet',
          children: 'Access tokens can manage domains, contacts and more. Use one in place of an API key.',
        }}
      />
      {query.get('add') === 'token' && (
        <MakeToken onClose={() => query.set({ add: null })} onMade={tokens.reload} />
      )}
    </>
  )
}

function columnsOf(reload: () => void): Column<AccessToken>[] {
  const revoke = ({ id, name }: AccessToken) =>
    confirm({
      title: `Revoke ${name}?`,
      text: 'Requests with this token will fail immediately. This cannot be undone.',
      act: 'Revoke access token',
      async work() {
        await call('DELETE', `/access-tokens/${id}`)
        say('The access token was revoked.')
        reload()
      },
    })
  return [
    { head: 'Name', text: ({ name }) => name },
    {
      head: 'Token',
      width: 164,
      isExtra: true,
      cell: ({ token_start }) => <code>{token_start}…</code>,
    },
    {
      head: 'Scopes',
      text: ({ scopes }) => scopes.join(', '),
      cell: ({ scopes, operator }) => (
        <>
          {operator && <Mark tone="warn">Operator</Mark>} {scopes.join(', ')}
        </>
      ),
    },
    { head: 'Networks', width: '14%', isExtra: true, text: ({ networks }) => networks?.join(', ') ?? 'Any' },
    {
      head: 'Expires',
      kind: 'status',
      cell: ({ expires_at }) =>
        expires_at !== null && Date.parse(expires_at) <= Date.now() ? (
          <Mark tone="bad">Expired</Mark>
        ) : (
          <Time at={expires_at} or="Never" />
        ),
    },
    timeColumn('Last used', ({ last_used_at }) => last_used_at, 'Never'),
    actions(
      token => (
        <Button
          small
          kind="plain"
          icon="trash"
          label={`Revoke ${token.name}`}
          onClick={() => revoke(token)}
        />
      ),
      56,
    ),
  ]
}

const EXTENTS = [
  ['chosen', 'Custom'],
  ['full', 'Full access'],
] as const

const LIFETIMES = [
  ['30 days', '30 days'],
  ['90 days', '90 days'],
  ['365 days', '1 year'],
  ['', 'Never'],
] as const

function MakeToken({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState('')
  const [extent, setExtent] = useState<(typeof EXTENTS)[number][0]>('chosen')
  const [scopes, setScopes] = useState<readonly TokenScope[]>([])
  const [lifetime, setLifetime] = useState<string>('90 days')
  const [networks, setNetworks] = useState('')
  const [operator, setOperator] = useState(false)
  const [made, setMade] = useState<MadeToken>()
  if (made) return <NewToken {...made} onClose={onClose} />
  return (
    <FormDialog
      title="Create access token"
      act="Create access token"
      onClose={onClose}
      onSubmit={async () => {
        const entries = networks.split(/[\s,]+/).filter(entry => entry !== '')
        const granted = extent === 'full' ? (['full'] as const) : scopes
        const { token } = await call<{ token: string }>('POST', '/access-tokens', {
          name,
          scopes: granted,
          expires_in: lifetime || null,
          networks: entries.length > 0 ? entries : null,
          operator,
        })
        setMade({ token, scopes: granted })
        onMade()
      }}
    >
      {error => (
        <>
          <TextField
            label="Name"
            required
            autofocus
            maxLength={50}
            placeholder="Deployment"
            hint="What uses the token, for example “CI”."
            value={name}
            onValue={setName}
            fault={error?.of('name')}
          />
          <Field label="Scopes" fault={error?.of('scopes')}>
            {() => <Choices label="Scopes" value={extent} options={EXTENTS} onValue={setExtent} />}
          </Field>
          {extent === 'chosen' && <ScopeChoice scopes={scopes} onScopes={setScopes} />}
          <Choose
            label="Expires after"
            value={lifetime}
            options={LIFETIMES}
            onValue={setLifetime}
            fault={error?.of('expires_in')}
          />
          <AreaField
            label="Networks"
            rows={2}
            code
            placeholder="192.0.2.0/24"
            hint="IP addresses and CIDR ranges that the token may be used from, one per line. Empty: any address."
            value={networks}
            onValue={setNetworks}
            fault={error?.of('networks')}
          />
          {isOperator() && (
            <Switch
              label="Operator"
              hint="Also grants the rights of operators: queue, destinations, accounts and diagnostics."
              checked={operator}
              onChange={setOperator}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}

/** Scopes by resource, such as `['contacts', ['contacts:read', 'contacts:write']]`. */
const GROUPS = [...Map.groupBy(SCOPES.slice(1), scope => scope.split(':')[0]!)].sort()
const ACTIONS: Readonly<Record<string, string>> = { read: 'Read', write: 'Read and write', send: 'Send' }

interface ScopeChoiceProps {
  scopes: readonly TokenScope[]
  onScopes: (scopes: TokenScope[]) => void
}

function ScopeChoice({ scopes, onScopes }: ScopeChoiceProps) {
  const toggle = (scope: TokenScope) =>
    onScopes(scopes.includes(scope) ? scopes.filter(one => one !== scope) : [...scopes, scope])
  return (
    <div class="stack">
      {GROUPS.map(([resource, names]) => (
        <fieldset key={resource}>
          <legend class="small">
            <b>{labelOf(resource)}</b>
          </legend>
          <div class="row">
            {names.map(scope => (
              <label class="check" key={scope} title={scope}>
                <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />
                {ACTIONS[scope.split(':')[1]!]}
              </label>
            ))}
          </div>
        </fieldset>
      ))}
    </div>
  )
}

function labelOf(resource: string): string {
  if (resource === 'api-keys') return 'API keys'
  return resource.charAt(0).toUpperCase() + resource.slice(1)
}

interface MadeToken {
  token: string
  scopes: readonly TokenScope[]
}

function NewToken({ token, scopes, onClose }: MadeToken & { onClose: () => void }) {
  const { data } = useLoad<Installation>('/installation')
  const baseUrl = data?.base_url.replace(/\/$/, '')
  return (
    <ShownOnce title="Your new access token" wide what="access token" secret={token} onClose={onClose}>
      {baseUrl !== undefined && (
        <div class="stack">
          <h3>Use it</h3>
          <CodeSamples call={{ ...exampleCall(scopes), baseUrl, token }} />
        </div>
      )}
    </ShownOnce>
  )
}
