/**
 * Parses times in the extended format of ISO 8601 with an offset or `Z`, also with a blank in place of `T`
 * (RFC 3339 §5.6), as Python and PostgreSQL write them, and writes times for people.
 */

const TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/
const MINUTE_MS = 60_000

/**
 * @returns ms since the epoch, digits beyond that cut off; undefined for any other text, including a time
 * without an offset and a day that is not in the calendar
 */
export function parseIsoTime(text: string): number | undefined {
  const match = TIME.exec(text)
  if (!match) return undefined
  const [year, month, day, hours, minutes, seconds] = match.slice(1, 7).map(part => Number(part ?? 0))
  const [fraction = '', sign, offsetHours = 0, offsetMinutes = 0] = match.slice(7)
  if (hours! > 23 || minutes! > 59 || seconds! > 59) return undefined
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year!, month! - 1, day!)
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day!) return undefined
  date.setUTCHours(hours!, minutes!, seconds!, Number(fraction.slice(0, 3).padEnd(3, '0')))
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * MINUTE_MS
  return date.getTime() - (sign === '-' ? -offsetMs : offsetMs)
}

/** Returns a time for people, such as `2026-11-28 00:30 UTC`. @param at ms since the epoch */
export function utcMinute(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
