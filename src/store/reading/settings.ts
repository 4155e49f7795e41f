/** Settings of the installation that are stored in the database. */
import { sql } from 'kysely'
import { command, type Tx } from '../model/command.ts'
import type { Db } from '../model/schema.ts'

/** Topic of announcements: keys of settings that were written. */
export const SETTING_PUT = 'setting'

/**
 * Key of the id of the provider host's MTA-STS policy; the value is empty while the policy is not published.
 */
export const MTA_STS_ID = 'mta_sts_id'

/**
 * Key of the mode in which the provider host's MTA-STS policy is served, `enforce` or `testing`. It is
 * written before the id, because senders fetch the policy when the id changes (RFC 8461 §3.3).
 */
export const MTA_STS_MODE = 'mta_sts_mode'

/** Key of the process that last found a fault at port 25, by a random name, and the time of it. */
export const MTA_STS_FAULT = 'mta_sts_fault'

/** Key of the simulator's current and former domains below `mail_host`, separated by spaces. */
export const SIMULATOR_DOMAINS = 'simulator_domains'

/** Key of the SOA serial of the provider zone (RFC 1035 §3.3.13). */
const ZONE_SERIAL = 'zone_serial'
/** Key of the digest of the static records that were served with the serial. */
const ZONE_DIGEST = 'zone_digest'
const SERIALS = 2 ** 32

export async function readSetting(db: Db, key: string): Promise<string | undefined> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value
}

/** @returns the id of the published MTA-STS policy; undefined when none is published */
export async function publishedPolicy(db: Db): Promise<string | undefined> {
  return (await readSetting(db, MTA_STS_ID)) || undefined
}

/** @returns the SOA serial of the provider zone; undefined before the first start of the service */
export async function findZoneSerial(db: Db): Promise<number | undefined> {
  const value = await readSetting(db, ZONE_SERIAL)
  return value === undefined ? undefined : Number(value)
}

/**
 * Increases the SOA serial. To be called by every command that changes the records of the provider zone, so
 * that both are committed together.
 */
export async function increaseZoneSerial(tx: Tx): Promise<void> {
  await tx.db
    .updateTable('settings')
    .set({ value: sql<string>`cast((cast(value as bigint) + 1) % ${sql.lit(SERIALS)} as text)` })
    .where('key', '=', ZONE_SERIAL)
    .execute()
  tx.announce(SETTING_PUT, ZONE_SERIAL)
}

export const settingCommands = {
  putSetting: command<{ key: string; value: string }, void>(async (tx, { key, value }) => {
    const isServed = key === MTA_STS_ID && ((await readSetting(tx.db, key)) ?? '') !== value
    await writeSetting(tx, key, value)
    if (isServed) await increaseZoneSerial(tx)
  }),

  /**
   * Increases the SOA serial if the static records differ from those of the previous start. The first serial
   * is the time in seconds, and later ones are at least that if it is greater (RFC 1982).
   *
   * @param now ms since the epoch
   */
  noteZoneRecords: command<{ digest: string; now: number }, void>(async (tx, { digest, now }) => {
    const serial = await findZoneSerial(tx.db)
    if (serial !== undefined && (await readSetting(tx.db, ZONE_DIGEST)) === digest) return
    await writeSetting(tx, ZONE_SERIAL, String(serialAfter(serial, Math.floor(now / 1_000) % SERIALS)))
    await writeSetting(tx, ZONE_DIGEST, digest)
  }),
}

/** Runs inside a command. */
export async function writeSetting(tx: Tx, key: string, value: string): Promise<void> {
  await tx.db
    .insertInto('settings')
    .values({ key, value })
    .onConflict(conflict => conflict.column('key').doUpdateSet({ value }))
    .execute()
  tx.announce(SETTING_PUT, key)
}

/** Returns `wanted` if it is greater than the serial (RFC 1982 §3.2), otherwise the next one. */
function serialAfter(serial: number | undefined, wanted: number): number {
  if (serial === undefined) return wanted
  const ahead = (wanted - serial + SERIALS) % SERIALS
  return ahead > 0 && ahead < SERIALS / 2 ? wanted : (serial + 1) % SERIALS
}
