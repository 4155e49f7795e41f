/** An account with one of everything, to delete, and the tables in which rows of an account are left. */
import * as assert from 'uvu/assert'
import { type Id, parseWireId } from '../../src/lib/ids.ts'
import { addAccount } from './accounts.ts'
import { isOnPostgres, type TestDatabase } from './database.ts'
import type { Mailhorn } from './mailhorn.ts'
import { ownEverything } from './owned.ts'

const DAY_MS = 86_400_000

/** Tables with a column for the account, except the table of accounts. */
export function accountTables(database: Pick<TestDatabase, 'rows'>): string[] {
  const sql = isOnPostgres
    ? `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'account_id'`
    : `select m.name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table' and c.name = 'account_id'`
  return database.rows<{ name: string }>(sql).map(({ name }) => name)
}

/** Tables that have rows of the account. */
export function tablesWith(database: Pick<TestDatabase, 'rows'>, id: Id): string[] {
  return accountTables(database).filter(
    table => database.rows(`select 1 from ${table} where account_id = ?`, id).length > 0,
  )
}

/** An account with one of everything, with mail that waits, and with mail for later. */
export async function fullAccount(mailhorn: Mailhorn, name: string, domain: string) {
  const { session, apiKey: key } = addAccount(mailhorn, name)
  await ownEverything(mailhorn, { session, key, domain: `unverified.${domain}` })
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const operator = await mailhorn.signIn()
  await mailhorn.call('POST', '/queue/hold', { session: operator, body: { account_id: account.id } })
  const words = { subject: 'hi', text: 'hello' }
  const mail = { ...words, from: `ann@unverified.${domain}`, to: 'delivered@simulator.test' }
  const tomorrow = new Date(mailhorn.clock.now() + DAY_MS).toISOString()
  for (const body of [mail, { ...mail, scheduled_at: tomorrow }]) {
    const { status } = await mailhorn.call('POST', '/emails', { session, body })
    assert.is(status, 200)
  }
  return { id: parseWireId('acc', account.id)!, wireId: account.id as string, session, key, operator }
}
