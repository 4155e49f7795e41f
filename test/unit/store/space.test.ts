import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { giveSpaceBack } from '../../../src/store/sqlite/writing.ts'
import { sqliteDatabase } from '../../kit/database.ts'
import { openSqliteStore, openThreadStore, type SqliteStore, tempFolder } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('store/space')

const count = ({ connection }: Pick<SqliteStore<never>, 'connection'>, what: string) =>
  connection.raw.pragma(what, { simple: true }) as number

/** A store from which much has been deleted. */
async function emptied() {
  const store = await openSqliteStore()
  const { raw } = store.connection
  const insert = raw.prepare('insert into settings (key, value) values (?, ?)')
  raw.transaction(() => {
    for (let i = 0; i < 200; i++) insert.run(`key ${i}`, 'x'.repeat(20_000))
  })()
  raw.exec("delete from settings where key like 'key %'")
  return store
}

test('space: freed pages are returned in steps of 128, and a sixteenth stays free', async t => {
  const store = await t.using(emptied())
  const free = [count(store, 'freelist_count')]
  while (giveSpaceBack(store.connection)) free.push(count(store, 'freelist_count'))
  assert.ok(free.length > 5, `only ${free.length} steps`)
  const steps = free.slice(1).map((left, i) => free[i]! - left)
  assert.equal(
    steps.filter(pages => pages > 128),
    [],
  )
  assert.ok(free.at(-1)! <= Math.ceil(count(store, 'page_count') / 16))
  assert.ok(free.at(-1)! > 0)
  assert.equal(store.rows('pragma integrity_check'), [{ integrity_check: 'ok' }])
})

test('space: nothing happens when no page is free', async t => {
  const store = await t.using(openSqliteStore())
  const size = count(store, 'page_count')
  assert.is(giveSpaceBack(store.connection), false)
  assert.is(count(store, 'page_count'), size)
})

test('space: the file of an idle store shrinks', async t => {
  const folder = await t.using(tempFolder())
  const file = join(folder.path, 'test.db')
  const store = await t.using(openThreadStore({ folder: folder.path, database: sqliteDatabase(file) }))
  const sizeOf = () => statSync(file).size
  const keys = Array.from({ length: 100 }, (_, i) => `key ${i}`)
  const putAll = (value: string) => Promise.all(keys.map(key => store.run('putSetting', { key, value })))
  await putAll('x'.repeat(20_000))
  await until(() => sizeOf() > 2_500_000)
  await putAll('')
  await until(() => sizeOf() < 1_500_000)
})

test.run()
