/**
 * Counts how often Mailhorn, here or elsewhere, has sent a message on: answered, forwarded, or accepted from
 * a program or server that had it from Mailhorn. Mail loops that remove `Received` fields on their way end by
 * this count. Used for replies and forwarding (`reply-forward.ts`) and by SMTP submission.
 */

/** Number of times that the message was sent on before. */
export const ROUNDS_HEADER = 'X-Mailhorn-Answered'
/** A message with this count is not sent on. */
export const ROUNDS_MAX = 10

/** @param value value of `ROUNDS_HEADER`; undefined if the message has none */
export function readRounds(value: string | undefined): number {
  const text = value?.trim() ?? ''
  return /^\d{1,3}$/.test(text) ? Number(text) : 0
}
