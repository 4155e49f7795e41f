import { sql } from 'kysely'
import * as assert from 'uvu/assert'
import type { Db } from '../../../src/store/model/schema.ts'
import type { commands } from '../../../src/workers/commands.ts'
import { POSTGRES_ONLY } from '../../kit/database.ts'
import { type LocalStore, openLocalStore, openSqliteStore } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('store/read-together')

const storeWith = (...keys: string[]) => filled(openLocalStore(), keys)

async function filled<S extends LocalStore<typeof commands>>(opening: Promise<S>, keys: readonly string[]) {
  const store = await opening
  for (const key of keys) await store.run('putSetting', { key, value: `value of ${key}` })
  return store
}

const keysFrom = (db: Db, first: string) =>
  db.selectFrom('settings').select('key').where('key', '>=', first).orderBy('key')

test('read together: each query has its rows, in the order of the queries, in camel case', async t => {
  const { db, readTogether } = await t.using(storeWith('a', 'b'))
  const results = await readTogether(
    keysFrom(db, 'b'),
    keysFrom(db, 'z'),
    keysFrom(db, 'a'),
    db
      .selectFrom('migrations' as never)
      .select(sql<number>`1`.as('appliedAt'))
      .limit(1),
  )
  assert.equal(results, [[{ key: 'b' }], [], [{ key: 'a' }, { key: 'b' }], [{ appliedAt: 1 }]])
  assert.equal(await readTogether(), [])
})

test('read together: queries see earlier commits, later queries see later ones', async t => {
  const store = await t.using(storeWith('a'))
  const { db, readTogether } = store
  const both = () => readTogether(keysFrom(db, ''), keysFrom(db, ''))
  assert.equal(await both(), [[{ key: 'a' }], [{ key: 'a' }]])
  await store.run('putSetting', { key: 'b', value: '' })
  const all = [{ key: 'a' }, { key: 'b' }]
  assert.equal(await both(), [all, all])
})

test(
  'read together: no query sees a commit made between them',
  async t => {
    const store = await t.using(storeWith('a'))
    const { db, readTogether, rows } = store
    rows('select pg_advisory_lock(4712)')
    const wait = db.selectNoFrom(sql<string>`pg_advisory_xact_lock_shared(4712)::text`.as('gone'))
    const running = readTogether(keysFrom(db, ''), wait, keysFrom(db, ''))
    await until(
      () =>
        rows("select 1 from pg_stat_activity where wait_event = 'advisory' and datname = current_database()")
          .length > 0,
    )
    await store.run('putSetting', { key: 'b', value: '' })
    rows('select pg_advisory_unlock(4712)')
    assert.equal(await running, [[{ key: 'a' }], [{ gone: '' }], [{ key: 'a' }]])
  },
  POSTGRES_ONLY,
)

test('read together: a failing query leaves the connection usable', async t => {
  const { db, readTogether } = await t.using(storeWith('a'))
  await readTogether(keysFrom(db, 'a'), db.selectFrom('settings').select(sql`no_such_column`.as('x'))).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /no such column|column "no_such_column" does not exist/),
  )
  assert.equal(await readTogether(keysFrom(db, 'a')), [[{ key: 'a' }]])
  assert.equal(await keysFrom(db, 'a').execute(), [{ key: 'a' }])
})

test('read together: SQLite allows it while rows are streamed', async t => {
  const { db, readTogether } = await t.using(filled(openSqliteStore(), ['a', 'b', 'c']))
  let rounds = 0
  for await (const row of keysFrom(db, 'a').stream()) {
    assert.ok(row)
    assert.is((await readTogether(keysFrom(db, 'a')))[0].length, 3)
    rounds++
  }
  assert.is(rounds, 3)
})

test.run()
