/** Emails with their deliveries and timeline, as read back. */
import type { Id } from '../lib/ids.ts'
import type { Mailbox } from '../smtp/address.ts'
import { type Content, decodeContent } from './contents.ts'
import type { AttemptRow, Db, DeliveryRow, EmailRow, EventRow } from './schema.ts'

export async function findEmail(db: Db, accountId: Id, id: Id): Promise<EmailRow | undefined> {
  return db
    .selectFrom('emails')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function readContent(db: Db, contentId: number): Promise<Content> {
  const row = await db
    .selectFrom('contents')
    .select(['encoding', 'body'])
    .where('id', '=', contentId)
    .executeTakeFirstOrThrow()
  return decodeContent(row)
}

/** In the order of their ordinals. */
export async function listDeliveries(db: Db, emailId: Id): Promise<DeliveryRow[]> {
  return db.selectFrom('deliveries').selectAll().where('emailId', '=', emailId).orderBy('ordinal').execute()
}

/** Oldest first. */
export async function listAttempts(db: Db, emailId: Id): Promise<AttemptRow[]> {
  return db
    .selectFrom('attempts')
    .selectAll()
    .where('emailId', '=', emailId)
    .orderBy('ordinal')
    .orderBy('number')
    .execute()
}

/** Oldest first. */
export async function listEvents(db: Db, subjectId: Id): Promise<EventRow[]> {
  return db.selectFrom('events').selectAll().where('subjectId', '=', subjectId).orderBy('id').execute()
}

/** Mailboxes from a stored list. */
export function parseMailboxes(json: string | null): Mailbox[] {
  if (json === null) return []
  const stored = JSON.parse(json) as { name?: string; address: string }[]
  return stored.map(({ name, address }) => ({
    name: name ?? null,
    address,
    domain: address.slice(address.lastIndexOf('@') + 1),
  }))
}
