/** Numbered property keys of the contacts of an audience, with the number of contacts that have each key. */
import type { Id } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import type { ContactPropertyRow, Db } from '../../store/model/schema.ts'
import { KEYS_MAX } from './limits.ts'

/**
 * Tells whether an audience may get these additional keys. Keys that no contact has any more do not count.
 */
export async function hasRoomForKeys(
  { db }: Pick<Tx, 'db'>,
  audienceId: Id,
  keys: readonly string[],
): Promise<boolean> {
  if (keys.length === 0) return true
  const rows = await db
    .selectFrom('contactProperties')
    .select('key')
    .where('audienceId', '=', audienceId)
    .where('contactCount', '>', 0)
    .execute()
  return new Set([...rows.map(({ key }) => key), ...keys]).size <= KEYS_MAX
}

/** @returns the numbers of the keys; a new key gets a new number */
export async function addPropertyKeys(
  tx: Tx,
  audienceId: Id,
  keys: readonly string[],
): Promise<Map<string, number>> {
  const found = await tx.rows.find(
    'contactProperties',
    keys.map(key => ({ audienceId, key })),
    ['id'],
  )
  const ids = new Map<string, number>()
  for (const [i, key] of keys.entries()) {
    const id = found[i]?.id ?? (await addKey(tx, audienceId, key))
    ids.set(key, id)
  }
  return ids
}

async function addKey({ db }: Tx, audienceId: Id, key: string): Promise<number> {
  const { id } = await db
    .insertInto('contactProperties')
    .values({ audienceId, key, contactCount: 0 } as ContactPropertyRow)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Adds to the counts by key number. */
export async function countProperties({ db }: Tx, deltas: ReadonlyMap<number, number>): Promise<void> {
  for (const [id, delta] of deltas)
    if (delta !== 0)
      await db
        .updateTable('contactProperties')
        .set(eb => ({ contactCount: eb('contactCount', '+', delta) }))
        .where('id', '=', id)
        .execute()
}

/** Returns the given keys that a contact of the audience has or had. */
export async function keysAmong(db: Db, audienceId: Id, keys: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('contactProperties')
    .select('key')
    .where('audienceId', '=', audienceId)
    .where('key', 'in', keys)
    .execute()
  return rows.map(({ key }) => key)
}

/** Lists the keys that contacts have now. */
export function listPropertyKeys(
  db: Db,
  audienceId: Id,
): Promise<Pick<ContactPropertyRow, 'key' | 'contactCount'>[]> {
  return db
    .selectFrom('contactProperties')
    .select(['key', 'contactCount'])
    .where('audienceId', '=', audienceId)
    .where('contactCount', '>', 0)
    .orderBy('key')
    .execute()
}
