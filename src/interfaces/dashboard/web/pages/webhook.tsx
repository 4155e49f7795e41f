/** One webhook: its events, and its recent deliveries. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { type Loaded, useLoad } from '../api/load.ts'
import type { List, Webhook, WebhookDelivery } from '../api/types.ts'
import { Button, Choose, Switch } from '../components/controls.tsx'
import { confirm, confirmRemoval, FormDialog, useAct, useChange } from '../components/dialog.tsx'
import { DraftNotice, DraftState, useDraft } from '../components/draft.tsx'
import { Empty, Failure, Pending, say } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { Card, Head, Mark, Time } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'
import { replacedDeliveries } from '../labels/webhook-deliveries.ts'
import { DomainLimit } from './domain-limit.tsx'
import { EventChoice, type EventType } from './event-choice.tsx'
import { TunnelHint, VerifyCard } from './webhook-verify.tsx'
import { NewSecret, STANDARD_HINT, WebhookMark } from './webhooks.tsx'

const LIVE_MS = 3_000

export function WebhookPage({ params: { id } }: PageProps) {
  const [, navigate] = useLocation()
  const webhook = useLoad<Webhook>(`/webhooks/${id}`)
  const deliveries = useLoad<List<WebhookDelivery>>(`/webhooks/${id}/deliveries`, { everyMs: LIVE_MS })
  const [isTesting, setTesting] = useState(false)
  const [secret, setSecret] = useState<string>()
  if (!webhook.data) return <Pending of={webhook} />
  const { url } = webhook.data
  const rotate = () =>
    confirm({
      title: 'Rotate the signing secret?',
      text: 'For 24 hours, events are signed with both the old and the new secret so that you can update your endpoint.',
      act: 'Rotate secret',
      harmless: true,
      async work() {
        const made = await call<{ signing_secret: string }>('POST', `/webhooks/${id}/rotate-secret`)
        setSecret(made.signing_secret)
        webhook.reload()
      },
    })
  const remove = () =>
    confirmRemoval('webhook', {
      path: `/webhooks/${id}`,
      text: 'Pending events will not be sent. This cannot be undone.',
      onRemoved: () => navigate('/webhooks'),
    })
  return (
    <>
      <Head title={url} from={['/webhooks', 'Webhooks']} lead={<WebhookMark webhook={webhook.data} />}>
        <Button icon="trash" label="Delete webhook" onClick={remove} />
        <Button onClick={rotate}>Rotate secret</Button>
        <Button kind="main" onClick={() => setTesting(true)}>
          Send test event
        </Button>
      </Head>
      <Subscription webhook={webhook.data} put={webhook.put} />
      <Signatures webhook={webhook.data} put={webhook.put} />
      <Deliveries of={deliveries} />
      {/* last, since it comes late and is long */}
      {deliveries.data && (
        <VerifyCard
          webhook={webhook.data}
          delivery={deliveries.data.data.find(({ attempts }) => attempts > 0)}
        />
      )}
      {isTesting && (
        <TestDialog webhook={webhook.data} onClose={() => setTesting(false)} onSent={deliveries.reload} />
      )}
      {secret && <NewSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  )
}

function Deliveries({ of }: { of: Loaded<List<WebhookDelivery>> }) {
  const recent = of.data?.data
  const replaced = replacedDeliveries(recent ?? [])
  return (
    <Card
      title="Recent deliveries"
      lead="The latest 50 events sent to this endpoint and its responses."
      flush
    >
      {!recent && <Pending of={of} />}
      {recent?.length === 0 && (
        <Empty icon="webhooks" title="No deliveries yet">
          Send a test event to see how your endpoint responds.
        </Empty>
      )}
      {recent?.map(delivery => (
        <Delivery
          key={delivery.id}
          delivery={delivery}
          isReplaced={replaced.has(delivery.id)}
          reload={of.reload}
        />
      ))}
    </Card>
  )
}

interface SettingsProps {
  webhook: Webhook
  put: (webhook: Webhook) => void
}

function useSettings({ webhook, put }: SettingsProps, onChanged?: (changed: Webhook) => void) {
  return useChange(async (body: object) => {
    const changed = await call<Webhook>('PATCH', `/webhooks/${webhook.id}`, body)
    if ('events' in body) onChanged?.(changed)
    put({ ...webhook, ...changed })
    say('Webhook saved.')
  })
}

/** The events and domains that a webhook is sent. */
interface Subscribed {
  events: EventType[]
  domains?: string[]
}

function subscribedOf({ events, domain_ids }: Webhook): Subscribed {
  return { events: events.toSorted(), domains: domain_ids?.toSorted() ?? [] }
}

function Subscription(props: SettingsProps) {
  const { webhook } = props
  const draft = useDraft<Subscribed>(`webhook.${webhook.id}`, subscribedOf(webhook))
  const { events, domains = [] } = draft.value
  const { error, act } = useSettings(props, changed => draft.settle(draft.now(), subscribedOf(changed)))
  const save = () => act({ events, domain_ids: domains.length > 0 ? domains : '' })
  return (
    <Card title="Events">
      <div class="stack">
        {error && <Failure error={error} act="The change was not saved" />}
        <DraftNotice draft={draft} what="webhook" />
        <Switch
          label="Enabled"
          hint="While a webhook is disabled, its events are discarded."
          checked={webhook.enabled}
          onChange={enabled => act({ enabled })}
        />
        <EventChoice events={events} onEvents={value => draft.set({ events: value.toSorted(), domains })} />
        <DomainLimit
          domains={domains}
          onDomains={value => draft.set({ events, domains: value.toSorted() })}
        />
        <div class="row">
          <Button disabled={!draft.isChanged || events.length === 0} onClick={save}>
            Save events
          </Button>
          <DraftState draft={draft} />
        </div>
      </div>
    </Card>
  )
}

function Signatures(props: SettingsProps) {
  const { webhook } = props
  const { error, act } = useSettings(props)
  return (
    <Card title="Signatures">
      <div class="stack">
        {error && <Failure error={error} act="The change was not saved" />}
        <Switch
          label="Standard Webhooks signatures"
          hint={STANDARD_HINT}
          checked={webhook.standard_webhooks}
          onChange={standard_webhooks => act({ standard_webhooks })}
        />
      </div>
    </Card>
  )
}

interface DeliveryProps {
  delivery: WebhookDelivery
  /** Whether the event was sent anew in place of the remaining attempts. */
  isReplaced: boolean
  reload: () => void
}

function Delivery({ delivery, isReplaced, reload }: DeliveryProps) {
  const { id, webhook_id, event_type, test, attempts, last_attempt_at, next_attempt_at, created_at } =
    delivery
  const replay = useAct(async () => {
    await call('POST', `/webhooks/${webhook_id}/deliveries/${id}/replay`)
    say('The event is being resent.')
    reload()
  })
  return (
    <details class="recipient">
      <summary class="row">
        <code class="grow">{event_type}</code>
        {test && <Mark tone="info">Test</Mark>}
        <DeliveryMark delivery={delivery} isReplaced={isReplaced} />
        <span class="quiet">
          <Time at={last_attempt_at ?? created_at} />
        </span>
      </summary>
      <div class="stack" style={{ marginTop: '12px' }}>
        <p class="quiet">
          {attempts === 0 ? 'Not sent yet' : counted(attempts, 'attempt')}
          {delivery.duration_ms !== null && `, the last one took ${delivery.duration_ms} ms`}.
          {isReplaced && ' The event was resent: see its newer delivery.'}
          {next_attempt_at &&
            (Date.parse(next_attempt_at) > Date.now() ? (
              <>
                {' '}
                Next attempt: <Time at={next_attempt_at} />.
              </>
            ) : (
              ' Due now, waiting its turn.'
            ))}
        </p>
        {delivery.error && <p class="advice">{delivery.error}</p>}
        <Body title="Request" text={indented(delivery.request.body)} />
        {delivery.response_body !== null && (
          <Body title="Response" text={delivery.response_body || '(empty response body)'} />
        )}
        {replay.error && <Failure error={replay.error} />}
        {attempts > 0 && (
          <div>
            <Button small icon="again" disabled={replay.isBusy} onClick={() => void replay.run()}>
              Resend event
            </Button>
          </div>
        )}
      </div>
    </details>
  )
}

function Body({ title, text }: { title: string; text: string }) {
  return (
    <section class="stack stack-tight" aria-label={title}>
      <h3>{title}</h3>
      <div class="talk">
        <pre class="letter-text">{text}</pre>
      </div>
    </section>
  )
}

function indented(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2)
}

function DeliveryMark({
  delivery: { success, attempts, response_status, next_attempt_at },
  isReplaced,
}: Pick<DeliveryProps, 'delivery'> & Partial<Pick<DeliveryProps, 'isReplaced'>>) {
  if (success) return <Mark tone="good">{`Delivered (${response_status})`}</Mark>
  if (attempts === 0) return <Mark tone="none">Pending</Mark>
  if (isReplaced) return <Mark tone="none">Replaced by a resend</Mark>
  const answer = response_status === null ? 'no response' : String(response_status)
  return (
    <Mark
      tone={next_attempt_at ? 'warn' : 'bad'}
    >{`${next_attempt_at ? 'Deferred' : 'Failed'} (${answer})`}</Mark>
  )
}

interface TestProps {
  webhook: Webhook
  onClose: () => void
  onSent: () => void
}

function TestDialog({ webhook, onClose, onSent }: TestProps) {
  const [type, setType] = useState<string>(webhook.events[0] ?? 'email.delivered')
  const [sent, setSent] = useState<WebhookDelivery>()
  return (
    <FormDialog
      title="Send test event"
      act={sent ? 'Send again' : 'Send test event'}
      dismiss={sent ? 'Close' : 'Cancel'}
      onClose={onClose}
      onSubmit={async () => {
        setSent(undefined)
        setSent(await call<WebhookDelivery>('POST', `/webhooks/${webhook.id}/test`, { type }))
        onSent()
      }}
    >
      {error => (
        <>
          <Choose
            label="Event type"
            value={type}
            options={webhook.events.map(one => [one, one] as const)}
            onValue={setType}
            fault={error?.of('type')}
          />
          {sent && <Response delivery={sent} />}
        </>
      )}
    </FormDialog>
  )
}

/** Shows how the endpoint responded to a test event. */
function Response({ delivery }: { delivery: WebhookDelivery }) {
  const { success, error, duration_ms, response_body } = delivery
  return (
    <div class="stack stack-tight" role="status">
      <p>
        <DeliveryMark delivery={delivery} /> in {duration_ms} ms
      </p>
      {error && <p class="advice">{error}</p>}
      {response_body !== null && <Body title="Response" text={response_body || '(empty response body)'} />}
      {!success && <p class="quiet">Test events are not retried.</p>}
      {!success && <TunnelHint />}
    </div>
  )
}
