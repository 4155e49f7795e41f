/** Formats times in the time zone of the browser. */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
})
const withYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' })

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

export function fullTime(iso: string): string {
  return full.format(new Date(iso))
}

export function clockTime(iso: string): string {
  return clock.format(new Date(iso))
}

/** Formats `3 minutes ago` or `in 2 hours`, and the date beyond a day. */
export function shortTime(iso: string, now = Date.now()): string {
  const at = Date.parse(iso)
  const away = at - now
  const distance = Math.abs(away)
  if (distance < 45_000) return away > 10_000 ? 'in less than a minute' : 'just now'
  if (distance < HOUR_MS) return relative.format(Math.round(away / MINUTE_MS), 'minute')
  if (distance < DAY_MS) return relative.format(Math.round(away / HOUR_MS), 'hour')
  return distance < 300 * DAY_MS ? dayAndTime.format(at) : withYear.format(at)
}

/** Formats `40 seconds`, `3 hours` or `2 days`. */
export function span(ms: number): string {
  const [count, unit] =
    ms < MINUTE_MS
      ? [Math.max(1, Math.round(ms / 1_000)), 'second']
      : ms < HOUR_MS
        ? [Math.round(ms / MINUTE_MS), 'minute']
        : ms < 2 * DAY_MS
          ? [Math.round(ms / HOUR_MS), 'hour']
          : [Math.round(ms / DAY_MS), 'day']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
