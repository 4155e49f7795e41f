/**
 * When a scheduled email may be sent: a rule that depends on the present, and so on nothing a repetition
 * asks.
 */
import { type Refusal, refuseField } from './refusal.ts'

/** @param at null for an email that is to be sent at once */
export function refuseSendTime(at: number | null, now: number): Refusal | undefined {
  if (at === null) return undefined
  if (at <= now)
    return refuseField('invalid_field', 'scheduled_at', 'The `scheduled_at` time must be in the future.')
  if (at > yearAfter(now))
    return refuseField(
      'invalid_field',
      'scheduled_at',
      'The `scheduled_at` time may be at most one year ahead.',
    )
  return undefined
}

function yearAfter(now: number): number {
  const date = new Date(now)
  return date.setUTCFullYear(date.getUTCFullYear() + 1)
}
