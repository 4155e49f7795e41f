/** When the next certificate is asked for: well before one ends, and not too often after failures. */

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** A third of its life is left for what may go wrong. */
const RENEW_AFTER = 2 / 3
/** Of a life; installations that began together come apart. */
const SPREAD = 1 / 30
const FIRST_WAIT_MS = 10 * MINUTE_MS
const WAIT_MS_MAX = DAY_MS / 2
/** Upper limit of the delay that an authority may ask for. */
const OBEYED_MS_MAX = 7 * DAY_MS

/** @param random from 0 to 1 @returns epoch ms */
export function renewalAt(startsAt: number, endsAt: number, random: number): number {
  const lifeMs = endsAt - startsAt
  return Math.round(startsAt + lifeMs * (RENEW_AFTER - SPREAD * random))
}

/**
 * Waits double with every failure, from ten minutes to half a day: within what authorities allow in failed
 * proofs.
 * @param failures in a row, this one included
 * @returns epoch ms
 */
export function retryAt(now: number, failures: number, retryAfterMs: number | null, random: number): number {
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), WAIT_MS_MAX)
  const obeyedMs = Math.min(retryAfterMs ?? 0, OBEYED_MS_MAX)
  return Math.round(now + Math.max(waitMs * (1 + random / 4), obeyedMs))
}
