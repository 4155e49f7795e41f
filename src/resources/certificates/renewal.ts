/** Computes when to order the next certificate, and the delay after failures. */

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Share of the lifetime after which a certificate is renewed. The rest is a reserve for failures. */
const RENEW_AFTER = 2 / 3
/**
 * Random share of the lifetime by which renewals are spread, so that installations do not renew at the same
 * time.
 */
const SPREAD = 1 / 30
const FIRST_WAIT_MS = 10 * MINUTE_MS
const WAIT_MS_MAX = DAY_MS / 2
/** Upper limit of the delay that an authority may ask for. */
const OBEYED_MS_MAX = 7 * DAY_MS

/**
 * @param random number between 0 and 1
 * @returns ms since the epoch
 */
export function renewalAt(startsAt: number, endsAt: number, random: number): number {
  const lifeMs = endsAt - startsAt
  return Math.round(startsAt + lifeMs * (RENEW_AFTER - SPREAD * random))
}

/**
 * Doubles the delay with every failure, from ten minutes to twelve hours, which respects the limits of
 * authorities for failed validations.
 * @param failures number of consecutive failures including this one
 * @returns ms since the epoch
 */
export function retryAt(now: number, failures: number, retryAfterMs: number | null, random: number): number {
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), WAIT_MS_MAX)
  const obeyedMs = Math.min(retryAfterMs ?? 0, OBEYED_MS_MAX)
  return Math.round(now + Math.max(waitMs * (1 + random / 4), obeyedMs))
}
