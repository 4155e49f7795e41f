/** When a deferred delivery is tried again. */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Waits after the first, second, … attempt; the last one repeats. */
const WAITS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  20 * MINUTE_MS,
  40 * MINUTE_MS,
  80 * MINUTE_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
]
const JITTER = 0.1

/**
 * Several tries in the first hour, because greylisting ends there, then every four hours (RFC 5321 §4.5.4.1
 * asks for at least 30 minutes between later ones). Jitter of ±10 % keeps a recovered host from a stampede.
 * @param attempts made so far, at least 1
 * @param random 0 to 1
 * @param wantedMs a wait that replaces the schedule's
 * @returns epoch ms, or undefined when that is past `expiresAt`: the delivery is given up
 */
export function nextAttemptAt(
  {
    now,
    attempts,
    expiresAt,
    wantedMs,
  }: { now: number; attempts: number; expiresAt: number; wantedMs?: number },
  random: () => number,
): number | undefined {
  const wait = wantedMs ?? WAITS_MS[Math.min(attempts, WAITS_MS.length) - 1]!
  const at = now + Math.round(wait * (1 - JITTER + 2 * JITTER * random()))
  return at > expiresAt ? undefined : at
}
