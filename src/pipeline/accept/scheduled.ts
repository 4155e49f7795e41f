/** Commands on a scheduled email: change its time or cancel it. */

import type { Id } from '../../lib/ids.ts'
import { scheduledEvent } from '../../resources/events/email-events.ts'
import { moveEmails, recordEvents } from '../../resources/events/record.ts'
import { command, type Tx } from '../../store/model/command.ts'
import { DELIVERY_STATE } from '../../store/model/schema.ts'
import { refuseSendTime } from './field-rules.ts'
import type { Refusal } from './refusal.ts'

interface EmailRef {
  accountId: Id
  id: Id
  now: number
}

/** Undefined if the account has no such email. */
type Changed = true | Refusal | undefined

export const scheduledCommands = {
  rescheduleEmail: command<EmailRef & { scheduledAt: number }, Changed>(async (tx, input) => {
    const { accountId, id, scheduledAt, now } = input
    const refusal = await refuseUnlessScheduled(tx, input, 'rescheduled')
    if (refusal !== true) return refusal
    const untimely = refuseSendTime(scheduledAt, now)
    if (untimely) return untimely
    await tx.db
      .updateTable('deliveries')
      .set(eb => ({
        nextAt: scheduledAt,
        expiresAt: eb(eb('expiresAt', '-', eb.ref('nextAt')), '+', scheduledAt),
      }))
      .where('emailId', '=', id)
      .where('state', '=', DELIVERY_STATE.scheduled)
      .execute()
    await tx.rows.update('emails', ['accountId', 'id'], [{ accountId, id, scheduledAt, lastEventAt: now }])
    await recordEvents(tx, [scheduledEvent(accountId, id, scheduledAt, now)])
    tx.announce('scheduled', scheduledAt)
    return true
  }),

  cancelEmail: command<EmailRef, Changed>(async (tx, input) => {
    const { accountId, id, now: at } = input
    const refusal = await refuseUnlessScheduled(tx, input, 'canceled')
    if (refusal !== true) return refusal
    const [row] = await tx.rows.find('emails', [{ accountId, id }], ['broadcastId'])
    await tx.db
      .updateTable('deliveries')
      .set({ state: DELIVERY_STATE.done, status: 'canceled' })
      .where('emailId', '=', id)
      .where('state', '=', DELIVERY_STATE.scheduled)
      .execute()
    const email = { accountId, id, broadcastId: row!.broadcastId, status: 'scheduled' } as const
    await moveEmails(tx, [{ email, set: { status: 'canceled', lastEventAt: at, endedAt: at } }])
    await recordEvents(tx, [
      { accountId, subjectId: id, type: 'email.canceled', recipient: null, data: {}, at, origin: null },
    ])
    return true
  }),
}

async function refuseUnlessScheduled(tx: Tx, { accountId, id }: EmailRef, done: string): Promise<Changed> {
  const [email] = await tx.rows.find('emails', [{ accountId, id }], ['status'])
  if (!email) return undefined
  if (email.status === 'scheduled') return true
  const message = `Only a scheduled email can be ${done}; this one is ${email.status.replace('_', ' ')}.`
  return { refused: 'not_scheduled', message }
}
