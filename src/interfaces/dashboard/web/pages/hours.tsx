/** Opens, clicks and sends of a broadcast by hour of the week. */
import { useState } from 'preact/hooks'
import { withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Metrics } from '../api/types.ts'
import { Choices } from '../components/controls.tsx'
import { Pending } from '../components/feedback.tsx'
import { Card } from '../components/show.tsx'
import { count } from '../labels/numbers.ts'
import { timeZone } from '../labels/time.ts'
import { DAYS, type Week, weekOf } from '../labels/week.ts'

const HOUR_MS = 3_600_000
const STRETCH_MS = 28 * 24 * HOUR_MS
const KINDS = [
  ['opened', 'Opens'],
  ['clicked', 'Clicks'],
  ['sent', 'Sends'],
] as const
type Kind = (typeof KINDS)[number][0]

export function Hours({ broadcastId }: { broadcastId: string }) {
  const query = useQuery()
  const [openedAt] = useState(() => Math.floor(Date.now() / HOUR_MS) * HOUR_MS)
  const [kind, words] = KINDS.find(([name]) => name === query.get('hours')) ?? KINDS[0]
  const path = withQuery('/emails/metrics', {
    ...{ dimensions: 'period', granularity: 'hourly', timezone: timeZone },
    metrics: KINDS.map(([name]) => name).join(','),
    start_date: new Date(openedAt - STRETCH_MS).toISOString(),
    broadcast_id: broadcastId,
  })
  const { data, error, reload } = useLoad<Metrics>(path)
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
        <HeatMap week={weekOf(data.data ?? [], kind)} noun={words.toLowerCase()} />
      ) : (
        <Pending of={{ error, reload }} />
      )}
    </Card>
  )
}

const [LEFT, TOP, CELL_W, CELL_H, GAP] = [44, 18, 28, 22, 2]
const WIDTH_PX = LEFT + 24 * CELL_W
const HEIGHT = TOP + 7 * CELL_H
/** Opacity of the lowest non-zero value, so that it stays visible. */
const FAINTEST = 0.12

/** @param noun what is counted, such as `opens` */
function HeatMap({ week, noun }: { week: Week; noun: string }) {
  const [looked, setLooked] = useState<readonly [day: number, hour: number]>()
  const most = Math.max(1, ...week.flat())
  const [day, hour] = looked ?? []
  return (
    <figure class="stack stack-tight">
      <svg class="heat" viewBox={`0 0 ${WIDTH_PX} ${HEIGHT}`} role="img" aria-label={busiest(week, noun)}>
        {[0, 6, 12, 18].map(at => (
          <text key={at} x={LEFT + at * CELL_W} y={TOP - 6}>
            {hourName(at)}
          </text>
        ))}
        {week.map((hours, row) => (
          <g key={DAYS[row]}>
            <text x={LEFT - 8} y={TOP + row * CELL_H + 15} text-anchor="end">
              {DAYS[row]!.slice(0, 3)}
            </text>
            {hours.map((value, column) => (
              <rect
                key={`${row} ${hourName(column)}`}
                class={value === 0 ? 'is-none' : ''}
                x={LEFT + column * CELL_W}
                y={TOP + row * CELL_H}
                width={CELL_W - GAP}
                height={CELL_H - GAP}
                rx="3"
                fill-opacity={value === 0 ? 1 : FAINTEST + (1 - FAINTEST) * (value / most)}
                onPointerEnter={() => setLooked([row, column])}
                onPointerLeave={() => setLooked(undefined)}
              />
            ))}
          </g>
        ))}
      </svg>
      <p class="small quiet" role="status">
        {day === undefined || hour === undefined
          ? busiest(week, noun)
          : `${DAYS[day]}, ${hourName(hour)} to ${hourName(hour + 1)}: ${count(week[day]![hour]!)} ${noun}.`}
      </p>
    </figure>
  )
}

function busiest(week: Week, noun: string): string {
  const most = Math.max(...week.flat())
  if (most === 0) return `No ${noun} yet.`
  const day = week.findIndex(hours => hours.includes(most))
  const hour = week[day]!.indexOf(most)
  return `Most ${noun} are on ${DAYS[day]}s between ${hourName(hour)} and ${hourName(hour + 1)}.`
}

function hourName(hour: number): string {
  return `${String(hour % 24).padStart(2, '0')}:00`
}
