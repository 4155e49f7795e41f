/** Holds and rate limits that operators have set on the queue, each with a button to end it. */
import { call } from '../api/client.ts'
import type { Hold, Slowed } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { holdWords } from '../labels/health.ts'
import { counted } from '../labels/numbers.ts'

interface SlowedProps {
  slowed: readonly Slowed[] | undefined
  reload: () => void
}

export function SlowedCard({ slowed, reload }: SlowedProps) {
  if (!slowed || slowed.length === 0) return null
  const end = ({ destination }: Slowed) =>
    confirm({
      title: `Remove the rate limit for ${destination}?`,
      text: 'Mailhorn sends at the normal rate again.',
      act: 'Remove rate limit',
      harmless: true,
      async work() {
        await call('POST', '/destinations/unslow', { destination })
        say(`The rate limit for ${destination} was removed.`)
        reload()
      },
    })
  const columns: Column<Slowed>[] = [
    { head: 'Server', text: ({ destination }) => destination },
    {
      head: 'Limit',
      width: '26%',
      text: ({ messages_per_minute: most }) => `${counted(most, 'message')} per minute`,
    },
    timeColumn('Since', ({ created_at }) => created_at),
    actions(
      one => (
        <Button small onClick={() => end(one)}>
          Remove rate limit
        </Button>
      ),
      160,
    ),
  ]
  return (
    <ResourceList<Slowed>
      title="Rate limits"
      name="Destinations with a rate limit"
      list={{ data: { data: slowed }, error: undefined, reload }}
      columns={columns}
      keyOf={({ destination }) => destination}
      empty={{ icon: 'slow', title: 'No rate limits' }}
    />
  )
}

export function HoldsCard({ holds, reload }: { holds: readonly Hold[] | undefined; reload: () => void }) {
  if (!holds || holds.length === 0) return null
  const release = ({ domain, sender_domain, account_id, broadcast_id, email_id, entered_before }: Hold) =>
    confirm({
      title: 'Release this hold?',
      text: 'Held deliveries are sent. The time on hold does not count towards their expiry.',
      act: 'Release hold',
      harmless: true,
      async work() {
        await call('POST', '/queue/release', {
          ...{ domain, sender_domain, account_id, broadcast_id, email_id, entered_before },
        })
        say('The hold was released.')
        reload()
      },
    })
  const columns: Column<Hold>[] = [
    { head: 'Held deliveries', text: holdWords },
    { head: 'Reason', text: ({ reason }) => reason },
    timeColumn('Since', ({ created_at }) => created_at),
    actions(
      hold => (
        <Button small onClick={() => release(hold)}>
          Release hold
        </Button>
      ),
      124,
    ),
  ]
  return (
    <ResourceList<Hold>
      title="Holds"
      name="Holds"
      list={{ data: { data: holds }, error: undefined, reload }}
      columns={columns}
      keyOf={({ id }) => id}
      empty={{ icon: 'clock', title: 'No holds' }}
    />
  )
}
