/** Rate-limits a log line that could otherwise be repeated very often. */
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/** Says it, or counts it for the next time that it is said. */
export type ThrottledLog = (context: object) => void

const SAID_EVERY_MS = 60_000

/** Said at once, and then once a minute at most, with how often it has happened since it was said last. */
export function throttledLog(
  { log, clock }: { log: Log; clock: Pick<Clock, 'monotonic'> },
  level: 'warn' | 'error',
  message: string,
): ThrottledLog {
  let saidAt = Number.NEGATIVE_INFINITY
  let times = 0
  return context => {
    times++
    const now = clock.monotonic()
    if (now - saidAt < SAID_EVERY_MS) return
    log[level]({ ...context, times }, message)
    saidAt = now
    times = 0
  }
}
