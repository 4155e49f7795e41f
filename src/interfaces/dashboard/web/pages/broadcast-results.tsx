/** Progress and results of a broadcast that is being sent or was sent. */
import { useRef } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Broadcast, BroadcastLink, Installation } from '../api/types.ts'
import { type Column, ResourceList } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Preview } from '../components/preview.tsx'
import { Card, Facts, Meter, Time } from '../components/show.tsx'
import {
  NO_UNSUBSCRIBE_WORDS,
  progressOf,
  type SendingProgress,
  SKIP_WORDS,
  speedWords,
} from '../labels/broadcasts.ts'
import { limitWords } from '../labels/health.ts'
import { count, counted, percent } from '../labels/numbers.ts'
import { emailsWith, type RecipientType, recipientsPlace } from '../labels/places.ts'
import { useAudienceWords } from './broadcast-audience.ts'

/** Refresh interval while the broadcast is being sent and afterwards. */
const LIVE_MS = 5_000
const CALM_MS = 30_000

export function BroadcastResults({ broadcast }: { broadcast: Broadcast }) {
  const { id, skipped, html, text, started_at, sent_at, from } = broadcast
  const reason = broadcast.no_unsubscribe_reason
  const { to, topic } = useAudienceWords(broadcast)
  return (
    <>
      <Progress broadcast={broadcast} />
      <Figures broadcast={broadcast} />
      <div class="halves">
        <Card title="Details" acts={<Link href={emailsWith({ broadcast_id: id })}>View emails</Link>}>
          <Facts
            rows={[
              ['From', from],
              ['To', to],
              topic !== undefined && ['Topic', topic],
              ['Subject', broadcast.subject],
              reason && ['Without unsubscribe link', NO_UNSUBSCRIBE_WORDS[reason][0]],
              ['Started', <Time key="began" at={started_at} />],
              ['Finished', <Time key="ended" at={sent_at} or="Not yet" />],
            ]}
          />
        </Card>
        <Card title="Skipped">
          <ul class="stack stack-tight">
            {Object.entries(skipped).map(([reason, people]) => (
              <li key={reason}>
                <b class="number">{count(people)}</b> {SKIP_WORDS[reason] ?? reason}
              </li>
            ))}
          </ul>
        </Card>
      </div>
      <BroadcastLinks id={id} everyMs={broadcast.status === 'sending' ? LIVE_MS : CALM_MS} />
      <Card title="Content" flush>
        {html === null ? (
          <pre class="letter-text" dir="auto">
            {text}
          </pre>
        ) : (
          <Preview html={html} title="Broadcast preview" />
        )}
      </Card>
    </>
  )
}

interface Figure extends Partial<ReturnType<typeof limitWords>> {
  name: string
  value: string
  under: string
  /** Result of the recipients that it counts; absent when they are not known by name. */
  type?: RecipientType
}

function Figures({ broadcast }: { broadcast: Broadcast }) {
  const limits = useLoad<Installation>('/installation').data?.rate_limits
  const { id, counts, unique_opens, unique_clicks, unsubscribes } = broadcast
  const of = (status: string) => counts[status] ?? 0
  const delivered = of('delivered') + of('complained')
  const bounceRate = of('bounced') / (delivered + of('bounced') || 1)
  const complaintRate = of('complained') / (delivered || 1)
  const share = (part: number) => (delivered === 0 ? '–' : percent(part / delivered))
  const figures: Figure[] = [
    {
      name: 'Delivered',
      value: count(delivered),
      under: counted(delivered, 'recipient'),
      type: 'delivered',
    },
    {
      name: 'Bounced',
      value: percent(bounceRate),
      ...limitWords(bounceRate, limits?.bounces),
      type: 'bounced',
    },
    {
      name: 'Opened',
      value: share(unique_opens),
      under: counted(unique_opens, 'recipient'),
      type: 'opened',
    },
    {
      name: 'Clicked',
      value: share(unique_clicks),
      under: counted(unique_clicks, 'recipient'),
      type: 'clicked',
    },
    { name: 'Unsubscribed', value: share(unsubscribes), under: counted(unsubscribes, 'recipient') },
    {
      name: 'Complaints',
      value: share(of('complained')),
      ...limitWords(complaintRate, limits?.complaints),
      type: 'complained',
    },
  ]
  return (
    <Card flush>
      <dl class="figures">
        {figures.map(({ name, value, under, tone, type }) => (
          <div class="figure" key={name}>
            <dt>{name}</dt>
            <dd>
              {type ? <Link href={recipientsPlace(id, type)}>{value}</Link> : value}
              <div class={`under ${tone ?? ''}`}>{under}</div>
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

function Progress({ broadcast }: { broadcast: Broadcast }) {
  const progress = progressOf(broadcast)
  const speed = useSpeed(progress, broadcast.status === 'sending')
  if (broadcast.status === 'sent') return null
  return (
    <Card>
      <div class="stack stack-tight">
        <p role="status">
          {progress
            ? `${count(progress.sent)} of ${counted(progress.goal, 'email')} sent`
            : 'Preparing the recipient list …'}
          {speed && <span class="quiet">. {speed}</span>}
        </p>
        <Meter share={progress && progress.goal > 0 ? progress.sent / progress.goal : 0} label="Sent" />
      </div>
    </Card>
  )
}

/** Measures the speed since this page was opened, or since sending was resumed. */
function useSpeed(progress: SendingProgress | undefined, isSending: boolean): string {
  const begin = useRef<{ at: number; sent: number }>()
  if (!isSending || !progress) {
    begin.current = undefined
    return ''
  }
  begin.current ??= { at: Date.now(), sent: progress.sent }
  return speedWords(progress, progress.sent - begin.current.sent, Date.now() - begin.current.at)
}

const ROWS_PER_PAGE = 10

/** Clicks per link of a broadcast. */
function BroadcastLinks({ id, everyMs }: { id: string; everyMs: number }) {
  const query = useQuery()
  const list = usePaged<BroadcastLink>(`/broadcasts/${id}/links`, query, { everyMs, pageSize: ROWS_PER_PAGE })
  const most = Math.max(1, ...(list.data?.data ?? []).map(({ unique_clicks }) => unique_clicks))
  return (
    <ResourceList<BroadcastLink>
      title="Links"
      lead="Clicks per link. Clicks by bots and link scanners are counted separately."
      name="Links of the broadcast"
      list={list}
      columns={columnsOf(most)}
      keyOf={({ number }) => String(number)}
      empty={{
        icon: 'broadcasts',
        title: 'No clicks yet',
        children: 'Clicks are counted if click tracking is on for the sending domain.',
      }}
    />
  )
}

function columnsOf(most: number): Column<BroadcastLink>[] {
  return [
    { head: 'Link', text: ({ url }) => url, cell: ({ url }) => <span class="mono">{url}</span> },
    {
      head: 'Share',
      width: '18%',
      isExtra: true,
      cell: ({ unique_clicks }) => (
        <Meter share={unique_clicks / most} label="Compared with the most clicked link" />
      ),
    },
    { head: 'Unique clicks', kind: 'number', cell: ({ unique_clicks }) => count(unique_clicks) },
    { head: 'Total clicks', kind: 'number', cell: ({ clicks }) => count(clicks) },
    {
      head: 'Bot clicks',
      kind: 'number',
      cell: ({ machine_clicks }) => <span class="quiet">{count(machine_clicks)}</span>,
    },
  ]
}
