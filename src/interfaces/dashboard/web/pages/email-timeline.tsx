/** Events of an email in chronological order. */
import type { ComponentChildren } from 'preact'
import type { Email } from '../api/types.ts'
import { Time } from '../components/show.tsx'
import type { Tone } from '../labels/status.ts'

type EmailEvent = Email['events'][number]

export const EVENT_WORDS: Readonly<Record<EmailEvent['type'], readonly [label: string, tone: Tone]>> = {
  'email.scheduled': ['Scheduled', 'info'],
  'email.sent': ['Sent', 'info'],
  'email.delivery_delayed': ['Deferred', 'warn'],
  'email.delivered': ['Delivered', 'good'],
  'email.bounced': ['Bounced', 'bad'],
  'email.complained': ['Complaint', 'bad'],
  'email.suppressed': ['Suppressed', 'warn'],
  'email.failed': ['Failed', 'bad'],
  'email.canceled': ['Canceled', 'none'],
  'email.opened': ['Opened', 'good'],
  'email.clicked': ['Clicked', 'good'],
  'email.received': ['Received', 'good'],
}

export function EmailTimeline({ email: { created_at, events, recipients } }: { email: Email }) {
  return (
    <ol class="path-line">
      <TimelineItem label="Created" at={created_at} />
      {events.map(event => (
        <EventItem key={event.id} event={event} withRecipient={recipients.length > 1} />
      ))}
    </ol>
  )
}

function EventItem({ event, withRecipient }: { event: EmailEvent; withRecipient: boolean }) {
  const { type, created_at, recipient, data } = event
  const [label, tone] = EVENT_WORDS[type]
  return (
    <TimelineItem label={label} tone={tone} detail={detailOf(data)} at={created_at}>
      {withRecipient && recipient && <span> {recipient}</span>}
    </TimelineItem>
  )
}

interface TimelineItemProps {
  label: string
  tone?: Tone
  detail?: string | undefined
  at: string
  /** Follows the label in its line. */
  children?: ComponentChildren
}

export function TimelineItem({ label, tone, detail, at, children }: TimelineItemProps) {
  return (
    <li class={tone && `is-${tone}`}>
      <b>{label}</b>
      {children}
      {detail && <div class="small quiet mono">{detail}</div>}
      <div class="quiet small">
        <Time at={at} />
      </div>
    </li>
  )
}

/** Returns the detail of an event in one line: the link, the reply or the reason. */
export function detailOf(data: Readonly<Record<string, unknown>>): string | undefined {
  for (const value of Object.values(data)) {
    if (typeof value !== 'object' || value === null) continue
    const known = value as Record<string, unknown>
    for (const name of ['link', 'message', 'reply', 'reason']) {
      const text = known[name]
      if (typeof text === 'string' && text !== '') return text
    }
  }
  return undefined
}
