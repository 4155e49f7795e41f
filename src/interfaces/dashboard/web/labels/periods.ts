/** Periods of charts, with one column per interval, including intervals without data. */
import type { Metrics } from '../api/types.ts'
import { LOCALE, timeZone } from './time.ts'

/** Column of a chart. */
export interface Column {
  /** Label under the column, shown if it fits. */
  label: string
  /** Full label, shown while the pointer is over the column. */
  title: string
  /** The interval, in ISO 8601. */
  from: string
  to: string
  /** Values by the name of the series. */
  values: Readonly<Record<string, number>>
}

export type Stretch = 'day' | 'week' | 'month' | 'quarter'

export const STRETCHES: readonly (readonly [Stretch, string])[] = [
  ['day', '24 hours'],
  ['week', '7 days'],
  ['month', '30 days'],
  ['quarter', '12 weeks'],
]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const SPANS: Readonly<
  Record<Stretch, { granularity: Metrics['granularity']; parts: number; partMs: number }>
> = {
  day: { granularity: 'hourly', parts: 24, partMs: HOUR_MS },
  week: { granularity: 'daily', parts: 7, partMs: DAY_MS },
  month: { granularity: 'daily', parts: 30, partMs: DAY_MS },
  quarter: { granularity: 'weekly', parts: 12, partMs: 7 * DAY_MS },
}

export function isStretch(text: string): text is Stretch {
  return text in SPANS
}

/**
 * Returns the query for `/emails/metrics`.
 * @param now ms since the epoch, rounded to the hour so that the URL can be cached
 */
export function metricsQuery(stretch: Stretch, now: number) {
  const { granularity, parts, partMs } = SPANS[stretch]
  const begin = beginOf(stretch, new Date(Math.floor(now / HOUR_MS) * HOUR_MS - (parts - 1) * partMs))
  return { dimensions: 'period', granularity, timezone: timeZone, start_date: begin.toISOString() }
}

/** Returns the query for the period of the same length before, up to the same time of its last interval. */
export function formerQuery(stretch: Stretch, now: number) {
  const { parts, partMs } = SPANS[stretch]
  const { start_date, ...query } = metricsQuery(stretch, now - parts * partMs)
  return { ...query, start_date, end_date: new Date(now - parts * partMs).toISOString() }
}

export function columnsOf(stretch: Stretch, { start_date, data = [] }: Metrics, now: number): Column[] {
  const { partMs } = SPANS[stretch]
  const byPart = new Map(data.map(row => [keyOf(stretch, periodTime(String(row.period))), row]))
  const columns: Column[] = []
  const at = beginOf(stretch, new Date(start_date))
  while (at.getTime() <= now) {
    const row = byPart.get(keyOf(stretch, at))
    const [from, label, title] = [at.toISOString(), labelOf(stretch, at), titleOf(stretch, at)]
    if (stretch === 'day') at.setTime(at.getTime() + partMs)
    else at.setDate(at.getDate() + partMs / DAY_MS)
    columns.push({ label, title, from, to: at.toISOString(), values: (row ?? {}) as Column['values'] })
  }
  return columns
}

/** Returns the start of the interval that contains a time: an hour, a day, or a week from Monday. */
function beginOf(stretch: Stretch, at: Date): Date {
  if (stretch === 'day') at.setMinutes(0, 0, 0)
  else at.setHours(0, 0, 0, 0)
  if (stretch === 'quarter') at.setDate(at.getDate() - ((at.getDay() + 6) % 7))
  return at
}

/** Parses a period: a day in the time zone of the browser, or an hour with its offset. */
function periodTime(period: string): Date {
  return new Date(period.length === 10 ? `${period}T00:00` : period)
}

function keyOf(stretch: Stretch, at: Date): string {
  const day = `${at.getFullYear()}-${at.getMonth()}-${at.getDate()}`
  return stretch === 'day' ? `${day} ${at.getHours()}` : day
}

function labelOf(stretch: Stretch, at: Date): string {
  if (stretch === 'day') return at.toLocaleTimeString(LOCALE, { hour: '2-digit', minute: '2-digit' })
  if (stretch === 'week') return at.toLocaleDateString(LOCALE, { weekday: 'short' })
  return at.toLocaleDateString(LOCALE, { day: 'numeric', month: 'short' })
}

function titleOf(stretch: Stretch, at: Date): string {
  const date = at.toLocaleDateString(LOCALE, { weekday: 'long', day: 'numeric', month: 'long' })
  if (stretch === 'day') return `${date}, ${labelOf(stretch, at)}`
  return stretch === 'quarter' ? `Week of ${date}` : date
}
