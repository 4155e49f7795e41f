/**
 * Definitions of contact properties per account: the type, and the fallback value for contacts without the
 * property.
 */
import type { Id } from '../../lib/ids.ts'
import { command } from '../../store/model/command.ts'
import { changeOwn, deleteOwn, type OwnKey } from '../../store/model/own-row.ts'
import type { Db, PropertyDefinitionRow } from '../../store/model/schema.ts'
import { KEYS_MAX } from './limits.ts'

export type DefinitionFields = Pick<PropertyDefinitionRow, 'key' | 'type' | 'fallback'>

export const definitionCommands = {
  createPropertyDefinition: command<
    OwnKey & { fields: DefinitionFields; at: number },
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
    OwnKey & Pick<DefinitionFields, 'fallback'>,
    PropertyDefinitionRow | undefined
  >(({ db }, { fallback, ...key }) => changeOwn(db, 'propertyDefinitions', key, { fallback })),

  /** Keeps the values of contacts. Returns false if the account has no such definition. */
  deletePropertyDefinition: command<OwnKey, boolean>(
    async ({ db }, key) => (await deleteOwn(db, 'propertyDefinitions', key)) !== undefined,
  ),
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

/** Returns the fallback values by key. */
export function fallbacksIn(definitions: readonly PropertyDefinitionRow[]): ReadonlyMap<string, string> {
  return new Map(
    definitions.flatMap(({ key, fallback }) => (fallback === null ? [] : [[key, fallback] as const])),
  )
}
