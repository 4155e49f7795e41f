/**
 * Orders about a broadcast: it is sent, paused, resumed, canceled. What an order is about stops or goes on
 * with its commit; what is to be done about the mail itself is done afterwards, in steps.
 */

import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/command.ts'
import type { MailSelector } from '../../store/schema/steering.ts'
import type { BroadcastRow } from '../../store/schema.ts'
import { refuseSendTime } from '../accept/field-rules.ts'
import type { Refusal } from '../accept/refusal.ts'
import { endHold, startHold } from '../queue/hold.ts'
import { broadcastFaultOf } from './begin.ts'
import { findBroadcast } from './broadcast-rows.ts'
import { type CheckedSendOrder, sendState } from './draft.ts'
import { type BroadcastKey, lockBroadcast, refuseUnsendable, setBroadcast, wrongState } from './state.ts'
import { refuseOtherVersion } from './version.ts'

/** Undefined when the account has no such broadcast. */
type Ordered = true | Refusal | undefined

type Order = BroadcastKey & { now: number }

export const sendCommands = {
  /**
   * A draft, or a scheduled one, at another time. @param version that is to be sent; null for whichever there
   * is
   */
  sendBroadcast: command<Order & { send: CheckedSendOrder; version: string | null }, Ordered>(
    async (tx, order) => {
      const { accountId, id, send, version, now } = order
      await lockBroadcast(tx, { accountId, id })
      const row = await findBroadcast(tx.db, accountId, id)
      if (!row) return undefined
      if (row.status !== 'draft' && row.status !== 'scheduled') return wrongState('sent', row.status)
      const refusal =
        refuseOtherVersion(row, version) ??
        (await refuseUnsendable(tx, accountId, row)) ??
        send.linkRefusal ??
        refuseSendTime(send.at, now)
      if (refusal) return refusal
      await setBroadcast(tx, { accountId, id }, { ...sendState(send, now), updatedAt: now })
      return true
    },
  ),

  /** A step of it has failed, and is tried again. */
  delayBroadcast: command<BroadcastKey & { until: number }, void>(async (tx, { accountId, id, until }) => {
    const row = await lockBroadcast(tx, { accountId, id })
    if (row && row.nextAt !== null) await setBroadcast(tx, row, { nextAt: until })
  }),

  pauseBroadcast: command<Order & { holdId: Id }, Ordered>(async (tx, order) => {
    const row = await lockBroadcast(tx, order)
    if (!row) return undefined
    if (row.status !== 'sending') return wrongState('paused', row.status)
    await hold(tx, order)
    const { holdId, now } = order
    await setBroadcast(tx, order, { status: 'paused', holdId, nextAt: null, updatedAt: now })
    return true
  }),

  /**
   * What it had in the queue is to be let go afterwards. One that has failed goes on where it was, once
   * nothing is in its way.
   */
  resumeBroadcast: command<Order, Ordered>(async (tx, order) => {
    const row = await lockBroadcast(tx, order)
    if (!row) return undefined
    const fault = row.status === 'failed' ? await broadcastFaultOf(tx, row) : undefined
    if (fault)
      return {
        refused: 'wrong_state',
        message: `A broadcast that failed cannot be resumed: ${fault.message}`,
      }
    if (row.status !== 'paused' && row.status !== 'failed') return wrongState('resumed', row.status)
    const { now } = order
    if (row.holdId) await endHold(tx, row.holdId, now)
    const set = { status: 'sending', holdId: null, error: null, nextAt: now, updatedAt: now } as const
    await setBroadcast(tx, order, set)
    return true
  }),

  /** From the commit on nothing more of it is begun; what waits is given up afterwards. */
  cancelBroadcast: command<Order & { holdId: Id }, Ordered>(async (tx, order) => {
    const row = await lockBroadcast(tx, order)
    if (!row) return undefined
    const { holdId, now } = order
    const set = { status: 'canceled', updatedAt: now, canceledTo: null } as const
    if (row.status === 'scheduled') await setBroadcast(tx, order, { ...set, nextAt: null })
    else if (row.status === 'paused') await setBroadcast(tx, order, { ...set, nextAt: now })
    else if (row.status === 'sending' || row.status === 'failed') {
      await hold(tx, order)
      await setBroadcast(tx, order, { ...set, holdId, nextAt: now })
    } else return wrongState('canceled', row.status)
    return true
  }),
}

/** The mail of a broadcast, as holds name it. */
export function mailOfBroadcast({ accountId, id }: Pick<BroadcastRow, 'accountId' | 'id'>): MailSelector {
  return { domain: null, accountId, broadcastId: id, emailId: null }
}

function hold(tx: Tx, { accountId, id, holdId, now }: Order & { holdId: Id }): Promise<void> {
  return startHold(tx, {
    id: holdId,
    ...mailOfBroadcast({ accountId, id }),
    reason: null,
    isPause: 1,
    createdAt: now,
    releasedAt: null,
  })
}
