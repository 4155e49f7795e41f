/** Settings of the installation that are stored in the database. */
import { command } from './command.ts'
import type { Db } from './schema.ts'

/** Topic of announcements: keys whose values have been put. */
export const SETTING_PUT = 'setting'

/** The id of the MTA-STS policy of the provider host while it is published; empty while it is not. */
export const MTA_STS_ID = 'mta_sts_id'

/** What the simulator is or was called after `mail_host`, with spaces between them. */
export const SIMULATOR_DOMAINS = 'simulator_domains'

export async function readSetting(db: Db, key: string): Promise<string | undefined> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value
}

/** The id of the MTA-STS policy that is published; undefined while none is. */
export async function publishedPolicy(db: Db): Promise<string | undefined> {
  return (await readSetting(db, MTA_STS_ID)) || undefined
}

export const settingCommands = {
  putSetting: command<{ key: string; value: string }, void>(async (tx, { key, value }) => {
    await tx.db
      .insertInto('settings')
      .values({ key, value })
      .onConflict(conflict => conflict.column('key').doUpdateSet({ value }))
      .execute()
    tx.announce(SETTING_PUT, key)
  }),
}
