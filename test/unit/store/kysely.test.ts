import { type Kysely, sql } from 'kysely'
import * as assert from 'uvu/assert'
import { DELIVERY_STATE } from '../../../src/store/model/schema.ts'
import { openForWriting } from '../../../src/store/sqlite/connection.ts'
import { kyselyOver } from '../../../src/store/sqlite/kysely.ts'
import { openSqliteStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/kysely')
const id = (text: string) => new Uint8Array(Buffer.from(text.padEnd(16, '.')))

/** A database that may be written through Kysely itself. */
async function writable(t: TestContext) {
  const store = await t.using(openSqliteStore())
  return { ...store, db: kyselyOver(store.connection) }
}

test('kysely: tables and columns are camel case in code and snake case in SQL', async t => {
  const { db, connection } = await writable(t)
  await db
    .insertInto('accounts')
    .values({ id: id('a'), name: 'Main', plan: 'free', createdAt: 5 })
    .execute()
  await db
    .insertInto('apiKeys')
    .values({
      id: id('k'),
      accountId: id('a'),
      name: 'Key',
      tokenHash: id('h'),
      tokenStart: 're_12345',
      domainId: null,
      createdAt: 6,
      lastUsedAt: null,
    })
    .execute()
  assert.is(connection.raw.prepare('select token_start from api_keys').pluck().get(), 're_12345')
  const row = await db.selectFrom('apiKeys').selectAll().executeTakeFirstOrThrow()
  assert.equal([row.tokenStart, row.lastUsedAt, row.createdAt], ['re_12345', null, 6])
})

test('kysely: changes report the number of rows, and returning gives the rows', async t => {
  const { db } = await writable(t)
  const rows = ['a', 'b', 'c'].map(key => ({ key, value: '' }))
  const { numInsertedOrUpdatedRows } = await db.insertInto('settings').values(rows).executeTakeFirstOrThrow()
  assert.is(numInsertedOrUpdatedRows, 3n)
  const { numUpdatedRows } = await db
    .updateTable('settings')
    .set({ value: 'x' })
    .where('key', '>', 'a')
    .executeTakeFirstOrThrow()
  assert.is(numUpdatedRows, 2n)
  assert.equal(await db.deleteFrom('settings').where('key', '=', 'a').returning(['key', 'value']).execute(), [
    { key: 'a', value: '' },
  ])
})

test('kysely: raw SQL takes parameters and returns camel case', async t => {
  const { db } = await writable(t)
  const { rows } = await sql<{ someThing: number }>`select ${42} as some_thing`.execute(db)
  assert.equal(rows, [{ someThing: 42 }])
})

test('kysely: rows are streamed while other statements run, including the same one', async t => {
  const store = await t.using(openSqliteStore())
  for (const key of ['a', 'b', 'c', 'd']) await store.run('putSetting', { key, value: '' })
  const query = store.db.selectFrom('settings').select('key').orderBy('key')
  const seen: string[] = []
  for await (const { key } of query.stream()) {
    seen.push(key)
    assert.is((await query.execute()).length, 4)
  }
  assert.equal(seen, ['a', 'b', 'c', 'd'])
})

test('kysely: a stream that is left early releases the connection', async t => {
  const { db } = await writable(t)
  const rows = Array.from({ length: 50 }, (_, i) => ({ key: `key ${i}`, value: '' }))
  await db.insertInto('settings').values(rows).execute()
  for await (const row of db.selectFrom('settings').selectAll().stream()) {
    assert.ok(row)
    break
  }
  await db.deleteFrom('settings').execute()
  assert.equal(await db.selectFrom('settings').selectAll().execute(), [])
})

test('kysely: transactions are refused, because the writer manages them', async t => {
  const { db } = await writable(t)
  let entered = false
  await db
    .transaction()
    .execute(async () => {
      entered = true
    })
    .then(
      () => assert.unreachable(),
      error => assert.match(error.message, 'transactions belong to the writer; write through a command'),
    )
  assert.is(entered, false)
})

test('kysely: a statement is prepared once, and the cache is limited', async t => {
  const store = await t.using(openSqliteStore())
  const connection = await t.using(openForWriting(store.file))
  const first = connection.prepare('select 0')
  assert.is(connection.prepare('select 0'), first)
  for (let i = 1; i <= 500; i++) connection.prepare(`select ${i}`)
  assert.is.not(connection.prepare('select 0'), first)
  assert.is(connection.prepare('select 500'), connection.prepare('select 500'))
  assert.equal(first.get(), { 0: 0 })
})

test('kysely: statements contain the values that choose a partial index, and parameters for all others', async t => {
  const { db, connection } = await writable(t)
  const indexes = connection.raw
    .prepare(
      "select tbl_name as 'table', sql from sqlite_master where type = 'index' and sql like '% where % = %'",
    )
    .all() as { table: string; sql: string }[]
  const chosen = indexes.map(({ table, sql: text }) => {
    const [, column, value] = /where (\w+) = ('\w+'|\d+)$/.exec(text)!
    return { table, column: column!, value: value! }
  })
  assert.ok(chosen.length > 5)
  for (const { table, column, value } of chosen) {
    const input = value.startsWith("'") ? value.slice(1, -1) : Number(value)
    const query = (db as unknown as Kysely<Record<string, Record<string, unknown>>>)
      .selectFrom(table)
      .where(column, '=', input)
      .where('createdAt', '>', 5)
      .limit(3)
    assert.match(
      query.select('createdAt').compile().sql,
      `"${column}" = ${value} and "created_at" > +? limit +?`,
    )
  }
})

test('kysely: waiting deliveries are found by their partial index', async t => {
  const { db, connection } = await writable(t)
  const { sql: text, parameters } = db
    .selectFrom('deliveries')
    .select('emailId')
    .where('state', '=', DELIVERY_STATE.waiting)
    .where('domain', '=', 'one.test')
    .where('class', '=', 0)
    .where('accountId', '=', id('a'))
    .orderBy('nextAt')
    .limit(5)
    .compile()
  const plan = connection.raw.prepare(`explain query plan ${text}`).all(...parameters) as { detail: string }[]
  assert.equal(
    plan.map(({ detail }) => detail),
    ['SEARCH deliveries USING COVERING INDEX deliveries_due (domain=? AND class=? AND account_id=?)'],
  )
})

test.run()
