/**
 * Cancels the queued emails of a canceled broadcast, a bounded number at a time. Meanwhile a hold keeps new
 * attempts from starting; it ends with the last email.
 */

import { sameId } from '../../lib/ids.ts'
import { countedForBroadcast } from '../../resources/events/broadcast-counts.ts'
import { type DeliveryChange, recordDeliveries } from '../../resources/events/record.ts'
import { command, type Tx } from '../../store/model/command.ts'
import { type BroadcastRow, DELIVERY_STATE } from '../../store/model/schema.ts'
import { endHold } from '../queue/hold.ts'
import { type BroadcastKey, lockBroadcast, setBroadcast } from './state.ts'

/** Emails of the account that one command reads, including those of other broadcasts. */
const EMAILS_PER_COMMAND_MAX = 300
const PAGES_PER_COMMAND_MAX = 200
/** Delay before emails are read again that were being attempted at the time of the cancellation. */
const NEXT_ROUND_DELAY_MS = 1_000

export const cancelCommands = {
  /** Returns true when no email is left; the caller then resumes the emails that the hold has kept. */
  cancelEmails: command<BroadcastKey & { now: number }, boolean>(
    async (tx, input) => {
      const row = await lockBroadcast(tx, input)
      if (row?.status !== 'canceled' || row.nextAt === null) return false
      if (await dropPages(tx, row)) {
        await setBroadcast(tx, row, { nextAt: input.now })
        return false
      }
      const emails = await emailsAfter(tx, row)
      await cancelUnsent(tx, row, emails, input.now)
      const last = emails.at(-1)
      if (last && emails.length === EMAILS_PER_COMMAND_MAX) {
        await setBroadcast(tx, row, { canceledTo: last.id, nextAt: input.now })
        return false
      }
      return endOfRound(tx, row, input.now)
    },
    { weigh: () => EMAILS_PER_COMMAND_MAX },
  ),
}

async function endOfRound(tx: Tx, row: BroadcastRow, now: number): Promise<boolean> {
  const { accountId, id: broadcastId, holdId } = row
  if ((await countedForBroadcast(tx, { accountId, broadcastId }, 'status.queued')) > 0) {
    await setBroadcast(tx, row, { canceledTo: null, nextAt: now + NEXT_ROUND_DELAY_MS })
    return false
  }
  if (holdId) await endHold(tx, holdId, now)
  await setBroadcast(tx, row, { canceledTo: null, holdId: null, nextAt: null })
  return true
}

/** Deletes members that have no email yet. Returns true when there were any. */
async function dropPages({ db }: Tx, { id }: BroadcastRow): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('broadcastPages')
    .where('broadcastId', '=', id)
    .where('number', 'in', eb =>
      eb
        .selectFrom('broadcastPages')
        .select('number')
        .where('broadcastId', '=', id)
        .orderBy('number')
        .limit(PAGES_PER_COMMAND_MAX),
    )
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0
}

type AnyEmail = Awaited<ReturnType<typeof emailsAfter>>[number]

/** Emails of the account in the range of the broadcast's emails. */
async function emailsAfter({ db }: Tx, row: BroadcastRow) {
  const { accountId, firstEmailId, lastEmailId, canceledTo } = row
  if (!firstEmailId || !lastEmailId) return []
  const from = canceledTo ?? firstEmailId
  return db
    .selectFrom('emails')
    .select(['id', 'status', 'broadcastId'])
    .where('accountId', '=', accountId)
    .where('id', canceledTo ? '>' : '>=', from)
    .where('id', '<=', lastEmailId)
    .orderBy('id')
    .limit(EMAILS_PER_COMMAND_MAX)
    .execute()
}

/** Cancels the emails that have not been attempted. */
async function cancelUnsent(
  tx: Tx,
  row: BroadcastRow,
  emails: readonly AnyEmail[],
  at: number,
): Promise<void> {
  const { accountId } = row
  const queued = emails.filter(
    ({ status, broadcastId }) => status === 'queued' && broadcastId !== null && sameId(broadcastId, row.id),
  )
  const deliveries = await tx.rows.lock(
    'deliveries',
    queued.map(({ id: emailId }) => ({ emailId, ordinal: 0 })),
    ['state', 'address', 'signedAt'],
  )
  const changes = queued.flatMap(({ id: emailId }, i): DeliveryChange[] => {
    const delivery = deliveries[i]
    const waits = delivery?.state === DELIVERY_STATE.waiting || delivery?.state === DELIVERY_STATE.held
    if (!delivery || !waits || delivery.signedAt !== null) return []
    return [
      {
        accountId,
        emailId,
        ordinal: 0,
        recipient: delivery.address,
        at,
        event: { type: 'email.canceled', data: {} },
        error: null,
        handedOverAt: null,
        set: { status: 'canceled', state: DELIVERY_STATE.done },
      },
    ]
  })
  await recordDeliveries(tx, changes)
}
