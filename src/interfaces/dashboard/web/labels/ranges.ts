/** Periods of time that lists are filtered by, in days of the time zone of the browser. */
import { LOCALE } from './time.ts'

/** Values of the parameters of the API; an empty text is an open end. */
export interface Range {
  created_after: string
  created_before: string
}

/** First and last day, such as `2026-11-26`; an empty text is an open end. */
export interface Days {
  from: string
  to: string
}

const day = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' })
const minute = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit' })

export const PRESETS = [
  ['Today', (now: Date) => lastDays(now, 1)],
  [
    'Yesterday',
    (now: Date) => rangeOfDays({ from: dayText(daysBefore(now, 1)), to: dayText(daysBefore(now, 1)) }),
  ],
  ['Last 7 days', (now: Date) => lastDays(now, 7)],
  ['Last 30 days', (now: Date) => lastDays(now, 30)],
] as const

/** Returns the range of these days, today included. */
function lastDays(now: Date, count: number): Range {
  return rangeOfDays({ from: dayText(daysBefore(now, count - 1)), to: '' })
}

export function rangeOfDays({ from, to }: Days): Range {
  return {
    created_after: from === '' ? '' : new Date(`${from}T00:00`).toISOString(),
    created_before: to === '' ? '' : daysBefore(new Date(`${to}T00:00`), -1).toISOString(),
  }
}

export function daysOf({ created_after, created_before }: Range): Days {
  const [begin, end] = [Date.parse(created_after), Date.parse(created_before)]
  return {
    from: Number.isNaN(begin) ? '' : dayText(new Date(begin)),
    to: Number.isNaN(end) ? '' : dayText(new Date(end - 1)),
  }
}

/** Formats `24 Nov to 26 Nov`, `since 24 Nov` or `26 Nov 20:00 to 26 Nov 21:00`; empty without limits. */
export function rangeWords({ created_after, created_before }: Range, now: Date): string {
  const begin = created_after === '' ? undefined : new Date(created_after)
  const end = created_before === '' ? undefined : new Date(created_before)
  if ([begin, end].some(at => at && Number.isNaN(at.getTime())))
    return `${created_after} to ${created_before}`
  const isWhole = [begin, end].every(at => !at || (at.getHours() === 0 && at.getMinutes() === 0))
  const dayWords = (at: Date) => (at.getFullYear() === now.getFullYear() ? day : dayOfYear).format(at)
  const words = (at: Date) => (isWhole ? dayWords(at) : `${dayWords(at)} ${minute.format(at)}`)
  const first = begin && words(begin)
  const last = end && words(isWhole ? new Date(end.getTime() - 1) : end)
  if (first && last) return first === last ? first : `${first} to ${last}`
  if (first) return `since ${first}`
  return last ? `${isWhole ? 'until' : 'before'} ${last}` : ''
}

function daysBefore(at: Date, count: number): Date {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() - count)
}

export function dayText(at: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}
