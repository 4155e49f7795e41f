/**
 * Commands that send, pause, resume and cancel a broadcast. The new state takes effect with the commit;
 * queued emails are handled afterwards, in steps.
 */

import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { MailSelector } from '../../store/model/schema/steering.ts'
import type { BroadcastRow, NoUnsubscribeReason } from '../../store/model/schema.ts'
import { refuseSendTime } from '../accept/field-rules.ts'
import { closedFor, type Refusal } from '../accept/refusal.ts'
import { endHold, startHold } from '../queue/hold.ts'
import { readServiceMode } from '../queue/service-mode.ts'
import { broadcastFaultOf } from './begin.ts'
import { findBroadcast } from './broadcast-rows.ts'
import { type CheckedSendOrder, DRAFT, sendState } from './draft.ts'
import { saysUnsubscribe } from './lint.ts'
import { type BroadcastKey, lockBroadcast, refuseUnsendable, setBroadcast, wrongState } from './state.ts'
import { refuseOtherVersion } from './version.ts'

/** Undefined when the account has no such broadcast. */
type Ordered = true | Refusal | undefined

interface Order extends BroadcastKey {
  now: number
}

interface SendInput extends Order {
  send: CheckedSendOrder
  version: string | null
  /** Why the content has no unsubscribe link; null keeps the stored reason. */
  noUnsubscribeReason: NoUnsubscribeReason | null
  /** Number of emails in an hour; null for no limit, and undefined keeps what is stored. */
  emailsPerHour: number | null | undefined
}

export const sendCommands = {
  /**
   * Sends or schedules a draft, or changes the time of a scheduled broadcast.
   * @param version is the version of the content to send; null for the current one
   */
  sendBroadcast: command<SendInput, Ordered>(async (tx, order) => {
    const { accountId, id, send, version, now } = order
    await lockBroadcast(tx, { accountId, id })
    const row = await findBroadcast(tx.db, accountId, id)
    if (!row) return undefined
    if (row.status !== 'draft' && row.status !== 'scheduled') return wrongState('sent', row.status)
    const refusal =
      refuseOtherVersion(row, version) ??
      closedFor(await readServiceMode(tx.db)) ??
      (await refuseUnsendable(tx, accountId, row)) ??
      send.linkRefusal ??
      refuseSendTime(send.at, now)
    if (refusal) return refusal
    const reason = saysUnsubscribe(row) ? null : (order.noUnsubscribeReason ?? row.noUnsubscribeReason)
    const emailsPerHour = order.emailsPerHour === undefined ? row.emailsPerHour : order.emailsPerHour
    const set = { ...sendState(send, now), noUnsubscribeReason: reason, emailsPerHour, updatedAt: now }
    await setBroadcast(tx, { accountId, id }, set)
    return true
  }),

  /** Delays the next step after a failure. */
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
   * Resumes a paused broadcast, or one that has failed for a cause that no longer exists. The caller then
   * resumes its queued emails.
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

  /** Turns a scheduled broadcast back into a draft. One that has begun is refused, and goes on. */
  unscheduleBroadcast: command<Order, Ordered>(async (tx, order) => {
    const row = await lockBroadcast(tx, order)
    if (!row) return undefined
    if (row.status !== 'scheduled') return wrongState('unscheduled', row.status)
    await setBroadcast(tx, order, { ...DRAFT, updatedAt: order.now })
    return true
  }),

  /**
   * Turns a scheduled broadcast back into a draft, and ends one that has begun. After the commit no attempt
   * starts; queued emails are canceled in later steps.
   */
  cancelBroadcast: command<Order & { holdId: Id }, Ordered>(async (tx, order) => {
    const row = await lockBroadcast(tx, order)
    if (!row) return undefined
    const { holdId, now } = order
    const set = { status: 'canceled', updatedAt: now, canceledTo: null } as const
    if (row.status === 'scheduled') await setBroadcast(tx, order, { ...DRAFT, updatedAt: now })
    else if (row.status === 'paused') await setBroadcast(tx, order, { ...set, nextAt: now })
    else if (row.status === 'sending' || row.status === 'failed') {
      await hold(tx, order)
      await setBroadcast(tx, order, { ...set, holdId, nextAt: now })
    } else return wrongState('canceled', row.status)
    return true
  }),
}

/** Selector of the broadcast's emails, for holds. */
export function mailOfBroadcast({ accountId, id }: Pick<BroadcastRow, 'accountId' | 'id'>): MailSelector {
  return { domain: null, accountId, broadcastId: id, emailId: null }
}

function hold(tx: Tx, { accountId, id, holdId, now }: Order & { holdId: Id }): Promise<void> {
  return startHold(tx, {
    id: holdId,
    ...mailOfBroadcast({ accountId, id }),
    reason: null,
    origin: 'account',
    isPause: 1,
    createdAt: now,
    releasedAt: null,
  })
}
