/** Formats times in the time zone of the browser. */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The language of the dashboard, whatever that of the browser is. */
export const LOCALE = 'en-GB'
const full = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'full', timeStyle: 'long' })
const longDay = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'full', timeStyle: 'short' })
const day = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' })
const minute = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit' })
const clock = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' })

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Formats `3 minutes ago: Friday, 27 November 2026 at 20:14:03 UTC`. */
export function fullTime(iso: string, now = Date.now()): string {
  const away = Date.parse(iso) - now
  const whole = full.format(new Date(iso))
  return Math.abs(away) < 30 * DAY_MS ? `${relativeTime(iso, now)}: ${whole}` : whole
}

/** Formats `Friday, 27 November 2026 at 20:14`. */
export function dayAndTime(iso: string): string {
  return longDay.format(new Date(iso))
}

export function clockTime(iso: string): string {
  return clock.format(new Date(iso))
}

/** Formats `20:14:03` for a time of today, `26 Nov 20:14` for one of this year, otherwise `26 Nov 2025`. */
export function exactTime(iso: string, now = Date.now()): string {
  const [at, today] = [new Date(iso), new Date(now)]
  if (at.toDateString() === today.toDateString()) return clock.format(at)
  return at.getFullYear() === today.getFullYear()
    ? `${day.format(at)} ${minute.format(at)}`
    : dayOfYear.format(at)
}

/** Formats `today at 20:14`, `on 1 Dec at 09:00` or, of another year, `on 1 Dec 2027 at 09:00`. */
export function onDayAtTime(iso: string, now = Date.now()): string {
  const [at, today] = [new Date(iso), new Date(now)]
  const time = `at ${minute.format(at)}`
  if (at.toDateString() === today.toDateString()) return `today ${time}`
  return `on ${(at.getFullYear() === today.getFullYear() ? day : dayOfYear).format(at)} ${time}`
}

/** Formats `3 minutes ago` or `in 2 days`. */
export function relativeTime(iso: string, now = Date.now()): string {
  const away = Date.parse(iso) - now
  const distance = Math.abs(away)
  if (distance < 45_000) return away > 10_000 ? 'in under a minute' : 'just now'
  if (distance < HOUR_MS) return relative.format(Math.round(away / MINUTE_MS), 'minute')
  if (distance < DAY_MS) return relative.format(Math.round(away / HOUR_MS), 'hour')
  return relative.format(Math.round(away / DAY_MS), 'day')
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

/** Formats a local time without a zone for an `input` of type `datetime-local`. */
export function localInput(iso: string): string {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
