/** Dates of header fields (RFC 5322 §3.3, with the obsolete forms of §4.3). */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const ZONE_HOURS: ReadonlyMap<string, number> = new Map([
  ...['ut', 'gmt'].map(name => [name, 0] as const),
  ...[['est', -5] as const, ['cst', -6] as const, ['mst', -7] as const, ['pst', -8] as const],
  ...[['edt', -4] as const, ['cdt', -5] as const, ['mdt', -6] as const, ['pdt', -7] as const],
])
const DATE =
  /^(?:([a-z]{3}) *,)? *(\d{1,2}) *([a-z]{3}) *(\d{2,6}) +(\d{2}) *: *(\d{2})(?: *: *(\d{2}))? *( [+-]\d{4}|[a-z]{1,3})$/i
const DATE_CHARACTERS_MAX = 300
const YEAR_MIN = 1900
const MINUTE_MS = 60_000

/** Formats a date such as `Sat, 21 Nov 2026 13:00:00 +0000` (RFC 5322 §3.3). */
export function formatDate(atMs: number): string {
  return `${new Date(atMs).toUTCString().slice(0, -'GMT'.length)}+0000`
}

/**
 * Reads a date of RFC 5322. Comments, years of two digits and zones by name are obsolete but valid; a date
 * that the calendar does not have, or with the name of another weekday, is not.
 *
 * @param value unfolded value of at most 300 characters
 * @returns ms since the epoch, or undefined for text that is not a date
 */
export function parseDate(value: string): number | undefined {
  if (value.length > DATE_CHARACTERS_MAX) return undefined
  const [, weekday, day, monthName, yearDigits, hour, minute, second = '0', zone] =
    DATE.exec(withoutComments(value).replaceAll('\t', ' ').trim()) ?? []
  const year = fullYear(yearDigits ?? '')
  if (zone === undefined || year < YEAR_MIN) return undefined
  const month = MONTHS.indexOf(monthName!.toLowerCase())
  const time = Date.UTC(year, month, Number(day), Number(hour), Number(minute))
  const local = new Date(time)
  const isReal = month >= 0 && Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60
  if (!isReal || local.getUTCDate() !== Number(day)) return undefined
  if (weekday !== undefined && WEEKDAYS[local.getUTCDay()] !== weekday.toLowerCase()) return undefined
  const offset = zoneMinutes(zone.trim())
  return offset === undefined ? undefined : time + Number(second) * 1_000 - offset * MINUTE_MS
}

/** Replaces comments, also nested ones, by blanks (RFC 5322 §3.2.2). An unfinished comment stays. */
export function withoutComments(text: string): string {
  let text1 = ''
  let depth = 0
  let openedAt = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '(') {
      if (depth++ === 0) openedAt = at
    } else if (depth === 0) text1 += character
    else if (character === '\\') at += 1
    else if (character === ')' && --depth === 0) text1 += ' '
  }
  return depth === 0 ? text1 : text1 + text.slice(openedAt)
}

/** RFC 5322 §4.3: years of two digits are 1950 to 2049, of three digits 1900 and more. */
function fullYear(digits: string): number {
  const year = Number(digits)
  if (digits.length > 3) return year
  return year + (digits.length === 2 && year < 50 ? 2_000 : 1_900)
}

/** Military zones count as UTC, since they were often used with the wrong sign (RFC 5322 §4.3). */
function zoneMinutes(zone: string): number | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d\d)(\d\d)$/.exec(zone) ?? []
  if (sign !== undefined)
    return Number(minutes) < 60 ? (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) : undefined
  const name = zone.toLowerCase()
  if (/^[a-ik-z]$/.test(name)) return 0
  const named = ZONE_HOURS.get(name)
  return named === undefined ? undefined : named * 60
}
