/** Derives the status of an email from the states of its deliveries. */
import type { DeliveryRow, DeliveryStatus, EmailRow, EmailStatus } from '../../store/model/schema.ts'

/**
 * The first rule that applies decides: any complained, any bounced, any failed, all suppressed, all others
 * canceled, any delayed, all others delivered; otherwise `sent` after the first delivery was handed over, and
 * `before` until then.
 * @param before status before any delivery was handed over: `queued`, `scheduled` or `canceled`
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
 * Whether the account sees no details of the delivery, because its region has no feedback. It still sees that
 * a recipient was suppressed or canceled before the first transfer.
 */
export function hidesResult(
  { feedback }: Pick<EmailRow, 'feedback'>,
  { status, signedAt }: Pick<DeliveryRow, 'status' | 'signedAt'>,
): boolean {
  if (feedback === 1) return false
  const isHandedOver = signedAt !== null
  return isHandedOver || withoutFeedback(status, isHandedOver) !== status
}

/**
 * Hides the outcome of a delivery in a region without feedback; only what happened before the transfer is
 * visible.
 * @param handedOver true if an attempt was begun with the message, since a failure after that is
 * feedback, too
 */
export function withoutFeedback(status: DeliveryStatus, handedOver: boolean): DeliveryStatus {
  if (status === 'failed' && handedOver) return 'queued'
  return status === 'suppressed' || status === 'failed' || status === 'canceled' ? status : 'queued'
}
