/** Computes the time of the next attempt of a deferred delivery. */

const MINUTE_MS = 60_000
const LATER_DELAYS_MS = [20, 40, 80, 120, 240].map(minutes => minutes * MINUTE_MS)

/** Delays after the first, second, … attempt; the last one repeats. */
const DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, ...LATER_DELAYS_MS]
/**
 * Delays for greylisted deliveries: every five minutes for an hour. Greylisting usually ends within the hour,
 * and some servers start again when an attempt comes too early.
 */
const GREYLISTED_DELAYS_MS = [MINUTE_MS, ...Array<number>(11).fill(5 * MINUTE_MS), ...LATER_DELAYS_MS]
const JITTER_RATIO = 0.1
/**
 * After this many attempts a hint of the server can only lengthen the delay. Otherwise a server that always
 * replies `30 seconds` would be tried every 30 seconds for days.
 */
const HINTED_ATTEMPTS_MAX = 12

interface Deferral {
  now: number
  /** Number of attempts so far, at least 1. */
  attempts: number
  expiresAt: number
  isGreylisted?: boolean
  /** Delay in ms that replaces the one of the schedule. */
  wantedMs?: number
  /** Minimum delay in ms that the server has asked for. */
  hintMs?: number
}

/**
 * The schedule makes several attempts in the first hour, because greylisting ends within it, and later one
 * every four hours (RFC 5321 §4.5.4.1 asks for at least 30 minutes between attempts). Jitter of ±10 %
 * protects a recovered host from a burst; a hint is only lengthened by jitter. A hint beyond `expiresAt` is
 * ignored. An attempt planned after `expiresAt` takes place at that time, as the last one.
 * @param random returns a number from 0 to 1
 * @returns the time in ms since the epoch, or undefined after `expiresAt`, when the delivery expires
 */
export function nextAttemptAt(deferral: Deferral, random: () => number): number | undefined {
  const { now, attempts, expiresAt, isGreylisted = false, wantedMs, hintMs } = deferral
  if (now >= expiresAt) return undefined
  const planned = wantedMs ?? delayAfter(attempts, isGreylisted ? GREYLISTED_DELAYS_MS : DELAYS_MS)
  const share = random()
  if (hintMs !== undefined) {
    const delayMs = attempts <= HINTED_ATTEMPTS_MAX ? hintMs : Math.max(hintMs, planned)
    const at = now + Math.round(delayMs * (1 + JITTER_RATIO * share))
    if (at <= expiresAt) return at
  }
  const at = now + Math.round(planned * (1 - JITTER_RATIO + 2 * JITTER_RATIO * share))
  return Math.min(at, expiresAt)
}

function delayAfter(attempts: number, delays: readonly number[]): number {
  return delays[Math.min(attempts, delays.length) - 1]!
}
