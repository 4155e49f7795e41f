/** Counts events by key in fixed windows of one minute, with a limit on events and on keys. */
import { BoundedMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'

const MINUTE_MS = 60_000
/** Keys that are counted in a minute. Beyond this, those that were counted longest ago are forgotten. */
const KEYS_MAX = 50_000

/**
 * @param limit number of events of a key in a minute; 0 means no limit
 * @returns a function that counts an event, and is false beyond the limit
 */
export function countPerMinute(limit: number, clock: Pick<Clock, 'monotonic'>): (key: string) => boolean {
  const counts = new BoundedMap<string, number>(KEYS_MAX)
  let began = clock.monotonic()
  return key => {
    if (limit === 0) return true
    const now = clock.monotonic()
    if (now - began >= MINUTE_MS) {
      counts.clear()
      began = now
    }
    const count = (counts.get(key) ?? 0) + 1
    if (count <= limit) counts.set(key, count)
    return count <= limit
  }
}
