/**
 * A broadcast that has been canceled: what of it waits in the queue is given up, a bounded number of emails
 * at a time. Its hold keeps all of it from being begun meanwhile, and ends with the last.
 */

import { sameId } from '../../lib/ids.ts'
import { countedForBroadcast } from '../../resources/events/broadcast-counts.ts'
import { type DeliveryChange, recordDeliveries } from '../../resources/events/record.ts'
import { command, type Tx } from '../../store/command.ts'
import { type BroadcastRow, DELIVERY_STATE } from '../../store/schema.ts'
import { endHold } from '../queue/hold.ts'
import { type BroadcastKey, lockBroadcast, setBroadcast } from './state.ts'

/** Emails of the account looked at by one command, whosever they are. */
const LOOKED_AT = 300
const PAGES_AT_ONCE = 200
/** Emails that were being begun when it was canceled have gone, or come back to the queue, by then. */
const AGAIN_MS = 1_000

export const cancelCommands = {
  /** True when nothing is left: what its hold has kept apart is to be let go. */
  cancelEmails: command<BroadcastKey & { now: number }, boolean>(
    async (tx, input) => {
      const row = await lockBroadcast(tx, input)
      if (row?.status !== 'canceled' || row.nextAt === null) return false
      if (await dropPages(tx, row)) {
        await setBroadcast(tx, row, { nextAt: input.now })
        return false
      }
      const emails = await emailsAfter(tx, row)
      await giveUp(tx, row, emails, input.now)
      const last = emails.at(-1)
      if (last && emails.length === LOOKED_AT) {
        await setBroadcast(tx, row, { canceledTo: last.id, nextAt: input.now })
        return false
      }
      return endOfRound(tx, row, input.now)
    },
    { weigh: () => LOOKED_AT },
  ),
}

async function endOfRound(tx: Tx, row: BroadcastRow, now: number): Promise<boolean> {
  const { accountId, id: broadcastId, holdId } = row
  if ((await countedForBroadcast(tx, { accountId, broadcastId }, 'status.queued')) > 0) {
    await setBroadcast(tx, row, { canceledTo: null, nextAt: now + AGAIN_MS })
    return false
  }
  if (holdId) await endHold(tx, holdId, now)
  await setBroadcast(tx, row, { canceledTo: null, holdId: null, nextAt: null })
  return true
}

/** Members who have not been seen to. True when there were any. */
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
        .limit(PAGES_AT_ONCE),
    )
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0
}

type AnyEmail = Awaited<ReturnType<typeof emailsAfter>>[number]

/** The account's emails among which those of the broadcast are. */
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
    .limit(LOOKED_AT)
    .execute()
}

/** Those that nobody has begun. */
async function giveUp(tx: Tx, row: BroadcastRow, emails: readonly AnyEmail[], at: number): Promise<void> {
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
        ...{ accountId, emailId, ordinal: 0, recipient: delivery.address, at },
        event: { type: 'email.canceled', data: {} },
        error: null,
        handedOverAt: null,
        set: { status: 'canceled', state: DELIVERY_STATE.done },
      },
    ]
  })
  await recordDeliveries(tx, changes)
}
