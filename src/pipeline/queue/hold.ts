/** Commands that create and release holds, and that return held deliveries to the queue. */
import { type Id, idKey } from '../../lib/ids.ts'
import { command, type QueueKey, queueKeyText, type Tx } from '../../store/model/command.ts'
import type { MailSelector, QueueHoldRow } from '../../store/model/schema/steering.ts'
import { DELIVERY_STATE } from '../../store/model/schema.ts'
import { mailOf } from './hold-filter.ts'
import { ANY_MAIL, holdsOf, isSameSelector, listActiveHolds, listHolds } from './hold-rows.ts'
import type { DueQueueKey } from './queue-key-rows.ts'

/**
 * Announcement topic; the messages are selectors whose mail must not be attempted, even if already claimed.
 */
export const HELD = 'held'

export interface DeliveryKey {
  emailId: Id
  ordinal: number
}

/** A hold of the operator. */
export type NewHold = Omit<QueueHoldRow, 'isPause'>

interface HeldDelivery extends QueueKey, DeliveryKey {
  nextAt: number
}

/** Mail that the hold has covered is no longer in the queue by then. */
const RETENTION_MS = 30 * 86_400_000

export const holdCommands = {
  /** Creates a hold, or returns the existing hold with the same selector. */
  putHold: command<NewHold, { hold: NewHold; isNew: boolean }>(async (tx, hold) => {
    const known = await findHold(tx, hold)
    if (!known) await startHold(tx, { ...hold, isPause: 0 })
    else announceHold(tx, hold)
    return { hold: known ?? hold, isNew: !known }
  }),

  /**
   * Releases the hold with exactly this selector; undefined when there is none. The row stays for 30 days,
   * because it extends the lifetime of the mail that was held.
   */
  releaseHold: command<{ selector: MailSelector; now: number }, NewHold | undefined>(
    async (tx, { selector, now: releasedAt }) => {
      const known = await findHold(tx, selector)
      if (!known) return undefined
      await endHold(tx, known.id, releasedAt)
      return { ...known, releasedAt }
    },
  ),

  /** Announces queue keys as due, after a hold on them was released. */
  announceQueueKeys: command<readonly DueQueueKey[], void>(async (tx, queueKeys) => {
    for (const queueKey of queueKeys) tx.announce('due', queueKey)
  }),

  /**
   * Returns held deliveries that no hold covers any more to the queue. At most `limit` deliveries are read.
   * @returns the position to continue from; null at the end
   */
  resumeHeld: command<{ after: DeliveryKey | null; limit: number }, DeliveryKey | null>(
    async (tx, { after, limit }) => {
      const held = await listHeld(tx, after, limit)
      const holds = holdsOf(await listHolds(tx.db))
      const free = (await mailOf(tx, held)).filter(mail => !holds.holdsMail(mail))
      await tx.rows.update(
        'deliveries',
        ['emailId', 'ordinal'],
        free.map(({ emailId, ordinal }) => ({ emailId, ordinal, state: DELIVERY_STATE.waiting })),
      )
      for (const queueKey of earliest(free)) tx.announce('due', queueKey)
      const last = held.at(-1)
      if (!last || held.length < limit) return null
      return { emailId: last.emailId, ordinal: last.ordinal }
    },
    { weigh: ({ limit }) => limit },
  ),
}

/** Runs inside a command. After its commit no attempt starts for mail that the hold covers. */
export async function startHold(tx: Tx, hold: QueueHoldRow): Promise<void> {
  await tx.db.insertInto('queueHolds').values(hold).execute()
  announceHold(tx, hold)
}

/** Runs inside a command. Each of the emails gets its own hold, unless it has one. */
export async function holdEmails(
  tx: Tx,
  emailIds: readonly Id[],
  { reason, now }: { reason: string; now: number },
): Promise<void> {
  const wanted = new Map(emailIds.map(emailId => [idKey(emailId), emailId]))
  for (const hold of await listActiveHolds(tx.db)) {
    const { emailId } = hold
    if (emailId && isSameSelector(hold, { ...ANY_MAIL, emailId })) wanted.delete(idKey(emailId))
  }
  const holds = [...wanted.values()].map((emailId): QueueHoldRow => {
    const times = { createdAt: now, releasedAt: null }
    return { ...ANY_MAIL, emailId, ...times, id: tx.newId(now), reason, origin: 'automatic', isPause: 0 }
  })
  await tx.rows.insert('queueHolds', holds)
  for (const hold of holds) announceHold(tx, hold)
}

/** Runs inside a command. The caller then returns the held deliveries to the queue (`QueueAdmin.resume`). */
export async function endHold({ db }: Tx, id: Id, releasedAt: number): Promise<void> {
  await db.updateTable('queueHolds').set({ releasedAt }).where('id', '=', id).execute()
  await db
    .deleteFrom('queueHolds')
    .where('releasedAt', '<', releasedAt - RETENTION_MS)
    .execute()
}

function announceHold(
  tx: Tx,
  { domain, accountId, broadcastId, emailId, enteredBefore = null, senderDomain = null }: MailSelector,
) {
  const rest = { ...(enteredBefore !== null && { enteredBefore }), ...(senderDomain && { senderDomain }) }
  tx.announce(HELD, { domain, accountId, broadcastId, emailId, ...rest } satisfies MailSelector)
}

async function findHold({ db }: Tx, selector: MailSelector): Promise<QueueHoldRow | undefined> {
  return (await listActiveHolds(db)).find(hold => isSameSelector(hold, selector))
}

/** Held deliveries in the order of their keys. */
async function listHeld({ db }: Tx, after: DeliveryKey | null, limit: number): Promise<HeldDelivery[]> {
  let held = db
    .selectFrom('deliveries')
    .select(['emailId', 'ordinal', 'domain', 'class', 'accountId', 'nextAt'])
    .where('state', '=', DELIVERY_STATE.held)
  if (after)
    held = held.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('emailId', 'ordinal'), '>', tuple(after.emailId, after.ordinal)),
    )
  return held.orderBy('emailId').orderBy('ordinal').limit(limit).execute()
}

/** Returns the queue keys of the deliveries, each with its earliest time. */
function earliest(deliveries: readonly HeldDelivery[]): Iterable<DueQueueKey> {
  const queueKeys = new Map<string, DueQueueKey>()
  for (const { domain, class: deliveryClass, accountId, nextAt } of deliveries) {
    const key = queueKeyText({ domain, class: deliveryClass, accountId })
    const at = Math.min(nextAt, queueKeys.get(key)?.at ?? nextAt)
    queueKeys.set(key, { domain, class: deliveryClass, accountId, at })
  }
  return queueKeys.values()
}
