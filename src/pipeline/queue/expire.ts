/**
 * Expires deliveries that have reached their maximum lifetime while they waited for their destination. They
 * fail without a further attempt.
 */
import { type Cause, storedCause } from '../../resources/emails/explanation/cause.ts'
import { type DeliveryChange, recordDeliveries } from '../../resources/events/record.ts'
import { command, type QueueKey, type Tx } from '../../store/model/command.ts'
import { DELIVERY_STATE } from '../../store/model/schema.ts'
import { mailOf } from './hold-filter.ts'
import { type HeldMail, holdsOf, listHolds } from './hold-rows.ts'

interface ExpireInput {
  queueKey: QueueKey
  now: number
  /** Number of deliveries that are read at most, the oldest first. */
  limit: number
  /** Last known fault of the destination, for the error text. */
  reason: string
}

const HOUR_MS = 3_600_000

export const expireCommands = {
  /**
   * Held deliveries do not expire.
   * @returns the number of expired deliveries; fewer than `limit` when no more are left
   */
  expireWaiting: command<ExpireInput, number>(async (tx, { queueKey, now, limit, reason }) => {
    const oldest = await tx.db
      .selectFrom('deliveries')
      .select(['emailId', 'ordinal', 'accountId', 'address', 'domain', 'expiresAt', 'cause'])
      .where('state', '=', DELIVERY_STATE.waiting)
      .where('domain', '=', queueKey.domain)
      .where('class', '=', queueKey.class)
      .where('accountId', '=', queueKey.accountId)
      .where('nextAt', '<=', now)
      .orderBy('nextAt')
      .limit(limit)
      .execute()
    const expired = await expiredAmong(tx, oldest, now)
    const emails = await tx.rows.find(
      'emails',
      expired.map(({ accountId, emailId: id }) => ({ accountId, id })),
      ['createdAt', 'scheduledAt'],
    )
    await recordDeliveries(
      tx,
      expired.map(({ accountId, emailId, ordinal, address, expiresAt, cause }, i): DeliveryChange => {
        const since = emails[i]?.scheduledAt ?? emails[i]?.createdAt ?? expiresAt
        const hours = Math.round((expiresAt - since) / HOUR_MS)
        const error = `expired after ${hours} h: ${reason}`
        const last = cause === null ? undefined : (JSON.parse(cause) as Cause)
        return {
          accountId,
          emailId,
          ordinal,
          recipient: address,
          event: { type: 'email.failed', data: { failed: { reason: error } } },
          error,
          at: now,
          handedOverAt: null,
          set: {
            status: 'failed',
            state: DELIVERY_STATE.done,
            cause: storedCause({ code: 'expired', by: String(hours), last }),
          },
        }
      }),
    )
    return expired.length
  }),
}

async function expiredAmong<D extends Omit<HeldMail, 'email'> & { expiresAt: number }>(
  tx: Tx,
  deliveries: readonly D[],
  now: number,
): Promise<D[]> {
  const old = deliveries.filter(({ expiresAt }) => expiresAt <= now)
  if (old.length === 0) return old
  const holds = holdsOf(await listHolds(tx.db))
  if (holds.isEmpty) return old
  const mail = await mailOf(tx, old)
  return old.filter((delivery, i) => {
    const isHeld = holds.holdsMail(mail[i]!)
    return !isHeld && delivery.expiresAt + holds.heldMs(mail[i]!, now) <= now
  })
}
