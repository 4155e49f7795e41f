/** Opens, clicks and sends by hour of the week. */
import { useState } from 'preact/hooks'
import { withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Metrics } from '../api/types.ts'
import { Choices } from '../components/controls.tsx'
import { Pending } from '../components/feedback.tsx'
import { HeatMap } from '../components/heat-map.tsx'
import { Card } from '../components/show.tsx'
import { realMetrics } from '../labels/simulated.ts'
import { timeZone } from '../labels/time.ts'
import { weekOf } from '../labels/week.ts'

const HOUR_MS = 3_600_000
const STRETCH_MS = 28 * 24 * HOUR_MS
const KINDS = [
  ['opened', 'Opens'],
  ['clicked', 'Clicks'],
  ['sent', 'Sends'],
] as const
type Kind = (typeof KINDS)[number][0]

interface HoursProps {
  /** Whether the first part of the page is loaded. */
  isReady: boolean
  /** Restricts the counts to this broadcast. */
  broadcastId?: string
}

export function Hours({ isReady, broadcastId }: HoursProps) {
  const query = useQuery()
  const [openedAt] = useState(() => Math.floor(Date.now() / HOUR_MS) * HOUR_MS)
  const [kind, words] = KINDS.find(([name]) => name === query.get('hours')) ?? KINDS[0]
  const path = withQuery('/emails/metrics', {
    ...{ dimensions: 'period', granularity: 'hourly', timezone: timeZone },
    metrics: KINDS.flatMap(([name]) => [name, `simulated_${name}`]).join(','),
    start_date: new Date(openedAt - STRETCH_MS).toISOString(),
    broadcast_id: broadcastId,
  })
  const { data, error, reload } = useLoad<Metrics>(isReady ? path : null)
  // a broadcast counts simulated recipients like all others
  const rows = (broadcastId || !data ? data : realMetrics(data))?.data ?? []
  return (
    <Card
      title="Activity by hour of the week"
      lead="Last four weeks, in your time zone."
      acts={
        <Choices<Kind>
          label="Metric"
          value={kind}
          options={KINDS}
          onValue={value => query.set({ hours: value === 'opened' ? null : value })}
        />
      }
    >
      {data ? (
        <HeatMap week={weekOf(rows, kind)} noun={words.toLowerCase()} />
      ) : (
        <Pending of={{ error, reload }} />
      )}
    </Card>
  )
}
