/**
 * Keeps the times of the last email to each contact and of the contact's last open and click, by which segments
 * select. A contact has one row, however many emails there are, and keeps it after its emails are deleted.
 *
 * Called in the transaction of the event. Read by `resources/contacts/filters.ts`.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { Tx } from '../../store/model/command.ts'
import type { ContactActivityRow } from '../../store/model/schema.ts'

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
    const times = new Map(ofAccount.map(({ address, at }) => [foldAddress(address), at]))
    const addresses = [...times.keys()]
    for (let from = 0; from < addresses.length; from += ADDRESSES_PER_QUERY_MAX) {
      const contacts = await tx.db
        .selectFrom('contacts')
        .select(['id', 'email'])
        .where('accountId', '=', ofAccount[0]!.accountId)
        .where('email', 'in', addresses.slice(from, from + ADDRESSES_PER_QUERY_MAX))
        // groups that wait for each other's rows do so in the same order
        .orderBy('id')
        .execute()
      await put(
        tx,
        column,
        contacts.map(({ id: contactId, email }) => ({ contactId, [column]: times.get(email)! })),
      )
    }
  }
}

/** Returns the activities of each account, without accounts that have no audience and therefore no contact. */
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
  tx: Tx,
  column: ActivityTime,
  rows: readonly ({ contactId: Id } & Partial<ContactActivityRow>)[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.db
    .insertInto('contactActivity')
    .values(rows as ContactActivityRow[])
    .onConflict(conflict =>
      conflict.column('contactId').doUpdateSet(eb => ({ [column]: eb.ref(`excluded.${column}`) })),
    )
    .execute()
}

/** Gives a new contact the times of one with the same address. */
export async function copyActivity({ db, rows }: Tx, from: Id, contactId: Id): Promise<void> {
  const known = await db.selectFrom('contactActivity').selectAll().where('contactId', '=', from).execute()
  await rows.insert(
    'contactActivity',
    known.map(row => ({ ...row, contactId })),
  )
}
