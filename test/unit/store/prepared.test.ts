import { sql } from 'kysely'
import * as assert from 'uvu/assert'
import { preparedQuery } from '../../../src/store/prepared.ts'
import type { Db } from '../../../src/store/schema.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/prepared')

async function storeWith(...keys: string[]) {
  const store = await openLocalStore()
  for (const key of keys) await store.run('putSetting', { key, value: `value of ${key}` })
  return store
}

test('a query is run with the parameters of each call', async t => {
  const store = await t.using(storeWith('a', 'b'))
  const find = preparedQuery((db: Db, key: string) =>
    db.selectFrom('settings').select('value').where('key', '=', key),
  )
  assert.equal(await find(store.db, 'a'), [{ value: 'value of a' }])
  assert.equal(await find(store.db, 'b'), [{ value: 'value of b' }])
  assert.equal(await find(store.db, 'c'), [])
})

test('it is built once a database, whatever the number of calls', async t => {
  const [one, other] = [await t.using(storeWith('a')), await t.using(storeWith('a', 'b'))]
  let built = 0
  const count = preparedQuery((db: Db, least: string) => {
    built++
    return db
      .selectFrom('settings')
      .select(eb => eb.fn.countAll<number>().as('n'))
      .where('key', '>=', least)
  })
  for (let i = 0; i < 5; i++) {
    assert.equal(await count(one.db, 'a'), [{ n: 1 }])
    assert.equal(await count(other.db, 'a'), [{ n: 2 }])
  }
  assert.is(built, 2)
})

test('parameters may be used in another order than they are given in, and more than once', async t => {
  const store = await t.using(storeWith('a', 'b', 'c'))
  const find = preparedQuery((db: Db, value: string, key: string) =>
    db
      .selectFrom('settings')
      .select('key')
      .where('key', '>=', key)
      .where(eb => eb.or([eb('value', '=', value), eb('key', '=', key), eb('value', '=', value)]))
      .orderBy('key'),
  )
  assert.equal(await find(store.db, 'value of c', 'b'), [{ key: 'b' }, { key: 'c' }])
  assert.equal(await find(store.db, 'value of a', 'b'), [{ key: 'b' }])
})

test('values written into the query stay beside those that are given', async t => {
  const store = await t.using(storeWith('a', 'b'))
  const find = preparedQuery((db: Db, key: string, limit: number) =>
    db
      .selectFrom('settings')
      .select(['key', sql<string>`${'fixed'}`.as('note')])
      .where('value', 'like', 'value of %')
      .where('key', '>=', key)
      .orderBy('key')
      .limit(limit),
  )
  assert.equal(await find(store.db, 'a', 1), [{ key: 'a', note: 'fixed' }])
  assert.equal(await find(store.db, 'a', 9), [
    { key: 'a', note: 'fixed' },
    { key: 'b', note: 'fixed' },
  ])
})

test('names come back in camel case, and bytes and nulls are parameters like others', async t => {
  const store = await t.using(storeWith())
  store.connection.raw.exec("insert into accounts (id, name, plan, created_at) values (x'0102', 'n', 'p', 5)")
  const find = preparedQuery((db: Db, id: Uint8Array) =>
    db.selectFrom('accounts').select(['id', 'createdAt']).where('id', '=', id),
  )
  const [row] = await find(store.db, new Uint8Array([1, 2]))
  assert.is(row!.createdAt, 5)
  assert.equal([...row!.id], [1, 2])
  assert.equal(await find(store.db, null as unknown as Uint8Array), [])
})

test('a query without parameters is one, too', async t => {
  const store = await t.using(storeWith('a'))
  const all = preparedQuery((db: Db) => db.selectFrom('settings').select('key'))
  assert.equal(await all(store.db), [{ key: 'a' }])
})

test.run()
