/** Reads the history of an email for the operator, regardless of its account and of feedback rules. */
import type { Id } from '../../lib/ids.ts'
import { findOwn } from '../../store/model/own-row.ts'
import type { AttemptRow, Db, DeliveryRow, EmailRow } from '../../store/model/schema.ts'
import { withRecord } from './attempt-record.ts'

export interface EmailTrace {
  email: EmailRow
  accountName: string
  /** Sorted by ordinal. */
  deliveries: DeliveryRow[]
  /** Sorted by delivery, oldest first. */
  attempts: AttemptRow[]
}

/**
 * Attempts are read after the deliveries, so they are at least as recent.
 * @returns undefined if there is no such email
 */
export async function findEmailTrace(db: Db, id: Id): Promise<EmailTrace | undefined> {
  const deliveries = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('emailId', '=', id)
    .orderBy('ordinal')
    .execute()
  const accountId = deliveries[0]?.accountId
  if (!accountId) return undefined
  const email = await findOwn(db, 'emails', { accountId, id })
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
