/**
 * What an email has been through, for the operator's eyes: whosever it is, and whatever its account is told.
 */
import type { Id } from '../../lib/ids.ts'
import type { AttemptRow, Db, DeliveryRow, EmailRow } from '../../store/schema.ts'
import { withRecord } from './attempt-record.ts'

export interface EmailTrace {
  email: EmailRow
  accountName: string
  /** In the order of their ordinals. */
  deliveries: DeliveryRow[]
  /** By delivery, oldest first. */
  attempts: AttemptRow[]
}

/** Undefined when there is none. Each attempt is at least as new as the delivery it belongs to. */
export async function findEmailTrace(db: Db, id: Id): Promise<EmailTrace | undefined> {
  const deliveries = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('emailId', '=', id)
    .orderBy('ordinal')
    .execute()
  const accountId = deliveries[0]?.accountId
  if (!accountId) return undefined
  const email = await db
    .selectFrom('emails')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!email) return undefined
  const account = await db
    .selectFrom('accounts')
    .select('name')
    .where('id', '=', accountId)
    .executeTakeFirst()
  const attempts = await db
    .selectFrom('attempts')
    .selectAll()
    .where('emailId', '=', id)
    .orderBy('ordinal')
    .orderBy('number')
    .execute()
  return { email, accountName: account?.name ?? '', deliveries, attempts: attempts.map(withRecord) }
}
