/** Parses durations: seconds, or numbers with units, which are added up. */

const UNIT_MS = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
])
const PART = String.raw`(\d{1,9}(?:\.\d{1,3})?) ?(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?|rs?)?|d(?:ays?)?|w(?:(?:ee)?ks?)?)(?![a-z])`
/** Between two parts: nothing, a blank, a comma or "and". */
const SEPARATOR = '(?:,? (?:and )?|,)?'
const DURATION = new RegExp(`^${PART}(?:${SEPARATOR}${PART})*$`)
const PARTS = new RegExp(PART, 'g')
const SECONDS = /^\d{1,9}$/
const TEXT_LENGTH_MAX = 100

/**
 * Accepted forms: `90`, `90s`, `30 min`, `2 hours`, `1.5 h`, `1h 30m`, `1 day and 6 hours`. A number without
 * a unit is in seconds and stands alone; each unit may occur once.
 * @returns milliseconds, or undefined for anything else
 */
export function parseDuration(value: unknown): number | undefined {
  const raw = typeof value === 'number' ? String(value) : value
  if (typeof raw !== 'string' || raw.length > TEXT_LENGTH_MAX) return undefined
  const text = raw.trim().toLowerCase().replace(/\s+/g, ' ')
  if (SECONDS.test(text)) return Number(text) * 1_000
  if (!DURATION.test(text)) return undefined
  const parts = [...text.matchAll(PARTS)].map(([, count, unit]) => ({
    count: Number(count),
    unit: unit![0]!,
  }))
  if (new Set(parts.map(({ unit }) => unit)).size < parts.length) return undefined
  return Math.round(parts.reduce((sum, { count, unit }) => sum + count * UNIT_MS.get(unit)!, 0))
}
