/** Reads, changes and deletes a row by its account and its id, which most tables have as their key. */
import type { Id } from '../../lib/ids.ts'
import type { Db, Schema } from './schema.ts'

export interface OwnKey {
  accountId: Id
  id: Id
}

/** Tables whose rows belong to an account. */
type OwnTable = { [T in keyof Schema]: Schema[T] extends OwnKey ? T : never }[keyof Schema]

/** The query builder types one table at a time; all of them have the columns of the key. */
type OneTable = 'topics'

export async function findOwn<T extends OwnTable>(
  db: Db,
  table: T,
  { accountId, id }: OwnKey,
): Promise<Schema[T] | undefined> {
  const rows = db.selectFrom(table as OneTable).selectAll()
  const row = await rows.where('accountId', '=', accountId).where('id', '=', id).executeTakeFirst()
  return row as Schema[T] | undefined
}

/** Returns the changed row; undefined if the account has no such row. */
export async function changeOwn<T extends OwnTable>(
  db: Db,
  table: T,
  { accountId, id }: OwnKey,
  set: Partial<Omit<Schema[T], keyof OwnKey>>,
): Promise<Schema[T] | undefined> {
  const change = db.updateTable(table as OneTable).set(set)
  const row = await change
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row as Schema[T] | undefined
}

/** Returns the deleted row; undefined if the account has no such row. */
export async function deleteOwn<T extends OwnTable>(
  db: Db,
  table: T,
  { accountId, id }: OwnKey,
): Promise<Schema[T] | undefined> {
  const rows = db.deleteFrom(table as OneTable).returningAll()
  const row = await rows.where('accountId', '=', accountId).where('id', '=', id).executeTakeFirst()
  return row as Schema[T] | undefined
}
