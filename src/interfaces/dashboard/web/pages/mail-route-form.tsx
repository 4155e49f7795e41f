/** Form of a route for received mail, and what its action is called. */
import { call } from '../api/client.ts'
import type { InboundRoute, Webhook } from '../api/types.ts'
import { Choose, TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'

const ACTIONS = [
  ['webhook', 'Send to one webhook only'],
  ['forward', 'Forward to an address'],
  ['drop', 'Drop'],
] as const

const HINTS: Readonly<Record<string, string>> = {
  webhook: 'The message is in the inbox, and its event goes to this webhook only.',
  forward: 'The message is stored in the inbox and forwarded to the address by email.',
  drop: 'The message is accepted and not stored. The log has an entry.',
}

/** Returns what a route does, as the end of a sentence. */
export function actionOf(
  { action, forward_to, webhook_id }: InboundRoute,
  webhooks: readonly Webhook[] = [],
): string {
  if (action === 'forward') return `Forward to ${forward_to}`
  if (action === 'drop') return 'Drop'
  return `Webhook ${webhooks.find(({ id }) => id === webhook_id)?.url ?? webhook_id}`
}

interface MailRouteDialogProps {
  /** The route that is changed; absent for a new one. */
  route?: InboundRoute
  webhooks: readonly Webhook[]
  onClose: () => void
  onDone: () => void
}

export function MailRouteDialog({ route, webhooks, onClose, onDone }: MailRouteDialogProps) {
  const draft = useDraft(`mail-route.${route?.id ?? 'new'}`, {
    match: route?.match ?? '',
    action: (route?.action ?? 'forward') as string,
    webhook_id: route?.webhook_id ?? '',
    forward_to: route?.forward_to ?? '',
  })
  const { match, action, webhook_id, forward_to } = draft.value
  const known = webhooks.some(({ id }) => id === webhook_id)
  const options: [string, string][] = [
    ...(known
      ? []
      : [[webhook_id, webhook_id === '' ? 'Choose a webhook' : 'A deleted webhook'] as [string, string]]),
    ...webhooks.map(({ id, url }) => [id, url] as [string, string]),
  ]
  return (
    <FormDialog
      title={route ? 'Edit route' : 'Create route'}
      act={route ? 'Save route' : 'Create route'}
      disabled={action === 'webhook' && webhook_id === ''}
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        const body = {
          ...{ match, action },
          ...(action === 'webhook' && { webhook_id }),
          ...(action === 'forward' && { forward_to }),
        }
        await (route
          ? call('PATCH', `/inbound/routes/${route.id}`, body)
          : call('POST', '/inbound/routes', body))
        onDone()
        onClose()
      }}
    >
      {error => (
        <>
          <TextField
            label="Recipient"
            required
            autofocus
            {...draft.field('match')}
            placeholder="support+*@example.com"
            hint="An address at one of your domains. Before the @, * stands for any characters."
            fault={error?.of('match')}
          />
          <Choose label="Action" options={ACTIONS} {...draft.field('action')} hint={HINTS[action]} />
          {action === 'webhook' && (
            <Choose
              label="Webhook"
              options={options}
              {...draft.field('webhook_id')}
              fault={error?.of('webhook_id')}
            />
          )}
          {action === 'forward' && (
            <TextField
              label="Forward to"
              type="email"
              required
              {...draft.field('forward_to')}
              placeholder="team@example.com"
              fault={error?.of('forward_to')}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}
