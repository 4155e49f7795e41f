/** One route for received mail, and its log. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { InboundRoute, InboundRouteLog, List, Webhook } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirmRemoval } from '../components/dialog.tsx'
import { Pending } from '../components/feedback.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import type { PageProps } from '../components/page.ts'
import { usePaged } from '../components/paged.ts'
import { Head, Mark } from '../components/show.tsx'
import { actionOf, MailRouteDialog } from './mail-route-form.tsx'

const LIVE_MS = 30_000
const OUTCOMES = {
  stored: ['Stored', 'good'],
  forwarded: ['Forwarded', 'good'],
  dropped: ['Dropped', 'none'],
  failed: ['Failed', 'bad'],
} as const

const COLUMNS: readonly Column<InboundRouteLog>[] = [
  {
    head: 'Message',
    text: ({ subject }) => subject || '(no subject)',
    second: ({ reason, from }) => reason ?? from,
  },
  { head: 'Recipient', width: '26%', isExtra: true, text: ({ to }) => to },
  {
    head: 'Outcome',
    kind: 'status',
    cell: ({ outcome }) => <Mark tone={OUTCOMES[outcome][1]}>{OUTCOMES[outcome][0]}</Mark>,
  },
  timeColumn('Received', ({ created_at }) => created_at),
]

export function MailRoutePage({ params: { id } }: PageProps) {
  const [, navigate] = useLocation()
  const query = useQuery()
  const [isEditing, setEditing] = useState(false)
  const route = useLoad<InboundRoute>(`/inbound/routes/${id}`)
  const webhooks = useLoad<List<Webhook>>('/webhooks?limit=100')
  const log = usePaged<InboundRouteLog>(`/inbound/routes/${id}/log`, query, {
    ...{ everyMs: LIVE_MS, on: 'email.received' },
  })
  if (!route.data) return <Pending of={route} />
  const { match } = route.data
  const remove = () =>
    confirmRemoval('route', {
      name: match,
      path: `/inbound/routes/${id}`,
      text: 'Mail for this recipient goes by the next route that matches, or to the inbox. Its log can no longer be seen.',
      onRemoved: () => navigate('/inbox/routes'),
    })
  return (
    <>
      <Head title={match} from={['/inbox/routes', 'Routes']} lead={actionOf(route.data, webhooks.data?.data)}>
        <Button icon="trash" label="Delete route" onClick={remove} />
        <Button onClick={() => setEditing(true)}>Edit route</Button>
      </Head>
      <ResourceList<InboundRouteLog>
        title="Log"
        lead="What the route has done with received mail."
        name="Log"
        list={log}
        columns={COLUMNS}
        keyOf={entry => entry.id}
        href={placeOf}
        empty={{
          icon: 'inbox',
          title: 'No messages yet',
          children: 'Each message that the route matches has an entry here.',
        }}
      />
      {isEditing && (
        <MailRouteDialog
          route={route.data}
          webhooks={webhooks.data?.data ?? []}
          onClose={() => setEditing(false)}
          onDone={route.reload}
        />
      )}
    </>
  )
}

/** Returns the page of the email that was forwarded, or else of the message. */
function placeOf({ email_id, inbound_id }: InboundRouteLog): string | undefined {
  if (email_id) return `/emails/${email_id}`
  return inbound_id ? `/inbox/${inbound_id}` : undefined
}
