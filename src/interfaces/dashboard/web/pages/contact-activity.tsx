/** Emails to a contact and their events in one timeline, newest first. */
import type { ComponentProps } from 'preact'
import { Link } from 'wouter-preact'
import type { ContactEmail } from '../api/types.ts'
import { Empty, Pending } from '../components/feedback.tsx'
import { Pages } from '../components/list.tsx'
import { Card } from '../components/show.tsx'
import { emailsWith } from '../labels/places.ts'
import { EMAIL_WORDS, type Tone } from '../labels/status.ts'
import { detailOf, EVENT_WORDS, TimelineItem } from './email-timeline.tsx'

type Source = ComponentProps<typeof Pages>['list'] & { data: { data: readonly ContactEmail[] } | undefined }

export function ActivityCard({ list, address }: { list: Source; address: string }) {
  const { data } = list
  if (data?.data.length === 0)
    return (
      <Card title="Activity">
        <Empty icon="emails" title="No emails yet">
          Emails to this address and their events are listed here for as long as your plan keeps emails.
        </Empty>
      </Card>
    )
  return (
    <Card title="Activity" acts={<Link href={emailsWith({ to: address })}>View emails</Link>}>
      {data ? (
        <ol class="path-line">{data.data.flatMap(entriesOf).sort(newestFirst).map(item)}</ol>
      ) : (
        <Pending of={list} rows={5} />
      )}
      <Pages list={list} />
    </Card>
  )
}

interface Entry {
  key: string
  at: string
  label: string
  tone: Tone
  detail: string | undefined
  email: ContactEmail
}

/** Returns the events of an email; one entry for its status while it has none. */
function entriesOf(email: ContactEmail): Entry[] {
  const { id, status, created_at: at, events } = email
  if (events.length === 0) return [{ key: id, at, ...EMAIL_WORDS[status], detail: undefined, email }]
  return events.map(({ id: key, type, created_at, data }) => {
    const [label, tone] = EVENT_WORDS[type]
    return { key, at: created_at, label, tone, detail: detailOf(data), email }
  })
}

function newestFirst(a: Entry, b: Entry): number {
  if (a.at === b.at) return a.key < b.key ? 1 : -1
  return a.at < b.at ? 1 : -1
}

function item({ key, email: { id, subject, broadcast_id }, ...entry }: Entry) {
  return (
    <TimelineItem key={key} {...entry}>
      {' '}
      <Link href={`/emails/${id}`}>
        <bdi>{subject || '(no subject)'}</bdi>
      </Link>
      {broadcast_id && (
        <>
          {' '}
          (<Link href={`/broadcasts/${broadcast_id}`}>broadcast</Link>)
        </>
      )}
    </TimelineItem>
  )
}
