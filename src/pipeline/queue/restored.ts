/**
 * Holds the mail of a database that was restored from a backup: what was queued then may have been sent
 * since. Called by `mailhorn restore` before a service uses the database.
 */
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { MailSelector } from '../../store/model/schema/steering.ts'
import { DELIVERY_STATE } from '../../store/model/schema.ts'
import { startHold } from './hold.ts'
import { ANY_MAIL } from './hold-rows.ts'

export interface RestoredMail {
  deliveries: number
  emails: number
  /** The hold is on mail that entered the queue before this time; null when there was none. */
  enteredBefore: number | null
  /** Broadcasts that were being sent, or are paused or due: their further emails are held, too. */
  broadcastIds: Id[]
}

export const restoredCommands = {
  /**
   * Puts a hold on all mail that is due, and one on each broadcast under way. Mail that is scheduled for
   * later, and mail that is accepted later, is not held.
   */
  holdRestored: command<{ reason: string; now: number }, RestoredMail>(async (tx, { reason, now }) => {
    const enteredBefore = Math.max(now, (await lastAcceptedAt(tx)) + 1)
    const hold = (selector: Partial<MailSelector>) =>
      startHold(tx, {
        ...ANY_MAIL,
        ...selector,
        ...{ id: tx.newId(now), reason, origin: 'automatic', createdAt: now, isPause: 0, releasedAt: null },
      })
    const { deliveries, emails } = await countDue(tx, enteredBefore)
    if (deliveries > 0) await hold({ enteredBefore })
    const broadcastIds = await broadcastsUnderWay(tx, enteredBefore)
    for (const broadcastId of broadcastIds) await hold({ broadcastId })
    return { deliveries, emails, enteredBefore: deliveries > 0 ? enteredBefore : null, broadcastIds }
  }),
}

/** The clock of this machine may be behind that of the one that made the backup. */
async function lastAcceptedAt({ db }: Tx): Promise<number> {
  const { last } = await db
    .selectFrom('emails')
    .select(({ fn }) => fn.max('createdAt').as('last'))
    .executeTakeFirstOrThrow()
  return Number(last ?? 0)
}

async function countDue({ db }: Tx, before: number): Promise<{ deliveries: number; emails: number }> {
  const counted = await db
    .selectFrom('deliveries')
    .innerJoin('emails', join =>
      join
        .onRef('emails.accountId', '=', 'deliveries.accountId')
        .onRef('emails.id', '=', 'deliveries.emailId'),
    )
    .where('deliveries.state', '<>', DELIVERY_STATE.done)
    .where(({ fn, eb }) => eb(fn.coalesce('emails.scheduledAt', 'emails.createdAt'), '<', before))
    .select(({ fn }) => [
      fn.countAll<number>().as('deliveries'),
      fn.count<number>('deliveries.emailId').distinct().as('emails'),
    ])
    .executeTakeFirstOrThrow()
  return { deliveries: Number(counted.deliveries), emails: Number(counted.emails) }
}

async function broadcastsUnderWay({ db }: Tx, before: number): Promise<Id[]> {
  const rows = await db
    .selectFrom('broadcasts')
    .select('id')
    .where(eb =>
      eb.or([
        eb('status', 'in', ['sending', 'paused']),
        eb.and([eb('status', '=', 'scheduled'), eb('scheduledAt', '<', before)]),
      ]),
    )
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}
