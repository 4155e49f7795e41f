/**
 * What the operator's holds mean for claims: held queue keys are passed over, held mail is kept apart, and
 * its time stands still.
 */
import { type ClaimedDelivery, type QueueKey, queueKeyText, type Tx } from '../../store/command.ts'
import { DELIVERY_STATE } from '../../store/schema.ts'
import { type HeldMail, type Holds, holdsOf, listHolds } from './hold-rows.ts'

interface HoldFilter {
  readonly holds: Holds
  /** Those of which nothing is held as a whole. */
  open<L extends QueueKey>(queueKeys: readonly L[]): readonly L[]
  /** Takes out what is held, and gives the others the time back for which they were. */
  sift(claimed: readonly ClaimedDelivery[], now: number): Promise<ClaimedDelivery[]>
}

/** As of the transaction. */
export async function openHoldFilter(tx: Tx): Promise<HoldFilter> {
  const holds = holdsOf(await listHolds(tx.db))
  return {
    holds,
    open: queueKeys =>
      holds.isEmpty ? queueKeys : queueKeys.filter(queueKey => !holds.holdsQueueKey(queueKey)),
    async sift(claimed, now) {
      if (holds.isEmpty || claimed.length === 0) return [...claimed]
      const mail = await mailOf(tx, claimed)
      const held = claimed.filter((_, i) => holds.holdsMail(mail[i]!))
      await keepApart(tx, held)
      return claimed.flatMap((delivery, i) => {
        if (holds.holdsMail(mail[i]!)) return []
        return [{ ...delivery, expiresAt: delivery.expiresAt + holds.heldMs(mail[i]!, now) }]
      })
    },
  }
}

/** With what holds ask about. */
export async function mailOf<D extends Omit<HeldMail, 'email'>>(
  tx: Tx,
  deliveries: readonly D[],
): Promise<(D & HeldMail)[]> {
  const emails = await tx.rows.find(
    'emails',
    deliveries.map(({ accountId, emailId: id }) => ({ accountId, id })),
    ['broadcastId', 'createdAt', 'scheduledAt'],
  )
  return deliveries.map((delivery, i) => ({ ...delivery, email: emails[i] }))
}

/** The claim was no attempt. */
function keepApart({ rows }: Tx, held: readonly ClaimedDelivery[]): Promise<void> {
  return rows.update(
    'deliveries',
    ['emailId', 'ordinal'],
    held.map(({ emailId, ordinal, attempt }) => ({
      emailId,
      ordinal,
      state: DELIVERY_STATE.held,
      attempts: attempt - 1,
      leaseOwner: null,
      leaseUntil: null,
    })),
  )
}

/** One claim a queue key asked for, those that were passed over included. */
export function inOrder<C>(
  queueKeys: readonly QueueKey[],
  open: readonly QueueKey[],
  claims: readonly C[],
  none: C,
): C[] {
  if (queueKeys.length === open.length) return [...claims]
  const byQueueKey = new Map(open.map((queueKey, i) => [queueKeyText(queueKey), claims[i]!]))
  return queueKeys.map(queueKey => byQueueKey.get(queueKeyText(queueKey)) ?? none)
}
