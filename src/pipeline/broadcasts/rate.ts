/**
 * Spreads the emails of a broadcast with a limited rate: they are made in portions of about a minute. Pure.
 * Called by the commands that expand a broadcast or change its rate.
 */

const HOUR_MS = 3_600_000
const PORTIONS_PER_HOUR = 60

/** Maximum of the rate, far more than one installation delivers. */
export const EMAILS_PER_HOUR_MAX = 10_000_000

/** Returns the number of emails to make at once, of those that are left in a page. */
export function portionOf(left: number, emailsPerHour: number | null): number {
  if (emailsPerHour === null) return left
  return Math.min(left, Math.ceil(emailsPerHour / PORTIONS_PER_HOUR))
}

/** Returns the time in ms after which further emails are made. */
export function delayAfter(emailCount: number, emailsPerHour: number | null): number {
  return emailsPerHour === null ? 0 : Math.ceil((emailCount * HOUR_MS) / emailsPerHour)
}
