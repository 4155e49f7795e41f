/** The event that tells when an email is to be sent: at its acceptance, and at each change of the time. */
import type { Id } from '../../lib/ids.ts'
import type { NewEvent } from './record.ts'

export function scheduledEvent(accountId: Id, subjectId: Id, scheduledAt: number, at: number): NewEvent {
  const data = { scheduled: { scheduled_at: new Date(scheduledAt).toISOString() } }
  return { accountId, subjectId, type: 'email.scheduled', recipient: null, data, at, origin: null }
}
