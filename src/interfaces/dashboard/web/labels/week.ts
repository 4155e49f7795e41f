/** Sums counts by hour of the week. */
import type { Metrics } from '../api/types.ts'

export const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
const HOURS_PER_DAY = 24

/** Counts by weekday, from Monday, and hour. */
export type Week = readonly (readonly number[])[]

/** @param rows counts per hour in the time zone of the browser, such as `2026-11-22T09:00:00+01:00` */
export function weekOf(rows: NonNullable<Metrics['data']>, metric: string): Week {
  const week = DAYS.map(() => new Array<number>(HOURS_PER_DAY).fill(0))
  for (const row of rows) {
    const period = String(row.period)
    const date = new Date(`${period.slice(0, 10)}T00:00Z`)
    week[(date.getUTCDay() + 6) % DAYS.length]![Number(period.slice(11, 13))]! += Number(
      (row as Readonly<Record<string, unknown>>)[metric] ?? 0,
    )
  }
  return week
}
