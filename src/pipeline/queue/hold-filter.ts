/** What the operator's holds mean for claims: held lanes are passed over, held mail is kept apart, and its time stands still. */
import { type ClaimedDelivery, type Lane, laneKey, type Tx } from '../../store/command.ts'
import { DELIVERY_STATE } from '../../store/schema.ts'
import { type HeldMail, type Holds, holdsOf, listHolds } from './hold-rows.ts'

export interface HoldFilter {
  readonly holds: Holds
  /** Those of which nothing is held as a whole. */
  open<L extends Lane>(lanes: readonly L[]): readonly L[]
  /** Takes out what is held, and gives the others the time back for which they were. */
  sift(claimed: readonly ClaimedDelivery[], now: number): Promise<ClaimedDelivery[]>
}

/** As of the transaction. */
export async function openHoldFilter(tx: Tx): Promise<HoldFilter> {
  const holds = holdsOf(await listHolds(tx.db))
  return {
    holds,
    open: lanes => (holds.isEmpty ? lanes : lanes.filter(lane => !holds.holdsLane(lane))),
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

/** One claim a lane asked for, those that were passed over included. */
export function inOrder<C>(
  lanes: readonly Lane[],
  open: readonly Lane[],
  claims: readonly C[],
  none: C,
): C[] {
  if (lanes.length === open.length) return [...claims]
  const byLane = new Map(open.map((lane, i) => [laneKey(lane), claims[i]!]))
  return lanes.map(lane => byLane.get(laneKey(lane)) ?? none)
}
