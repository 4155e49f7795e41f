/**
 * Counts wrong guesses by key and says how long each key has to wait before its next guess is checked. The
 * first wrong guesses are free; each further one doubles the wait. Called by the guess guard only.
 */
import type { Clock } from '../../lib/clock.ts'
import { createGuessMemory } from './guess-memory.ts'

export interface GuessCounter {
  /** Ms until the next guess under this key is checked; 0 where it is checked at once. */
  waitMs(key: string): number
  /** Wrong guesses under this key that are neither forgiven nor taken back. */
  countOf(key: string): number
  addWrong(key: string): void
  /** Takes back so many wrong guesses, with the wait where few enough are left. */
  takeBack(key: string, count: number): void
}

interface Entry {
  count: number
  /** Monotonic time from which wrong guesses decay, in ms. */
  since: number
  /** Monotonic ms at which the wait is over. */
  until: number
}

export const FIRST_WAIT_MS = 60_000
export const WAIT_MAX_MS = 15 * 60_000
/**
 * One wrong guess is forgiven after each such period. Waits are shorter, so that steady guessing still makes
 * them grow.
 */
export const FORGIVEN_EVERY_MS = 30 * 60_000
/**
 * A key under penalty is pushed out by as many others under penalty only, each of which costs the free
 * guesses.
 */
const KEYS_MAX = 10_000

/** @param freeCount wrong guesses after which a key has to wait for the first time */
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
