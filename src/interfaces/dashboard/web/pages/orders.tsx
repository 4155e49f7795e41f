/** What the operator has ordered of the queue, and an end to it: holds, and sites that are slowed down. */
import { call } from '../api/client.ts'
import type { Hold, Slowed } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'
import { type Column, Table } from '../components/list.tsx'
import { Card, Time } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'

interface SlowedProps {
  slowed: readonly Slowed[] | undefined
  reload: () => void
}

export function SlowedCard({ slowed, reload }: SlowedProps) {
  if (!slowed || slowed.length === 0) return null
  const end = ({ site }: Slowed) =>
    confirm({
      title: `No longer slow down ${site}?`,
      text: 'It gets as many messages again as it bears.',
      act: 'Full speed',
      harmless: true,
      async work() {
        await call('POST', '/destinations/unslow', { site })
        say(`${site} gets as many as it bears.`)
        reload()
      },
    })
  const columns: Column<Slowed>[] = [
    { head: 'Server', cell: ({ site }) => <b>{site}</b> },
    { head: 'Gets', cell: ({ messages_per_minute: most }) => `${counted(most, 'message')} a minute at most` },
    { head: 'Since', kind: 'tight', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      head: 'Acts',
      kind: 'acts',
      cell: one => (
        <Button small onClick={() => end(one)}>
          Full speed
        </Button>
      ),
    },
  ]
  return (
    <Card title="Slowed down" flush>
      <Table<Slowed>
        caption="Sites that are slowed down"
        columns={columns}
        rows={slowed}
        keyOf={({ site }) => site}
      />
    </Card>
  )
}

export function HoldsCard({ holds, reload }: { holds: readonly Hold[] | undefined; reload: () => void }) {
  if (!holds || holds.length === 0) return null
  const release = ({ domain, account_id, broadcast_id, email_id }: Hold) =>
    confirm({
      title: 'Release it?',
      text: 'What was held goes out, without the time it was held counting against it.',
      act: 'Release',
      harmless: true,
      async work() {
        await call('POST', '/queue/release', { domain, account_id, broadcast_id, email_id })
        say('Released.')
        reload()
      },
    })
  const columns: Column<Hold>[] = [
    {
      head: 'What is held',
      cell: ({ domain, account_id, broadcast_id, email_id }) => (
        <b>
          {[domain && `mail to ${domain}`, account_id && `of account ${account_id}`, broadcast_id, email_id]
            .filter(Boolean)
            .join(', ')}
        </b>
      ),
    },
    { head: 'Why', cell: ({ reason }) => <span class="quiet">{reason ?? '–'}</span> },
    { head: 'Since', kind: 'tight', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      head: 'Acts',
      kind: 'acts',
      cell: hold => (
        <Button small onClick={() => release(hold)}>
          Release
        </Button>
      ),
    },
  ]
  return (
    <Card title="Held" flush>
      <Table<Hold> caption="Holds" columns={columns} rows={holds} keyOf={({ id }) => id} />
    </Card>
  )
}
