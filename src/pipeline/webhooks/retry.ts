/** When what a webhook did not take is sent again. */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** After the first, second, … attempt; there is one attempt more than waits. */
const WAITS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
]
/** Upwards alone: no wait is shorter than it is said to be. */
const JITTER = 0.1

/** An endpoint from which nothing but failures came for so long is disabled. */
export const FAILING_FOR_MS = 5 * 24 * HOUR_MS

/**
 * @param attempts made so far, at least 1 @param random 0 to 1 @returns ms; undefined when there is no
 * further attempt
 */
export function waitAfter(attempts: number, random: () => number): number | undefined {
  const wait = WAITS_MS[attempts - 1]
  return wait === undefined ? undefined : Math.round(wait * (1 + JITTER * random()))
}
