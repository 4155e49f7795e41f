/** Events of emails that several commands record, and the look-up of an event that was recorded before. */
import type { Id } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import type { SuppressionReason } from '../../store/model/schema.ts'
import type { Cause } from '../emails/explanation/cause.ts'
import type { NewEvent } from './record.ts'
import type { EventType } from './types.ts'

/** This event is recorded when a scheduled email is accepted and at each change of its time. */
export function scheduledEvent(accountId: Id, subjectId: Id, scheduledAt: number, at: number): NewEvent {
  const data = { scheduled: { scheduled_at: new Date(scheduledAt).toISOString() } }
  return { accountId, subjectId, type: 'email.scheduled', recipient: null, data, at, origin: null }
}

export const ON_SUPPRESSION_LIST = 'The address is on the suppression list.'

/** Why a recipient gets no mail: in a sentence, and as the cause of its delivery. */
export interface Objected {
  message: string
  cause: Cause
}

export function onSuppressionList(by: SuppressionReason): Objected {
  return { message: ON_SUPPRESSION_LIST, cause: { code: 'suppressed', by } }
}

/** @param message the contact has unsubscribed or is gone */
export function unsubscribed(message: string): Objected {
  return { message, cause: { code: 'unsubscribed' } }
}

/** @param message why the recipient gets no mail */
export function suppressedEvent(message: string) {
  return { type: 'email.suppressed' as const, data: { suppressed: { message, type: 'Suppressed' } } }
}

export async function hasHappened(tx: Tx, emailId: Id, type: EventType, recipient: string): Promise<boolean> {
  const former = await tx.db
    .selectFrom('events')
    .select('id')
    .where('subjectId', '=', emailId)
    .where('type', '=', type)
    .where('recipient', '=', recipient)
    .limit(1)
    .executeTakeFirst()
  return former !== undefined
}
