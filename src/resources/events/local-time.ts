/** Hours, days, weeks and months in a time zone. */

export const GRANULARITIES = ['hourly', 'daily', 'weekly', 'monthly'] as const
export type Granularity = (typeof GRANULARITIES)[number]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Returns a function from a time (epoch ms) to the local wall clock reading, expressed as the epoch ms of the
 * same reading in UTC.
 * @throws RangeError for an unknown zone
 */
export function localWallClock(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  return at => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type)!
    return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'))
  }
}

/**
 * @param utcMidnight beginning of the day in UTC
 * @returns beginning of the day in the zone, epoch ms
 */
export function dayBegin(wall: (at: number) => number, utcMidnight: number): number {
  let at = utcMidnight
  for (let i = 0; i < 2; i++) at += utcMidnight - wall(at)
  return at
}

/**
 * Names periods of one granularity: by date, and hours by time with offset. The names sort chronologically.
 */
export function periodNamer(wall: (at: number) => number, granularity: Granularity): (at: number) => string {
  return at => {
    const shown = wall(at)
    if (granularity === 'hourly') {
      const hour = new Date(Math.floor(shown / HOUR_MS) * HOUR_MS).toISOString().slice(0, 19)
      return hour + offsetText(shown - at)
    }
    return new Date(beginOf(shown, granularity)).toISOString().slice(0, 10)
  }
}

/** Weeks begin on Mondays. */
function beginOf(shown: number, granularity: 'daily' | 'weekly' | 'monthly'): number {
  const day = Math.floor(shown / DAY_MS) * DAY_MS
  const date = new Date(day)
  if (granularity === 'weekly') return day - ((date.getUTCDay() + 6) % 7) * DAY_MS
  return granularity === 'monthly' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) : day
}

function offsetText(offsetMs: number): string {
  if (offsetMs === 0) return 'Z'
  const minutes = Math.abs(Math.round(offsetMs / 60_000))
  const two = (value: number) => String(value).padStart(2, '0')
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
