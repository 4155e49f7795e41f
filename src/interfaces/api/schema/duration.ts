/** Lengths of time as clients write them: seconds, or a number and a unit in words. */

const UNIT_MS = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])
/** Accepted forms: `90`, `90s`, `30 min`, `2 hours`, `1 day`. */
const DURATION =
  /^(\d{1,9})\s*(?:(s)(?:ec(?:ond)?s?)?|(m)(?:in(?:ute)?s?)?|(h)(?:ours?|rs?)?|(d)(?:ays?)?)?$/i

/** Milliseconds; undefined for anything else. A number without a unit is seconds. */
export function parseDuration(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : value
  const match = typeof text === 'string' ? DURATION.exec(text.trim()) : null
  if (!match) return undefined
  const unit = match.slice(2).find(letter => letter !== undefined) ?? 's'
  return Number(match[1]) * UNIT_MS.get(unit.toLowerCase())!
}
