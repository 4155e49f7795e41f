/**
 * Applies holds to claims: held queue keys are skipped, held deliveries change to the state `held`, and the
 * time that a delivery was held does not count towards its maximum lifetime.
 */
import { type ClaimedDelivery, type QueueKey, queueKeyText, type Tx } from '../../store/model/command.ts'
import { DELIVERY_STATE, NO_LEASE } from '../../store/model/schema.ts'
import { type HeldMail, holdsOf, listHolds } from './hold-rows.ts'

interface HoldFilter {
  /** Queue keys that no hold covers completely. */
  claimable<L extends QueueKey>(queueKeys: readonly L[]): readonly L[]
  /** Sets held deliveries to `held`. Returns the others, each with its lifetime extended by its time held. */
  parkHeld(claimed: readonly ClaimedDelivery[], now: number): Promise<ClaimedDelivery[]>
}

export async function openHoldFilter(tx: Tx): Promise<HoldFilter> {
  const holds = holdsOf(await listHolds(tx.db))
  return {
    claimable: queueKeys =>
      holds.isEmpty ? queueKeys : queueKeys.filter(queueKey => !holds.holdsQueueKey(queueKey)),
    async parkHeld(claimed, now) {
      if (holds.isEmpty || claimed.length === 0) return [...claimed]
      const mail = await mailOf(tx, claimed)
      const held = claimed.filter((_, i) => holds.holdsMail(mail[i]!))
      await setHeld(tx, held)
      return claimed.flatMap((delivery, i) => {
        if (holds.holdsMail(mail[i]!)) return []
        return [{ ...delivery, expiresAt: delivery.expiresAt + holds.heldMs(mail[i]!, now) }]
      })
    },
  }
}

/** Adds the columns of the email that holds select by. */
export async function mailOf<D extends Omit<HeldMail, 'email'>>(
  tx: Tx,
  deliveries: readonly D[],
): Promise<(D & HeldMail)[]> {
  const emails = await tx.rows.find(
    'emails',
    deliveries.map(({ accountId, emailId: id }) => ({ accountId, id })),
    ['broadcastId', 'createdAt', 'scheduledAt', 'sender'],
  )
  return deliveries.map((delivery, i) => ({ ...delivery, email: emails[i] }))
}

/** Undoes the attempt that the claim has counted. */
function setHeld({ rows }: Tx, held: readonly ClaimedDelivery[]): Promise<void> {
  return rows.update(
    'deliveries',
    ['emailId', 'ordinal'],
    held.map(({ emailId, ordinal, attempt }) => ({
      emailId,
      ordinal,
      state: DELIVERY_STATE.held,
      attempts: attempt - 1,
      ...NO_LEASE,
    })),
  )
}

/** Returns one claim for each requested queue key; a queue key that was skipped gets `none`. */
export function claimsInOrder<C>(
  queueKeys: readonly QueueKey[],
  open: readonly QueueKey[],
  claims: readonly C[],
  none: C,
): C[] {
  if (queueKeys.length === open.length) return [...claims]
  const byQueueKey = new Map(open.map((queueKey, i) => [queueKeyText(queueKey), claims[i]!]))
  return queueKeys.map(queueKey => byQueueKey.get(queueKeyText(queueKey)) ?? none)
}
