/** Tells which deliveries of webhooks were replaced. */
import type { WebhookDelivery } from '../api/types.ts'

type Replaceable = Pick<WebhookDelivery, 'id' | 'event_id' | 'success' | 'attempts' | 'next_attempt_at'>

/**
 * A resend cancels the remaining attempts of a delivery that has not succeeded. Neither is stored with it: it
 * has no next attempt, and there is a newer delivery of its event.
 * @param deliveries newest first
 * @returns ids of the deliveries that a newer one of the same event has replaced
 */
export function replacedDeliveries(deliveries: readonly Replaceable[]): Set<string> {
  const sentAnew = new Set<string>()
  const replaced = new Set<string>()
  for (const { id, event_id, success, attempts, next_attempt_at } of deliveries) {
    const isOver = !success && attempts > 0 && next_attempt_at === null
    if (isOver && sentAnew.has(event_id)) replaced.add(id)
    sentAnew.add(event_id)
  }
  return replaced
}
