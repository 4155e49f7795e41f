/** Checkboxes for the event types of a webhook. */
import type { Webhook } from '../api/types.ts'

export type EventType = Webhook['events'][number]

const GROUPS: readonly (readonly [name: string, types: readonly (readonly [EventType, string])[]])[] = [
  [
    'Outbound email',
    [
      ['email.sent', 'Sent'],
      ['email.delivered', 'Delivered'],
      ['email.bounced', 'Bounced'],
      ['email.complained', 'Complaint'],
      ['email.delivery_delayed', 'Deferred'],
      ['email.failed', 'Failed'],
      ['email.suppressed', 'Suppressed'],
      ['email.opened', 'Opened'],
      ['email.clicked', 'Clicked'],
      ['email.scheduled', 'Scheduled'],
      ['email.canceled', 'Canceled'],
    ],
  ],
  ['Inbound email', [['email.received', 'Received']]],
  [
    'Contacts',
    [
      ['contact.created', 'Created'],
      ['contact.updated', 'Updated'],
      ['contact.deleted', 'Deleted'],
    ],
  ],
  [
    'Domain events',
    [
      ['domain.created', 'Created'],
      ['domain.updated', 'Updated'],
      ['domain.verified', 'Verified'],
      ['domain.deleted', 'Deleted'],
    ],
  ],
]

interface EventChoiceProps {
  events: readonly EventType[]
  onEvents: (events: EventType[]) => void
}

export function EventChoice({ events, onEvents }: EventChoiceProps) {
  const toggle = (type: EventType) =>
    onEvents(events.includes(type) ? events.filter(one => one !== type) : [...events, type])
  return (
    <div class="stack">
      {GROUPS.map(([name, types]) => (
        <fieldset key={name}>
          <legend class="small">
            <b>{name}</b>
          </legend>
          <div class="row">
            {types.map(([type, label]) => (
              <label class="check" key={type} title={type}>
                <input type="checkbox" checked={events.includes(type)} onChange={() => toggle(type)} />
                {label}
              </label>
            ))}
          </div>
        </fieldset>
      ))}
    </div>
  )
}
