/** Webhooks page, with a live list of events. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { AccountEvent, Installation, List, Webhook, WebhookWithSecret } from '../api/types.ts'
import { Button, Switch, TextField } from '../components/controls.tsx'
import { FormDialog, ShownOnce } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Head, Mark } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'
import { DomainLimit } from './domain-limit.tsx'
import { EventChoice, type EventType } from './event-choice.tsx'
import { TunnelHint } from './webhook-verify.tsx'

const COLUMNS: readonly Column<Webhook>[] = [
  { head: 'Endpoint', text: ({ url }) => url },
  { head: 'Events', width: 132, text: ({ events }) => counted(events.length, 'event type') },
  { head: 'Status', kind: 'status', cell: webhook => <WebhookMark webhook={webhook} /> },
  timeColumn('Created', ({ created_at }) => created_at),
]

export function WebhookMark({ webhook }: { webhook: Webhook }) {
  if (webhook.disabled_reason === 'failing')
    return (
      <Mark tone="bad" title="Disabled after repeated failures">
        Failed
      </Mark>
    )
  if (!webhook.enabled) return <Mark tone="none">Disabled</Mark>
  if (webhook.failing_since) return <Mark tone="warn">Failing</Mark>
  return <Mark tone="good">Enabled</Mark>
}

export function Webhooks() {
  const query = useQuery()
  const list = usePaged<Webhook>('/webhooks', query)
  const add = () => query.set({ add: '1' })
  return (
    <>
      <Head title="Webhooks">
        <Button kind="main" icon="plus" onClick={add}>
          Create webhook
        </Button>
      </Head>
      <ResourceList<Webhook>
        name="Webhooks"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        href={({ id }) => `/webhooks/${id}`}
        empty={{
          icon: 'webhooks',
          title: 'No webhooks yet',
          act: <Button onClick={add}>Create your first webhook</Button>,
          children: 'Each event is signed, sent to your endpoint, and retried until the endpoint accepts it.',
        }}
      />
      {list.data && <LiveEvents />}
      {query.get('add') && <AddWebhook onClose={() => query.set({ add: null })} onMade={list.reload} />}
    </>
  )
}

const EVENT_COLUMNS: readonly Column<AccountEvent>[] = [
  { head: 'Event', width: '30%', text: ({ type }) => type, cell: ({ type }) => <code>{type}</code> },
  { head: 'About', text: aboutOf },
  timeColumn('Time', ({ created_at }) => created_at),
]

/** Returns the recipient and the subject of an email, or the name of another object. */
function aboutOf({ recipient, subject, data }: AccountEvent): string {
  if (subject !== null) return [recipient, subject].filter(text => text !== null).join(': ')
  const name = [recipient, data.subject, data.email, data.name].find(text => typeof text === 'string')
  return (name as string | undefined) ?? ''
}

/** List of the latest events, updated live. */
function LiveEvents() {
  return (
    <ResourceList<AccountEvent>
      title="Live events"
      name="Latest events"
      list={useLoad<List<AccountEvent>>('/activity?limit=10', { on: '' })}
      columns={EVENT_COLUMNS}
      keyOf={({ id }) => id}
      empty={{ icon: 'webhooks', title: 'No events yet', children: 'Send an email to see its events here.' }}
    />
  )
}

export const STANDARD_HINT =
  'Sign events per Standard Webhooks (needed for the Resend SDK’s webhooks.verify).'

interface NewWebhookDraft {
  url: string
  events: readonly EventType[]
  domains?: readonly string[]
  /** Undefined for the default of the installation. */
  isStandard?: boolean
}

const FIRST_EVENTS: readonly EventType[] = ['email.delivered', 'email.bounced', 'email.complained']

function AddWebhook({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [, navigate] = useLocation()
  const installation = useLoad<Installation>('/installation')
  const draft = useDraft<NewWebhookDraft>('new-webhook', { url: '', events: FIRST_EVENTS, domains: [] })
  const { url, events, domains = [] } = draft.value
  const isStandard = draft.value.isStandard ?? installation.data?.standard_webhooks ?? false
  const [made, setMade] = useState<WebhookWithSecret>()
  if (made) return <NewSecret secret={made.signing_secret} onClose={() => navigate(`/webhooks/${made.id}`)} />
  return (
    <FormDialog
      title="Create webhook"
      act="Create webhook"
      wide
      disabled={events.length === 0}
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        setMade(
          await call<WebhookWithSecret>('POST', '/webhooks', {
            ...{ url, events, standard_webhooks: isStandard },
            ...(domains.length > 0 && { domain_ids: domains }),
          }),
        )
        onMade()
      }}
    >
      {error => (
        <>
          <TextField
            label="Endpoint URL"
            type="url"
            required
            autofocus
            {...draft.field('url')}
            placeholder="https://your-app.example/webhooks/mailhorn"
            fault={error?.of('url') ?? error?.of('endpoint')}
          />
          <TunnelHint />
          <EventChoice events={events} onEvents={value => draft.change({ events: value })} />
          <DomainLimit domains={domains} onDomains={value => draft.change({ domains: value })} />
          <Switch
            label="Standard Webhooks signatures"
            hint={STANDARD_HINT}
            checked={isStandard}
            onChange={value => draft.change({ isStandard: value })}
          />
        </>
      )}
    </FormDialog>
  )
}

export function NewSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <ShownOnce
      title="Signing secret"
      what="signing secret"
      secret={secret}
      advice="Use it to verify that events come from Mailhorn."
      onClose={onClose}
    />
  )
}
