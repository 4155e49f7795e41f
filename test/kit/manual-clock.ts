/**
 * A clock that stands still until a test moves it: for exact times, and for counting the timers that are
 * left.
 */
import type { Clock, Timer } from '../../src/lib/clock.ts'

export interface ManualClock extends Clock {
  /** Moves wall and monotonic time, and fires the timers on the way, each at its own time. */
  advance(ms: number): void
  /** Moves wall time alone. */
  jump(ms: number): void
  /** Timers neither fired nor cancelled. */
  readonly timerCount: number
}

export function createManualClock(startAt = Date.UTC(2026, 10, 21, 13, 0, 0)): ManualClock {
  let wall = startAt
  let monotonic = 5_000
  let made = 0
  const timers = new Set<{ at: number; order: number; fn: () => void }>()

  const firstDue = (until: number) =>
    [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at || a.order - b.order)[0]
  const moveTo = (at: number) => {
    wall += at - monotonic
    monotonic = at
  }

  return {
    now: () => wall,
    monotonic: () => monotonic,
    timer(ms, fn): Timer {
      const timer = { at: monotonic + ms, order: made++, fn }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer) }
    },
    advance(ms) {
      const until = monotonic + ms
      for (let timer = firstDue(until); timer; timer = firstDue(until)) {
        timers.delete(timer)
        moveTo(Math.max(monotonic, timer.at))
        timer.fn()
      }
      moveTo(until)
    },
    jump(ms) {
      wall += ms
    },
    get timerCount() {
      return timers.size
    },
  }
}

/** Lets everything that waits for nothing but promises go on. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
}
