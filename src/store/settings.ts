/** Settings of the installation that are stored in the database. */
import { command } from './command.ts'
import type { Db } from './schema.ts'

/** Topic of announcements: keys of settings that were written. */
export const SETTING_PUT = 'setting'

/**
 * Key of the id of the provider host's MTA-STS policy; the value is empty while the policy is not published.
 */
export const MTA_STS_ID = 'mta_sts_id'

/**
 * Key of the mode in which the provider host's MTA-STS policy is served, `enforce` or `testing`. It is written
 * before the id, because senders fetch the policy when the id changes (RFC 8461 §3.3).
 */
export const MTA_STS_MODE = 'mta_sts_mode'

/** Key of the simulator's current and former domains below `mail_host`, separated by spaces. */
export const SIMULATOR_DOMAINS = 'simulator_domains'

export async function readSetting(db: Db, key: string): Promise<string | undefined> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value
}

/** @returns the id of the published MTA-STS policy; undefined when none is published */
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
