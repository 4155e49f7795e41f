/** Rate-limits a log line that could otherwise be repeated very often. */
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/** Logs the line with these fields, or counts it for the next time that it is logged. */
export type ThrottledLog = (fields: object) => void

const INTERVAL_MS = 60_000

/**
 * Logs at once, and then at most once a minute, with the number of times the event has occurred since it was
 * last logged (`times`).
 */
export function throttledLog(
  { log, clock }: { log: Log; clock: Pick<Clock, 'monotonic'> },
  level: 'warn' | 'error',
  event: string,
  message: string,
): ThrottledLog {
  let loggedAt = Number.NEGATIVE_INFINITY
  let times = 0
  return fields => {
    times++
    const now = clock.monotonic()
    if (now - loggedAt < INTERVAL_MS) return
    log[level]({ event, ...fields, times }, message)
    loggedAt = now
    times = 0
  }
}
