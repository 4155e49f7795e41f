/** One contact: what is known of them, what they were sent, and why they may get nothing more. */
import { useRef, useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { call, withQuery } from '../api/client.ts'
import { type Loaded, useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type {
  Audience,
  Contact,
  ContactActivity,
  ContactEmail,
  ContactSegment,
  ContactTopic,
  List,
} from '../api/types.ts'
import { Button, Switch } from '../components/controls.tsx'
import { confirm, useAct, useChange } from '../components/dialog.tsx'
import { Failure, Pending, say } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { usePaged } from '../components/paged.ts'
import { Card, Facts, Head, Time } from '../components/show.tsx'
import { segmentPlace } from '../labels/places.ts'
import { SUPPRESSION_REASONS } from '../labels/status.ts'
import { ActivityCard } from './contact-activity.tsx'
import { PropertiesCard } from './contact-properties.tsx'
import { askToRemove, ContactDialog, ContactMark } from './contacts.tsx'

/** Each has several events in the timeline. */
const EMAILS_PER_PAGE = 10

export function ContactPage({ params: { id, contact: contactId } }: PageProps) {
  const query = useQuery()
  const [isEditing, setEditing] = useState(false)
  const [, navigate] = useLocation()
  const path = `/audiences/${id}/contacts/${contactId}`
  const loaded = useLoad<Contact>(path, { on: 'contact.' })
  const audience = useLoad<Audience>(`/audiences/${id}`)
  const topics = useLoad<List<ContactTopic>>(`${path}/topics?limit=100`, { on: 'contact.' })
  const segments = useLoad<List<ContactSegment>>(`${path}/segments`, { on: 'contact.' })
  const activity = usePaged<ContactEmail, ContactActivity>(`/contacts/${contactId}/activity`, query, {
    ...{ on: 'email.', pageSize: EMAILS_PER_PAGE },
  })
  // the details stay while another page of the timeline is loaded
  const known = useRef<ContactActivity>()
  known.current = activity.data ?? known.current
  const { data: contact, reload } = loaded
  // all of it at once, so that nothing is moved by what arrives later
  const missing =
    [loaded, audience, topics, segments].find(({ data }) => !data) ?? (known.current ? undefined : activity)
  if (missing || !contact) return <Pending of={missing ?? loaded} />
  const back = `/audiences/${id}`
  const name = [contact.first_name, contact.last_name].filter(Boolean).join(' ')
  return (
    <>
      <Head
        title={contact.email}
        from={[back, audience.data?.name ?? 'Audience']}
        lead={
          <>
            <ContactMark contact={contact} /> {name}
          </>
        }
      >
        <Button
          icon="trash"
          label="Delete contact"
          onClick={() => askToRemove(contact, () => navigate(back))}
        />
        <Subscription
          path={path}
          contact={contact}
          optedOutAt={known.current?.opt_outs.find(({ topic_id }) => topic_id === null)?.created_at}
          reload={() => {
            reload()
            // its opt-outs end with a subscription
            activity.reload()
          }}
        />
        <Button onClick={() => setEditing(true)}>Edit</Button>
      </Head>
      <div class="halves">
        <Card title="Details">
          <About
            contact={contact}
            activity={known.current}
            topics={topics.data?.data ?? []}
            segments={segments.data?.data ?? []}
          />
        </Card>
        <TopicsCard path={path} topics={topics} onChanged={reload} />
      </div>
      <PropertiesCard contact={contact} path={path} onChanged={reload} />
      <ActivityCard list={activity} address={contact.email} />
      {isEditing && (
        <ContactDialog
          audience={{ id: id! }}
          contact={contact}
          onClose={() => setEditing(false)}
          onDone={reload}
        />
      )}
    </>
  )
}

interface SubscriptionProps {
  path: string
  contact: Contact
  /** Time at which the recipient opted out of everything; undefined if only the account unsubscribed them. */
  optedOutAt: string | undefined
  reload: () => void
}

function Subscription({ path, contact: { email, unsubscribed }, optedOutAt, reload }: SubscriptionProps) {
  const change = async () => {
    await call('PATCH', path, { unsubscribed: !unsubscribed })
    say(`${email} was ${unsubscribed ? 'subscribed' : 'unsubscribed'}.`)
    reload()
  }
  const { error, isBusy, run } = useAct(change)
  const subscribeAgain = () =>
    confirm({
      title: `Subscribe ${email}?`,
      text: (
        <>
          {email} unsubscribed on <Time at={optedOutAt} />. Subscribe only with their consent.
        </>
      ),
      act: 'Subscribe',
      work: change,
    })
  return (
    <>
      <Button disabled={isBusy} onClick={unsubscribed && optedOutAt ? subscribeAgain : () => void run()}>
        {unsubscribed ? 'Subscribe' : 'Unsubscribe'}
      </Button>
      {error && <Failure error={error} />}
    </>
  )
}

interface AboutProps {
  contact: Contact
  activity: ContactActivity | undefined
  topics: readonly ContactTopic[]
  segments: readonly ContactSegment[]
}

function About({ contact, activity, topics, segments }: AboutProps) {
  const nameOf = (id: string | null) =>
    id === null ? 'all broadcasts' : (topics.find(topic => topic.id === id)?.name ?? 'a deleted topic')
  const { suppression, source = null } = activity ?? {}
  return (
    <Facts
      rows={[
        ['First name', contact.first_name ?? '–'],
        ['Last name', contact.last_name ?? '–'],
        [
          'Segments',
          segments.length === 0
            ? 'None'
            : segments.map((segment, i) => (
                <span key={segment.id}>
                  {i > 0 && ', '}
                  <Link href={segmentPlace(segment)}>{segment.name}</Link>
                </span>
              )),
        ],
        ['Added', <Time key="added" at={contact.created_at} />],
        ['Changed', <Time key="changed" at={contact.updated_at} />],
        source && [
          'Source',
          <span key="source">
            Import of {source.file_name ?? 'a file'}, row {source.row}, <Time at={source.created_at} />
          </span>,
        ],
        ['Last email', <Time key="sent" at={activity?.last_sent_at} or="None" />],
        ['Last open', <Time key="opened" at={activity?.last_opened_at} or="None" />],
        ['Last click', <Time key="clicked" at={activity?.last_clicked_at} or="None" />],
        [
          'Suppression',
          suppression ? (
            <span key="suppression">
              <Link href={withQuery('/suppressions', { q: contact.email })}>
                {SUPPRESSION_REASONS[suppression.reason][0]}
              </Link>
              , <Time at={suppression.created_at} />
              {suppression.source_id && (
                <>
                  {' '}
                  (<Link href={`/emails/${suppression.source_id}`}>email</Link>)
                </>
              )}
            </span>
          ) : (
            activity && 'None'
          ),
        ],
        ...(activity?.opt_outs ?? []).map(
          ({ topic_id, created_at }) =>
            [
              'Opted out',
              <span key={topic_id}>
                Of {nameOf(topic_id)}, <Time at={created_at} />
              </span>,
            ] as const,
        ),
      ]}
    />
  )
}

interface TopicsProps {
  path: string
  topics: Loaded<List<ContactTopic>>
  onChanged: () => void
}

function TopicsCard({ path, topics, onChanged }: TopicsProps) {
  const { error, act } = useChange(async ({ id, isOn }: { id: string; isOn: boolean }) => {
    await call('PATCH', `${path}/topics`, { topics: [{ id, subscription: isOn ? 'opt_in' : 'opt_out' }] })
    topics.reload()
    onChanged()
  })
  return (
    <Card title="Topics">
      <div class="stack">
        {topics.data?.data.length === 0 && <p class="quiet">There are no topics.</p>}
        {topics.data?.data.map(({ id, name, description, subscription }) => (
          <Switch
            key={id}
            label={name}
            hint={description ?? ''}
            checked={subscription === 'opt_in'}
            onChange={isOn => act({ id, isOn })}
          />
        ))}
        {error && <Failure error={error} />}
      </div>
    </Card>
  )
}
