/** Slows guessing at passwords: wrong ones are counted by who tries what, and cost growing waits. */
import type { Clock } from '../lib/clock.ts'

export type Verdict =
  | { kind: 'right' }
  | { kind: 'wrong' }
  /** @param waitMs until the next guess is heard */
  | { kind: 'too-many'; waitMs: number }

export interface GuessGuard {
  /** Has a guess checked, unless there have been too many under this key; a right one makes good all wrong ones. */
  hear(key: string, isRight: () => Promise<boolean>): Promise<Verdict>
}

interface Failures {
  count: number
  /** Monotonic ms. */
  until: number
}

const FREE_FAILURES = 5
const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 15 * 60_000
/** Keys remembered; the oldest are forgotten first. */
const REMEMBERED = 10_000

export function createGuessGuard(clock: Clock): GuessGuard {
  const failures = new Map<string, Failures>()

  const waitMs = (key: string): number => {
    const known = failures.get(key)
    return known ? Math.max(0, known.until - clock.monotonic()) : 0
  }
  const failed = (key: string) => {
    const count = (failures.get(key)?.count ?? 0) + 1
    const wait = count < FREE_FAILURES ? 0 : FIRST_WAIT_MS * 2 ** (count - FREE_FAILURES)
    failures.delete(key)
    failures.set(key, { count, until: clock.monotonic() + Math.min(wait, LONGEST_WAIT_MS) })
    if (failures.size > REMEMBERED) failures.delete(failures.keys().next().value!)
  }

  return {
    async hear(key, isRight) {
      const before = waitMs(key)
      if (before > 0) return { kind: 'too-many', waitMs: before }
      const right = await isRight()
      const after = waitMs(key) // guesses made at once learn no more than guesses in a row
      if (after > 0) return { kind: 'too-many', waitMs: after }
      if (right) failures.delete(key)
      else failed(key)
      return { kind: right ? 'right' : 'wrong' }
    },
  }
}
