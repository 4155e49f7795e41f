/** Holds as commands: those of the operator put and released, and what any of them has kept apart let go. */
import { type Id, idKey } from '../../lib/ids.ts'
import { command, type QueueKey, queueKeyText, type Tx } from '../../store/command.ts'
import type { MailSelector, QueueHoldRow } from '../../store/schema/steering.ts'
import { DELIVERY_STATE } from '../../store/schema.ts'
import { mailOf } from './hold-filter.ts'
import { holdsOf, isSameSelector, listActiveHolds, listHolds } from './hold-rows.ts'
import type { DueQueueKey } from './queue-key-rows.ts'

/** Topic of announcements: a selector whose mail shall not be begun, though it may have been claimed. */
export const HELD = 'held'

export interface DeliveryKey {
  emailId: Id
  ordinal: number
}

/** Of the operator. */
export type NewHold = Omit<QueueHoldRow, 'isPause'>

interface Parked extends QueueKey, DeliveryKey {
  nextAt: number
}

/** Mail that was held has left by then, or its time is over. */
const RETENTION_MS = 30 * 86_400_000

export const holdCommands = {
  /** @returns the hold of the same mail where there is one */
  putHold: command<NewHold, { hold: NewHold; isNew: boolean }>(async (tx, hold) => {
    const known = await findHold(tx, hold)
    if (!known) await startHold(tx, { ...hold, isPause: 0 })
    else announceHold(tx, hold)
    return { hold: known ?? hold, isNew: !known }
  }),

  /**
   * Undefined where nothing holds just this mail. It is remembered for a while: what it held has gained its
   * time.
   */
  releaseHold: command<{ selector: MailSelector; now: number }, NewHold | undefined>(
    async (tx, { selector, now: releasedAt }) => {
      const known = await findHold(tx, selector)
      if (!known) return undefined
      await endHold(tx, known.id, releasedAt)
      return { ...known, releasedAt }
    },
  ),

  /** The queue hears of queue keys that wait. */
  announceQueueKeys: command<readonly DueQueueKey[], void>(async (tx, queueKeys) => {
    for (const queueKey of queueKeys) tx.announce('due', queueKey)
  }),

  /**
   * Deliveries kept apart that no hold is about any more wait again. At most `limit` are looked at.
   * @returns where to go on; null at the end
   */
  resumeHeld: command<{ after: DeliveryKey | null; limit: number }, DeliveryKey | null>(
    async (tx, { after, limit }) => {
      const parked = await listParked(tx, after, limit)
      const holds = holdsOf(await listHolds(tx.db))
      const free = (await mailOf(tx, parked)).filter(mail => !holds.holdsMail(mail))
      await tx.rows.update(
        'deliveries',
        ['emailId', 'ordinal'],
        free.map(({ emailId, ordinal }) => ({ emailId, ordinal, state: DELIVERY_STATE.waiting })),
      )
      for (const queueKey of earliest(free)) tx.announce('due', queueKey)
      const last = parked.at(-1)
      if (!last || parked.length < limit) return null
      return { emailId: last.emailId, ordinal: last.ordinal }
    },
    { weigh: ({ limit }) => limit },
  ),
}

/** Part of a command: from its commit on nothing that the hold is about is begun. */
export async function startHold(tx: Tx, hold: QueueHoldRow): Promise<void> {
  await tx.db.insertInto('queueHolds').values(hold).execute()
  announceHold(tx, hold)
}

/** Part of a command: each of the emails is held by itself, unless it is already. */
export async function holdEmails(
  tx: Tx,
  emailIds: readonly Id[],
  { reason, now }: { reason: string; now: number },
): Promise<void> {
  const wanted = new Map(emailIds.map(emailId => [idKey(emailId), emailId]))
  for (const { domain, accountId, broadcastId, emailId } of await listActiveHolds(tx.db))
    if (emailId && domain === null && accountId === null && broadcastId === null)
      wanted.delete(idKey(emailId))
  const holds = [...wanted.values()].map((emailId): QueueHoldRow => {
    const selector = { domain: null, accountId: null, broadcastId: null, emailId }
    return { ...selector, id: tx.newId(now), reason, createdAt: now, isPause: 0, releasedAt: null }
  })
  await tx.rows.insert('queueHolds', holds)
  for (const hold of holds) announceHold(tx, hold)
}

/** Part of a command; what the hold has kept apart is to be let go afterwards. */
export async function endHold({ db }: Tx, id: Id, releasedAt: number): Promise<void> {
  await db.updateTable('queueHolds').set({ releasedAt }).where('id', '=', id).execute()
  await db
    .deleteFrom('queueHolds')
    .where('releasedAt', '<', releasedAt - RETENTION_MS)
    .execute()
}

function announceHold(tx: Tx, { domain, accountId, broadcastId, emailId }: MailSelector) {
  tx.announce(HELD, { domain, accountId, broadcastId, emailId } satisfies MailSelector)
}

async function findHold({ db }: Tx, selector: MailSelector): Promise<QueueHoldRow | undefined> {
  return (await listActiveHolds(db)).find(hold => isSameSelector(hold, selector))
}

/** Deliveries that a hold keeps apart, in the order of their keys. */
async function listParked({ db }: Tx, after: DeliveryKey | null, limit: number): Promise<Parked[]> {
  let parked = db
    .selectFrom('deliveries')
    .select(['emailId', 'ordinal', 'domain', 'class', 'accountId', 'nextAt'])
    .where('state', '=', DELIVERY_STATE.held)
  if (after)
    parked = parked.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('emailId', 'ordinal'), '>', tuple(after.emailId, after.ordinal)),
    )
  return parked.orderBy('emailId').orderBy('ordinal').limit(limit).execute()
}

/** Each queue key once. */
function earliest(deliveries: readonly Parked[]): Iterable<DueQueueKey> {
  const queueKeys = new Map<string, DueQueueKey>()
  for (const { domain, class: deliveryClass, accountId, nextAt } of deliveries) {
    const key = queueKeyText({ domain, class: deliveryClass, accountId })
    const at = Math.min(nextAt, queueKeys.get(key)?.at ?? nextAt)
    queueKeys.set(key, { domain, class: deliveryClass, accountId, at })
  }
  return queueKeys.values()
}
