/** When a deferred delivery is tried again. */

const MINUTE_MS = 60_000
const LATER_WAITS_MS = [20, 40, 80, 120, 240].map(minutes => minutes * MINUTE_MS)

/** Waits after the first, second, … attempt; the last one repeats. */
const WAITS_MS = [MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, ...LATER_WAITS_MS]
/**
 * Every five minutes for an hour: a greylist opens within it, and some begin anew when one comes too early.
 */
const GREYLISTED_WAITS_MS = [MINUTE_MS, ...Array<number>(11).fill(5 * MINUTE_MS), ...LATER_WAITS_MS]
const JITTER = 0.1
/**
 * From then on a hint lengthens the wait, and no longer shortens it: a server that always says `30 seconds`
 * is not asked for days.
 */
const ATTEMPTS_BY_HINT_MAX = 12

interface Deferral {
  now: number
  /** Made so far, at least 1. */
  attempts: number
  expiresAt: number
  isGreylisted?: boolean
  /** A wait that replaces the schedule's. */
  wantedMs?: number
  /** What the other side asked for: no earlier than that. */
  hintMs?: number
}

/**
 * Several tries in the first hour, because greylisting ends there, then every four hours (RFC 5321 §4.5.4.1
 * asks for at least 30 minutes between later ones). Jitter of ±10 % keeps a recovered host from a stampede;
 * what a host asks for is jittered upwards alone. A hint that would let the delivery expire is not taken.
 * What would come after `expiresAt` comes then: that is the last attempt.
 * @param random 0 to 1
 * @returns epoch ms, or undefined once `expiresAt` has come: the delivery is given up
 */
export function nextAttemptAt(deferral: Deferral, random: () => number): number | undefined {
  const { now, attempts, expiresAt, isGreylisted = false, wantedMs, hintMs } = deferral
  if (now >= expiresAt) return undefined
  const planned = wantedMs ?? waitAfter(attempts, isGreylisted ? GREYLISTED_WAITS_MS : WAITS_MS)
  const share = random()
  if (hintMs !== undefined) {
    const asked = attempts <= ATTEMPTS_BY_HINT_MAX ? hintMs : Math.max(hintMs, planned)
    const at = now + Math.round(asked * (1 + JITTER * share))
    if (at <= expiresAt) return at
  }
  const at = now + Math.round(planned * (1 - JITTER + 2 * JITTER * share))
  return Math.min(at, expiresAt)
}

function waitAfter(attempts: number, waits: readonly number[]): number {
  return waits[Math.min(attempts, waits.length) - 1]!
}
