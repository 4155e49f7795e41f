/** Retry schedule of webhook deliveries. */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Delays after the first, second, … attempt; there is one attempt more than delays. */
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
]
/** Jitter only lengthens a delay, so that no delay is shorter than documented. */
const JITTER_RATIO = 0.1

/** A webhook without a success for this time is disabled. */
export const FAILING_MS_MAX = 5 * 24 * HOUR_MS

/**
 * @param attempts is the number of attempts so far, at least 1
 * @param random returns a number from 0 to 1
 * @returns the delay in ms; undefined after the last attempt
 */
export function retryDelay(attempts: number, random: () => number): number | undefined {
  const delayMs = DELAYS_MS[attempts - 1]
  return delayMs === undefined ? undefined : Math.round(delayMs * (1 + JITTER_RATIO * random()))
}
