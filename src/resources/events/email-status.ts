/** How the status of an email follows from the states of its deliveries. Pure. */
import type { DeliveryStatus, EmailStatus } from '../../store/schema.ts'

/**
 * The first rule that applies: any complained, any bounced, any failed, all suppressed, all others canceled,
 * any delayed, all others delivered; else `sent` once the first delivery was handed over, and what it was
 * before until then.
 * @param before the status while nothing has been handed over: `queued`, `scheduled` or `canceled`
 */
export function emailStatus(
  deliveries: readonly DeliveryStatus[],
  handedOver: boolean,
  before: EmailStatus,
): EmailStatus {
  const any = (status: DeliveryStatus) => deliveries.includes(status)
  if (any('complained')) return 'complained'
  if (any('bounced')) return 'bounced'
  if (any('failed')) return 'failed'
  const wanted = deliveries.filter(status => status !== 'suppressed' && status !== 'canceled')
  if (wanted.length === 0) return any('canceled') ? 'canceled' : 'suppressed'
  if (any('delivery_delayed')) return 'delivery_delayed'
  if (wanted.every(status => status === 'delivered')) return 'delivered'
  return handedOver ? 'sent' : before
}

/**
 * What an account sees of a delivery where its region gives no feedback: only what happened before transfer.
 * @param handedOver to the transfer agent, in any attempt: a failure after that is feedback, too
 */
export function withoutFeedback(status: DeliveryStatus, handedOver = false): DeliveryStatus {
  if (status === 'failed' && handedOver) return 'queued'
  return status === 'suppressed' || status === 'failed' || status === 'canceled' ? status : 'queued'
}
