/** Progress and results of a broadcast that is being sent or was sent. */
import { useRef, useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type {
  Broadcast,
  BroadcastLink,
  BroadcastProviders,
  Installation,
  RecipientPreview,
} from '../api/types.ts'
import { type Column, ResourceList } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Preview } from '../components/preview.tsx'
import { Card, Facts, Meter, Time } from '../components/show.tsx'
import {
  attachmentWords,
  NO_UNSUBSCRIBE_WORDS,
  progressOf,
  progressWords,
  recipientCount,
  type SendingProgress,
  SKIP_WORDS,
  speedWords,
} from '../labels/broadcasts.ts'
import { limitWords } from '../labels/health.ts'
import { count, counted, percent } from '../labels/numbers.ts'
import {
  clickersPlace,
  emailsWith,
  RECIPIENT_TYPES,
  type RecipientType,
  recipientsPlace,
} from '../labels/places.ts'
import { providerName } from '../labels/providers.ts'
import { limitedSpeedWords, rateWords } from '../labels/rates.ts'
import { useAudienceWords, useUntracked } from './broadcast-audience.tsx'

/** Refresh interval while the broadcast is being sent and afterwards. */
const LIVE_MS = 5_000
const CALM_MS = 30_000

export function BroadcastResults({ broadcast }: { broadcast: Broadcast }) {
  const { id, html, text, attachments, started_at, sent_at, from } = broadcast
  const reason = broadcast.no_unsubscribe_reason
  const { to, topic } = useAudienceWords(broadcast)
  const untracked = useUntracked(from)
  // what was counted is shown, even if tracking is off by now
  const uncounted = {
    opened: untracked?.opens === true && recipientCount(broadcast, 'opened') === 0,
    clicked: untracked?.clicks === true && recipientCount(broadcast, 'clicked') === 0,
  }
  return (
    <>
      <Progress broadcast={broadcast} />
      <Figures broadcast={broadcast} uncounted={uncounted} />
      <div class="halves">
        <Card title="Details" acts={<Link href={emailsWith({ broadcast_id: id })}>View emails</Link>}>
          <Facts
            rows={[
              ['From', from],
              ['To', to],
              topic !== undefined && ['Topic', topic],
              ['Subject', broadcast.subject],
              attachments.length > 0 && [
                'Attachments',
                <bdi key="files">{attachmentWords(attachments)}</bdi>,
              ],
              broadcast.emails_per_hour !== null && [
                'Speed',
                rateWords(broadcast.emails_per_hour, undefined),
              ],
              reason && ['Without unsubscribe link', NO_UNSUBSCRIBE_WORDS[reason][0]],
              ['Started', <Time key="began" at={started_at} />],
              ['Finished', <Time key="ended" at={sent_at} or="Not yet" />],
            ]}
          />
        </Card>
        <Unsent broadcast={broadcast} />
      </div>
      <Providers
        id={id}
        uncounted={uncounted}
        everyMs={broadcast.status === 'sending' ? LIVE_MS * 3 : CALM_MS * 2}
      />
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
  /** Result of the recipients that it counts. */
  type: RecipientType
  value: string
}

/** Reactions that are not counted for the sending domain. */
type Uncounted = Readonly<Record<'opened' | 'clicked', boolean>>

const NOT_COUNTED = 'not counted'

function Figures({ broadcast, uncounted }: { broadcast: Broadcast; uncounted: Uncounted }) {
  const limits = useLoad<Installation>('/installation').data?.rate_limits
  const of = (type: RecipientType) => recipientCount(broadcast, type)
  const delivered = of('delivered')
  const bounceRate = of('bounced') / (delivered + of('bounced') || 1)
  const complaintRate = of('complained') / (delivered || 1)
  const share = (type: RecipientType) => (delivered === 0 ? '–' : percent(of(type) / delivered))
  const reaction = (type: 'opened' | 'clicked') =>
    uncounted[type] ? { value: '–', under: NOT_COUNTED } : { value: share(type) }
  const figures: Figure[] = [
    { type: 'sent', value: count(of('sent')) },
    { type: 'delivered', value: count(delivered) },
    { type: 'bounced', value: percent(bounceRate), ...limitWords(bounceRate, limits?.bounces) },
    { type: 'opened', ...reaction('opened') },
    { type: 'clicked', ...reaction('clicked') },
    { type: 'unsubscribed', value: share('unsubscribed') },
    {
      type: 'complained',
      value: share('complained'),
      ...limitWords(complaintRate, limits?.complaints),
    },
  ]
  return (
    <Card flush>
      <dl class="figures">
        {figures.map(({ type, value, under, tone }) => (
          <div class="figure" key={type}>
            <dt>{RECIPIENT_TYPES[type]}</dt>
            <dd>
              <Link href={recipientsPlace(broadcast.id, type)}>{value}</Link>
              <div class="under">{counted(of(type), 'recipient')}</div>
              {under && <div class={`under ${tone ?? ''}`}>{under}</div>}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

/** Members to whom nothing was sent, by reason. */
function Unsent({ broadcast }: { broadcast: Broadcast }) {
  const { id, skipped, counts } = broadcast
  const reasons = Object.keys(skipped).map(
    reason =>
      [
        recipientsPlace(id, 'skipped', reason),
        skipped[reason] ?? 0,
        (SKIP_WORDS[reason] ?? reason).toLowerCase(),
      ] as const,
  )
  const statuses = (['failed', 'canceled'] as const)
    .map(status => [emailsWith({ broadcast_id: id, status }), counts[status] ?? 0, status] as const)
    .filter(([, people]) => people > 0)
  return (
    <Card title="Not sent">
      <ul class="stack stack-tight">
        {[
          ...reasons,
          [
            recipientsPlace(id, 'suppressed'),
            recipientCount(broadcast, 'suppressed'),
            'suppressed or unsubscribed while the email waited',
          ] as const,
          ...statuses,
        ].map(([place, people, words]) => (
          <li key={words}>
            <Link href={place}>
              <b class="number">{count(people)}</b> {words}
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Progress({ broadcast }: { broadcast: Broadcast }) {
  const progress = useProgress(broadcast)
  const isSending = broadcast.status === 'sending'
  const speed = useSpeed(progress, isSending)
  if (broadcast.status === 'sent') return null
  const rate = broadcast.emails_per_hour
  const words = rate && progress && isSending ? limitedSpeedWords(rate, progress.goal - progress.sent) : speed
  return (
    <Card>
      <div class="stack stack-tight">
        <p role="status">
          {progress ? progressWords(progress) : 'Preparing the recipient list …'}
          {words && <span class="quiet">. {words}</span>}
        </p>
        <Meter share={progress && progress.goal > 0 ? progress.sent / progress.goal : 0} label="Sent" />
      </div>
    </Card>
  )
}

/** Asks once who will be skipped, while it is not the turn of all contacts. */
function useProgress(broadcast: Broadcast): SendingProgress | undefined {
  const { id, status, progress } = broadcast
  const isBegun = status === 'sending' || status === 'paused' || status === 'failed'
  const isPartly = progress.total !== null && progress.expanded < progress.total
  const [isAsked, setAsked] = useState(false)
  if (isBegun && isPartly && !isAsked) setAsked(true)
  const forecast = useLoad<RecipientPreview>(isAsked ? `/broadcasts/${id}/recipients/preview` : null)
  return progressOf(broadcast, isBegun ? forecast.data : undefined)
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

type ProviderRow = BroadcastProviders['providers'][number]

interface ProvidersProps {
  id: string
  uncounted: Uncounted
  everyMs: number
}

/** Results by mailbox provider, which show where mail is refused or not read. */
function Providers({ id, uncounted, everyMs }: ProvidersProps) {
  const loaded = useLoad<BroadcastProviders>(`/broadcasts/${id}/providers`, { everyMs })
  const { data } = loaded
  const others = data?.others ? [{ provider: OTHERS, ...data.others }] : []
  const rows = [...(data?.providers ?? []), ...others]
  const list = { error: loaded.error, reload: loaded.reload, data: data && { data: rows } }
  return (
    <ResourceList<ProviderRow>
      title="Mailbox providers"
      lead={
        data?.complete === false
          ? 'Counting took too long: these are the numbers of a part of the emails.'
          : 'A provider with fewer opens or more bounces than the others may put the email into spam or refuse it.'
      }
      name="Mailbox providers of the broadcast"
      list={list}
      columns={providerColumns(uncounted)}
      keyOf={({ provider }) => provider}
      empty={{
        icon: 'broadcasts',
        title: 'Nothing sent yet',
        children: 'Results are shown by provider once emails were handed over.',
      }}
    />
  )
}

const OTHERS = 'Others'

function shareColumn(
  head: string,
  of: (row: ProviderRow) => readonly [part: number, whole: number],
  { isExtra = false, isUncounted = false } = {},
): Column<ProviderRow> {
  return {
    head,
    kind: 'number',
    isExtra,
    cell: (row: ProviderRow) => {
      const [part, whole] = of(row)
      return whole === 0 ? '–' : isUncounted ? NOT_COUNTED : percent(part / whole)
    },
  }
}

function providerColumns(uncounted: Uncounted): readonly Column<ProviderRow>[] {
  const [opened, clicked] = [
    { isUncounted: uncounted.opened },
    { isUncounted: uncounted.clicked, isExtra: true },
  ]
  return [
    { head: 'Provider', width: '30%', text: ({ provider }) => providerName(provider) },
    { head: 'Sent', kind: 'number', cell: ({ sent }) => count(sent) },
    shareColumn('Delivered', ({ delivered, sent }) => [delivered, sent], { isExtra: true }),
    shareColumn('Bounced', ({ bounced, sent }) => [bounced, sent]),
    shareColumn('Opened', row => [row.opened, row.delivered], opened),
    shareColumn('Clicked', row => [row.clicked, row.delivered], clicked),
    shareColumn('Complained', row => [row.complained, row.delivered], { isExtra: true }),
  ]
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
      columns={columnsOf(id, most)}
      keyOf={({ number }) => String(number)}
      empty={{
        icon: 'broadcasts',
        title: 'No clicks yet',
        children: 'Clicks are counted if click tracking is on for the sending domain.',
      }}
    />
  )
}

function columnsOf(id: string, most: number): Column<BroadcastLink>[] {
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
    {
      head: 'Unique clicks',
      kind: 'number',
      cell: ({ number, unique_clicks }) => (
        <Link href={clickersPlace(id, number)}>{count(unique_clicks)}</Link>
      ),
    },
    { head: 'Total clicks', kind: 'number', cell: ({ clicks }) => count(clicks) },
    {
      head: 'Bot clicks',
      kind: 'number',
      cell: ({ machine_clicks }) => <span class="quiet">{count(machine_clicks)}</span>,
    },
  ]
}
