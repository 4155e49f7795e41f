import { closeSync, mkdirSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { makeSnapshot } from '../../../../src/store/backup/snapshot.ts'
import { locate } from '../../../../src/store/opening/dialect.ts'
import { listSnapshots, newestSnapshot } from '../../../../src/store/opening/snapshots.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('store/snapshot')
const NOW = Date.UTC(2026, 10, 28, 0, 30)

/** A database in write-ahead mode with a row, and snapshots of these names beside it. */
async function setUp(t: TestContext, names: readonly string[] = []) {
  const { path: dataDir } = await t.using(tempFolder())
  const raw = new Database(join(dataDir, 'mailhorn.db'))
  raw.pragma('journal_mode = WAL')
  raw.exec("create table migrations (name, applied_at); insert into migrations values ('002-two', 1)")
  raw.close()
  const folder = join(dataDir, 'snapshots')
  mkdirSync(folder)
  for (const name of names) writeFileSync(join(folder, name), '')
  const make = (keep: number, nowMs = NOW) =>
    makeSnapshot({ location: locate({ dataDir, url: 'sqlite:mailhorn.db' }), schema: '002-two', keep, nowMs })
  return { dataDir, folder, make }
}

test('the name has schema and time, only its owner may read it, and what a kill has left is removed', async t => {
  const { folder, make } = await setUp(t, ['incomplete-001-one-20261101T000000Z.db'])
  const made = await make(2)
  assert.equal(
    [made.path, made.schema, made.madeAt, made.removed],
    [join(folder, '002-two-20261128T003000Z.db'), '002-two', '2026-11-28T00:30:00Z', []],
  )
  assert.is(statSync(made.path).mode & 0o777, 0o600)
  assert.equal(readdirSync(folder), ['002-two-20261128T003000Z.db'])
  const copy = new Database(made.path, { readonly: true })
  assert.equal(copy.prepare('select name from migrations').pluck().all(), ['002-two'])
  copy.close()
})

for (const [keep, removed] of [
  [1, ['000-zero-20261101T000000Z.db', '001-one-20261102T000000Z.db', '002-two-20261103T000000Z.db']],
  [2, ['000-zero-20261101T000000Z.db', '002-two-20261103T000000Z.db']],
  [9, ['002-two-20261103T000000Z.db']],
] as const)
  test(`the newest ${keep} stay, and of one schema the newest`, async t => {
    const names = [
      '000-zero-20261101T000000Z.db',
      '001-one-20261102T000000Z.db',
      '002-two-20261103T000000Z.db',
    ]
    const { folder, make } = await setUp(t, [...names, 'notes.txt'])
    assert.equal(
      (await make(keep)).removed,
      removed.map(name => join(folder, name)),
    )
    assert.ok(readdirSync(folder).includes('notes.txt'))
  })

test('a snapshot that was just made stays, also when the clock was set back', async t => {
  const { folder, make } = await setUp(t, ['001-one-20270101T000000Z.db', '002-two-20270101T000000Z.db'])
  const { path } = await make(1)
  assert.equal(
    listSnapshots(folder).map(snapshot => snapshot.path),
    [path],
  )
})

test('an incomplete one is never listed, nor is a folder', async t => {
  const { folder } = await setUp(t, ['incomplete-002-two-20261128T000000Z.db', '002-two-2026.db'])
  mkdirSync(join(folder, '002-two-20261128T000000Z.db'))
  assert.equal([listSnapshots(folder), newestSnapshot(folder, '002-two')], [[], undefined])
  assert.equal(listSnapshots(join(folder, 'missing')), [])
})

test('a damaged database ends the start before its migration, with what to do', async t => {
  const { dataDir, folder, make } = await setUp(t)
  const raw = new Database(join(dataDir, 'mailhorn.db'))
  raw.exec('create table many (text); insert into many values (hex(randomblob(100000)))')
  raw.pragma('wal_checkpoint(TRUNCATE)')
  raw.close()
  const bytes = Buffer.alloc(40_000, 0xff)
  const file = openSync(join(dataDir, 'mailhorn.db'), 'r+')
  writeSync(file, bytes, 0, bytes.length, 8_192)
  closeSync(file)
  await make(2).then(
    () => assert.unreachable(),
    (error: Error & { code?: string }) => {
      assert.is(error.code, 'START_FAULT')
      assert.match(error.message, /^the snapshot before the migration of the database failed: .* damaged/)
      assert.match(error.message, /MAILHORN_DATABASE_SNAPSHOTS=0$/)
    },
  )
  assert.equal(readdirSync(folder), [])
})

test.run()
