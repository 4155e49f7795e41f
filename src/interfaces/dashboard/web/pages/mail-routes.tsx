/** Routes page: rules for received mail, in their order. */
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { call } from '../api/client.ts'
import { type Loaded, useLoad } from '../api/load.ts'
import type { InboundRoute, InboundRouteTest, List, Webhook } from '../api/types.ts'
import { Button, TextField } from '../components/controls.tsx'
import { useAct, useChange } from '../components/dialog.tsx'
import { Failure } from '../components/feedback.tsx'
import { actions, type Column, ResourceList } from '../components/list.tsx'
import { Card, Head } from '../components/show.tsx'
import { actionOf, MailRouteDialog } from './mail-route-form.tsx'

/** Width of the actions column: two icons and a button. */
const ACTS_WIDTH_PX = 152

export function MailRoutes() {
  const routes = useLoad<List<InboundRoute>>('/inbound/routes')
  const webhooks = useLoad<List<Webhook>>('/webhooks?limit=100')
  const [open, setOpen] = useState<InboundRoute | 'new'>()
  const { error, act: move } = useChange(async ({ id, position }: Pick<InboundRoute, 'id' | 'position'>) => {
    await call('PATCH', `/inbound/routes/${id}`, { position })
    routes.reload()
  })
  const last = routes.data?.data.length
  const columns: Column<InboundRoute>[] = [
    { head: 'Recipient', text: ({ match }) => match },
    { head: 'Action', text: route => actionOf(route, webhooks.data?.data) },
    actions(
      ({ id, match, position }) => (
        <>
          <Button
            small
            kind="plain"
            icon="up"
            label={`Move ${match} up`}
            disabled={position === 1}
            onClick={() => move({ id, position: position - 1 })}
          />
          <Button
            small
            kind="plain"
            icon="down"
            label={`Move ${match} down`}
            disabled={position === last}
            onClick={() => move({ id, position: position + 1 })}
          />
          <Button small onClick={() => setOpen(routes.data?.data.find(route => route.id === id))}>
            Edit
          </Button>
        </>
      ),
      ACTS_WIDTH_PX,
    ),
  ]
  const add = () => setOpen('new')
  return (
    <>
      <Head
        title="Routes"
        lead="The first route that matches a recipient decides what becomes of the message."
      >
        <Button kind="main" icon="plus" onClick={add}>
          Create route
        </Button>
      </Head>
      {error && <Failure error={error} act="The route was not moved" />}
      <ResourceList<InboundRoute>
        name="Routes"
        list={routes}
        columns={columns}
        keyOf={({ id }) => id}
        href={({ id }) => `/inbox/routes/${id}`}
        empty={{
          icon: 'inbox',
          title: 'No routes yet',
          act: <Button onClick={add}>Create your first route</Button>,
          children:
            'All received mail is in the inbox, and goes to the webhooks that subscribe to it. Routes send mail for an address to one webhook, forward it, or drop it.',
        }}
      />
      {routes.data && routes.data.data.length > 0 && <AddressTest webhooks={webhooks} />}
      {open && (
        <MailRouteDialog
          {...(open !== 'new' && { route: open })}
          webhooks={webhooks.data?.data ?? []}
          onClose={() => setOpen(undefined)}
          onDone={routes.reload}
        />
      )}
    </>
  )
}

/** Finds the route of an address. */
function AddressTest({ webhooks }: { webhooks: Loaded<List<Webhook>> }) {
  const [address, setAddress] = useState('')
  const [found, setFound] = useState<InboundRouteTest>()
  const { error, isBusy, run } = useAct(async () => {
    setFound(undefined)
    setFound(await call<InboundRouteTest>('POST', '/inbound/routes/test', { address }))
  })
  return (
    <Card title="Test an address" lead="See which route decides about mail for a recipient.">
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          void run()
        }}
      >
        <TextField
          label="Address of the recipient"
          type="email"
          required
          value={address}
          onValue={setAddress}
          placeholder="support@example.com"
          fault={error?.of('address')}
        />
        <div class="row">
          <Button type="submit" disabled={isBusy}>
            Test
          </Button>
        </div>
      </form>
      {error && !error.isShown && <Failure error={error} />}
      <p role="status">
        {found && (
          <>
            <bdi>{found.address}</bdi>:{' '}
            {found.route ? (
              <>
                <Link href={`/inbox/routes/${found.route.id}`}>{found.route.match}</Link>,{' '}
                {actionOf(found.route, webhooks.data?.data)}
              </>
            ) : (
              'No route matches. The message goes to the inbox and to all webhooks that subscribe.'
            )}
          </>
        )}
      </p>
    </Card>
  )
}
