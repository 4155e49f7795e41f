/** Parses durations: seconds, or a number with a unit. */

const UNIT_MS = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])
/** Accepted forms: `90`, `90s`, `30 min`, `2 hours`, `1 day`. */
const DURATION =
  /^(\d{1,9})\s*(?:(s)(?:ec(?:ond)?s?)?|(m)(?:in(?:ute)?s?)?|(h)(?:ours?|rs?)?|(d)(?:ays?)?)?$/i

/** Returns milliseconds, or undefined for anything else. A number without a unit is in seconds. */
export function parseDuration(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : value
  const match = typeof text === 'string' ? DURATION.exec(text.trim()) : null
  if (!match) return undefined
  const unit = match.slice(2).find(letter => letter !== undefined) ?? 's'
  return Number(match[1]) * UNIT_MS.get(unit.toLowerCase())!
}
