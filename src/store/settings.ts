/** Facts about the installation that live in the database. */
import { command } from './command.ts'
import type { Db } from './schema.ts'

export async function readSetting(db: Db, key: string): Promise<string | undefined> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value
}

export const settingCommands = {
  putSetting: command<{ key: string; value: string }, void>(async (tx, { key, value }) => {
    await tx.db
      .insertInto('settings')
      .values({ key, value })
      .onConflict(conflict => conflict.column('key').doUpdateSet({ value }))
      .execute()
  }),
}
