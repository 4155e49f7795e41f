/**
 * Definitions of contact properties per account: the type, and the fallback value for contacts without the
 * property.
 */
import type { Id } from '../../lib/ids.ts'
import { command } from '../../store/model/command.ts'
import type { Db, PropertyDefinitionRow } from '../../store/model/schema.ts'
import { KEYS_MAX } from './limits.ts'

interface DefinitionKey {
  accountId: Id
  id: Id
}

export type DefinitionFields = Pick<PropertyDefinitionRow, 'key' | 'type' | 'fallback'>

export const definitionCommands = {
  createPropertyDefinition: command<
    DefinitionKey & { fields: DefinitionFields; at: number },
    PropertyDefinitionRow | 'taken' | 'too-many'
  >(async ({ db }, { accountId, id, fields, at }) => {
    const known = await db
      .selectFrom('propertyDefinitions')
      .select('key')
      .where('accountId', '=', accountId)
      .execute()
    if (known.some(({ key }) => key === fields.key)) return 'taken'
    if (known.length >= KEYS_MAX) return 'too-many'
    const row = { accountId, id, ...fields, createdAt: at }
    await db.insertInto('propertyDefinitions').values(row).execute()
    return row
  }),

  /** Returns undefined if the account has no such definition. */
  changePropertyDefinition: command<
    DefinitionKey & Pick<DefinitionFields, 'fallback'>,
    PropertyDefinitionRow | undefined
  >(({ db }, { accountId, id, fallback }) =>
    db
      .updateTable('propertyDefinitions')
      .set({ fallback })
      .where('accountId', '=', accountId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst(),
  ),

  /** Keeps the values of contacts. Returns false if the account has no such definition. */
  deletePropertyDefinition: command<DefinitionKey, boolean>(async ({ db }, { accountId, id }) => {
    const { numDeletedRows } = await db
      .deleteFrom('propertyDefinitions')
      .where('accountId', '=', accountId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  }),
}

/** Lists the definitions of an account, newest first. */
export function listDefinitions(db: Db, accountId: Id): Promise<PropertyDefinitionRow[]> {
  return db
    .selectFrom('propertyDefinitions')
    .selectAll()
    .where('accountId', '=', accountId)
    .orderBy('id', 'desc')
    .execute()
}

export function findDefinition(
  db: Db,
  { accountId, id }: DefinitionKey,
): Promise<PropertyDefinitionRow | undefined> {
  return db
    .selectFrom('propertyDefinitions')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Returns the fallback values by key. */
export function fallbacksIn(definitions: readonly PropertyDefinitionRow[]): ReadonlyMap<string, string> {
  return new Map(
    definitions.flatMap(({ key, fallback }) => (fallback === null ? [] : [[key, fallback] as const])),
  )
}
