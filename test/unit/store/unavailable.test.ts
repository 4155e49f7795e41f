import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { createIdSource } from '../../../src/lib/ids.ts'
import { command, StorageUnavailable } from '../../../src/store/model/command.ts'
import { DiskFailure } from '../../../src/store/model/errors.ts'
import { settingCommands } from '../../../src/store/reading/settings.ts'
import { openSqliteStore, refusalOf, type SqliteStore } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/unavailable')
const accountId = createIdSource()(1)

const scripted = {
  ...settingCommands,
  countAndPut: command<{ key: string; value: string }, void>(async (tx, row) => {
    tx.count(accountId, 'things', '', 1)
    tx.announce('put', row.key)
    await tx.rows.insert('settings', [row])
  }),
  readAll: command<null, number>(
    async tx => (await tx.db.selectFrom('settings').selectAll().execute()).length,
  ),
}

type Scripted = SqliteStore<typeof scripted>

const put = (key: string, value = '') => ({ name: 'putSetting', input: { key, value } })
const large = 'x'.repeat(200_000)

/** Leaves the database as many pages as it has, as a full disk does. */
function fill({ connection: { raw } }: Scripted) {
  raw.pragma(`max_page_count = ${raw.pragma('page_count', { simple: true })}`)
}

function makeRoom({ connection: { raw } }: Scripted) {
  raw.pragma('max_page_count = 1000000')
}

function keys(store: Scripted): string[] {
  return store.rows<{ key: string }>('select key from settings order by key').map(({ key }) => key)
}

async function thrownBy(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}

test('unavailable: a full disk refuses every command of the group', async t => {
  const store = await t.using(openSqliteStore(scripted))
  fill(store)
  const { replies, announcements } = await store.group(
    put('before'),
    { name: 'countAndPut', input: { key: 'large', value: large } },
    put('after'),
    { name: 'readAll', input: null },
  )
  for (let i = 0; i < 4; i++)
    assert.is(refusalOf(replies, i), 'unavailable: nothing can be stored at the moment (SQLITE_FULL)')
  assert.equal(announcements, [])
  assert.equal(keys(store), [])
})

test('unavailable: commands that fit are stored while the disk is full, all after space is freed', async t => {
  const store = await t.using(openSqliteStore(scripted))
  await store.run('putSetting', { key: 'first', value: large })
  fill(store)
  assert.instance(
    await thrownBy(store.run('countAndPut', { key: 'second', value: large })),
    StorageUnavailable,
  )
  await store.run('putSetting', { key: 'small', value: '' })
  assert.equal(keys(store), ['first', 'small'])
  makeRoom(store)
  await store.run('countAndPut', { key: 'second', value: large })
  assert.equal(keys(store), ['first', 'second', 'small'])
  assert.equal(store.rows('select count from counters'), [{ count: 1 }])
  assert.is(store.connection.raw.pragma('integrity_check', { simple: true }), 'ok')
})

test('unavailable: a locked database refuses a group and accepts the next one when unlocked', async t => {
  const store = await t.using(openSqliteStore(scripted))
  store.connection.raw.pragma('busy_timeout = 0')
  const other = await t.using(new Database(store.file) as { close(): void } & Database.Database)
  other.exec('begin immediate')
  const { replies } = await store.group(put('a'), put('b'))
  assert.is(refusalOf(replies, 0), 'unavailable: nothing can be stored at the moment (SQLITE_BUSY)')
  assert.is(refusalOf(replies, 1), 'unavailable: nothing can be stored at the moment (SQLITE_BUSY)')
  other.exec('rollback')
  await store.group(put('a'), put('b'))
  assert.equal(keys(store), ['a', 'b'])
})

test('unavailable: a read-only database refuses commands', async t => {
  const store = await t.using(openSqliteStore(scripted))
  store.connection.raw.pragma('query_only = on')
  const error = await thrownBy(store.run('putSetting', { key: 'a', value: '' }))
  assert.instance(error, StorageUnavailable)
  assert.match(error.message, /SQLITE_READONLY/)
  store.connection.raw.pragma('query_only = off')
  await store.run('putSetting', { key: 'a', value: '' })
  assert.equal(keys(store), ['a'])
})

test('unavailable: a corrupt database is fatal', async t => {
  const store = await t.using(openSqliteStore(scripted))
  for (let i = 0; i < 50; i++) await store.run('putSetting', { key: `key ${i}`, value: large.slice(0, 5000) })
  damage(store)
  for (const request of [{ name: 'readAll', input: null }, put('a')]) {
    const error = await thrownBy(store.group(request))
    assert.instance(error, DiskFailure)
    assert.match(error.message, /SQLITE_CORRUPT/)
  }
})

/** Overwrites all of the database file but its first page, which holds the schema. */
function damage({ connection, file }: Scripted) {
  connection.raw.pragma('wal_checkpoint(TRUNCATE)')
  connection.raw.pragma('cache_size = 0')
  connection.raw.pragma('shrink_memory')
  const pageBytes = connection.raw.pragma('page_size', { simple: true }) as number
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(statSync(file).size - pageBytes, 0xa5), 0, undefined, pageBytes)
  closeSync(handle)
}

test.run()
