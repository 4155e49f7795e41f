/**
 * Keeps the times of the last email to each contact and of the contact's last open and click, by which
 * segments select. A contact has one row, however many emails there are, and keeps it after its emails are
 * deleted.
 *
 * Called in the transaction of the event. Read by `resources/contacts/filters.ts`.
 */
import { sql } from 'kysely'
import { type Id, idKey } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { Tx } from '../../store/model/command.ts'
import type { ContactActivityRow, Db } from '../../store/model/schema.ts'

export type ActivityTime = Exclude<keyof ContactActivityRow, 'contactId'>

/** Something that happened to an email to an address. */
export interface Activity {
  accountId: Id
  address: string
  at: number
}

/** Number of addresses per query. */
const ADDRESSES_PER_QUERY_MAX = 500

/** Notes the time for each contact of the account that has the address, in any audience. */
export async function noteActivity(
  tx: Tx,
  column: ActivityTime,
  activities: readonly Activity[],
): Promise<void> {
  for (const ofAccount of await withContacts(tx, activities)) {
    const addresses = [...new Set(ofAccount.map(({ address }) => foldAddress(address)))]
    // those of one group are seconds apart
    const latestAt = Math.max(...ofAccount.map(({ at }) => at))
    for (let from = 0; from < addresses.length; from += ADDRESSES_PER_QUERY_MAX)
      await put(tx, column, {
        accountId: ofAccount[0]!.accountId,
        addresses: addresses.slice(from, from + ADDRESSES_PER_QUERY_MAX),
        at: latestAt,
      })
  }
}

/** Returns the activities by account, without accounts that have no audience and so no contacts. */
async function withContacts({ db }: Tx, activities: readonly Activity[]): Promise<Activity[][]> {
  if (activities.length === 0) return []
  const byAccount = Map.groupBy(activities, ({ accountId }) => idKey(accountId))
  const accountIds = [...byAccount.values()].map(([first]) => first!.accountId)
  const rows = await db
    .selectFrom('audiences')
    .select('accountId')
    .distinct()
    .where('accountId', 'in', accountIds)
    .execute()
  return rows.map(({ accountId }) => byAccount.get(idKey(accountId))!)
}

async function put(
  { db }: Tx,
  column: ActivityTime,
  { accountId, addresses, at }: { accountId: Id; addresses: readonly string[]; at: number },
): Promise<void> {
  const contacts = db
    .selectFrom('contacts')
    .select(['id', sql<number>`cast(${at} as bigint)`.as('at')])
    .where('accountId', '=', accountId)
    .where('email', 'in', addresses)
    // groups that wait for each other's rows do so in the same order
    .orderBy('id')
  await db
    .insertInto('contactActivity')
    .columns(['contactId', column])
    .expression(contacts)
    .onConflict(conflict =>
      conflict.column('contactId').doUpdateSet(eb => ({ [column]: eb.ref(`excluded.${column}`) })),
    )
    .execute()
}

/** Returns undefined if nothing is known of the contact. */
export function findActivity(db: Db, contactId: Id): Promise<ContactActivityRow | undefined> {
  return db.selectFrom('contactActivity').selectAll().where('contactId', '=', contactId).executeTakeFirst()
}

/** Gives a new contact the times of one with the same address. */
export async function copyActivity({ db, rows }: Tx, from: Id, contactId: Id): Promise<void> {
  const known = await findActivity(db, from)
  if (known) await rows.insert('contactActivity', [{ ...known, contactId }])
}
