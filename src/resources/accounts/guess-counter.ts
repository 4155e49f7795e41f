/**
 * Counts wrong guesses by key and says how long each key has to wait before its next guess is checked. The
 * first wrong guesses are free; each further one doubles the wait. Called by the guess guard only.
 */
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'

export interface GuessCounter {
  /** Returns the time until the next guess under this key is checked, in ms; 0 if it is checked at once. */
  waitMs(key: string): number
  /** Returns the number of wrong guesses under this key that are neither forgiven nor taken back. */
  countOf(key: string): number
  addWrong(key: string): void
  /** Takes back wrong guesses, and the wait if few enough remain. */
  takeBack(key: string, count: number): void
}

interface Entry {
  count: number
  /** Monotonic time from which wrong guesses decay, in ms. */
  since: number
  /** Monotonic time at which the wait ends, in ms. */
  until: number
}

export const FIRST_WAIT_MS = 60_000
const WAIT_MAX_MS = 15 * 60_000
/**
 * One wrong guess is forgiven per interval. The maximum wait is shorter than this interval, so that waits
 * keep growing under a steady attack.
 */
export const FORGIVEN_EVERY_MS = 30 * 60_000
/**
 * A delayed key is evicted only by this many other delayed keys, each of which costs the attacker the free
 * guesses.
 */
const KEYS_MAX = 10_000

/** @param freeCount number of wrong guesses without a wait */
export function createGuessCounter(clock: Pick<Clock, 'monotonic'>, freeCount: number): GuessCounter {
  const memory = createGuessMemory<Entry>(KEYS_MAX)

  const keep = (key: string, entry: Entry) => memory.set(key, entry, entry.count >= freeCount)
  const current = (key: string): Entry => {
    const now = clock.monotonic()
    const known = memory.get(key)
    if (!known) return { count: 0, since: now, until: now }
    const forgiven = Math.floor((now - known.since) / FORGIVEN_EVERY_MS)
    if (forgiven >= known.count) return { count: 0, since: now, until: known.until }
    return { ...known, count: known.count - forgiven, since: known.since + forgiven * FORGIVEN_EVERY_MS }
  }

  return {
    waitMs: key => Math.max(0, (memory.get(key)?.until ?? 0) - clock.monotonic()),
    countOf: key => current(key).count,
    addWrong(key) {
      const { count: before, since } = current(key)
      const count = before + 1
      const wait = count < freeCount ? 0 : FIRST_WAIT_MS * 2 ** (count - freeCount)
      keep(key, { count, since, until: clock.monotonic() + Math.min(wait, WAIT_MAX_MS) })
    },
    takeBack(key, takenBack) {
      const { count: before, since, until } = current(key)
      const count = Math.max(0, before - takenBack)
      if (count === 0) memory.delete(key)
      else keep(key, { count, since, until: count < freeCount ? clock.monotonic() : until })
    },
  }
}

/**
 * Creates a bounded map in which a flood of new keys does not evict delayed keys.
 *
 * @param entriesMax limit per kind (protected or not); the entries that were set longest ago are evicted
 */
export function createGuessMemory<V>(entriesMax: number) {
  const ordinary = new BoundedMap<string, V>(entriesMax)
  const protectedOnes = new BoundedMap<string, V>(entriesMax)
  const forget = (key: string) => {
    ordinary.delete(key)
    protectedOnes.delete(key)
  }
  return {
    get: (key: string): V | undefined => protectedOnes.get(key) ?? ordinary.get(key),
    /** @param isProtected whether only other protected entries may evict this one; may differ between calls */
    set(key: string, value: V, isProtected: boolean): void {
      forget(key)
      const entries = isProtected ? protectedOnes : ordinary
      entries.set(key, value)
    },
    delete: forget,
  }
}
