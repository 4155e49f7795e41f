/** Words the rate of a broadcast, which limits its emails in an hour. */
import { count, counted } from './numbers.ts'

const MINUTES = 60
/** Above this number of minutes, a time is given in hours. */
const MINUTES_MAX = 90

/** Returns the rate at which emails are spread over hours. */
export function rateForHours(emails: number, hours: number): number {
  return Math.max(1, Math.ceil(emails / hours))
}

/** Formats `4 minutes` or `3 hours`. */
export function durationWords(minutes: number): string {
  return minutes > MINUTES_MAX
    ? counted(Math.round(minutes / MINUTES), 'hour')
    : counted(Math.ceil(minutes), 'minute')
}

/**
 * Formats `At most 500 emails an hour, which takes about 3 hours`.
 * @param emails number of emails that are left to send; undefined if it is not known
 */
export function rateWords(rate: number, emails: number | undefined): string {
  const most = `At most ${counted(rate, 'email')} an hour`
  if (!emails) return most
  return `${most}, which takes about ${durationWords((emails / rate) * MINUTES)}`
}

/** Formats `at most 500 an hour, about 3 hours left`. */
export function limitedSpeedWords(rate: number, left: number): string {
  const words = `At most ${count(rate)} an hour`
  return left > 0 ? `${words}, about ${durationWords((left / rate) * MINUTES)} left` : words
}
