import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import { StartFault } from '../../../../src/lib/start-fault.ts'
import { lockFolder } from '../../../../src/store/opening/lock.ts'
import { openStore, type StoreOptions } from '../../../../src/store/opening/open.ts'
import { openThreadStore, STORE_EPOCH, tempFolder } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('store/open')

const optionsFor = (dataDir: string, over: Partial<StoreOptions> = {}): StoreOptions => ({
  dataDir,
  url: 'sqlite:test.db',
  writerThread: new URL('../../../../src/workers/writer.ts', import.meta.url),
  clock: { ...systemClock, now: () => STORE_EPOCH },
  onLoss(error) {
    throw error
  },
  ...over,
})

async function refusal(options: StoreOptions): Promise<string> {
  try {
    const store = await openStore(options)
    await store.close()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('the store was opened')
}

test('open: a new folder is created for its owner alone, with a migrated database', async t => {
  const parent = await t.using(tempFolder())
  const dataDir = join(parent.path, 'deep', 'data')
  const store = await t.using(openStore(optionsFor(dataDir)))
  assert.is(statSync(dataDir).mode & 0o777, 0o700)
  assert.ok(store.migrations.includes('001-schema'))
  assert.equal(store.location, {
    kind: 'sqlite',
    databaseFile: join(dataDir, 'test.db'),
    blobFolder: join(dataDir, 'blobs'),
  })
})

test('open: a second start migrates nothing', async t => {
  const folder = await t.using(tempFolder())
  await (await openStore(optionsFor(folder.path))).close()
  const store = await t.using(openStore(optionsFor(folder.path)))
  assert.equal(store.migrations, [])
})

test('open: a folder in use is refused by name, and free again after the close', async t => {
  const folder = await t.using(tempFolder())
  const store = await openStore(optionsFor(folder.path))
  const message = `the data folder ${folder.path} is in use by another process (process ${process.pid}); stop it, or set another data_dir`
  assert.is(await refusal(optionsFor(folder.path)), message)
  assert.is(await refusal(optionsFor(folder.path, { url: 'sqlite:other.db' })), message)
  await store.close()
  await (await openStore(optionsFor(folder.path))).close()
})

test('open: a failing start releases the folder', async t => {
  const folder = await t.using(tempFolder())
  const wrong = [
    optionsFor(folder.path, { url: 'mysql://localhost/mailhorn' }),
    optionsFor(folder.path, { url: 'sqlite:' }),
    optionsFor(folder.path, { writerThread: new URL('./no-such-file.ts', import.meta.url) }),
    optionsFor(folder.path, { url: 'sqlite:no-such-folder/test.db' }),
  ]
  const messages = []
  for (const options of wrong) messages.push(await refusal(options))
  assert.match(
    messages[0]!,
    'database.url must be sqlite:<file> or postgres://user:password@host:port/database',
  )
  assert.match(messages[1]!, 'database.url must be sqlite:<file>')
  assert.match(messages[2]!, 'no-such-file.ts')
  assert.match(messages[3]!, 'directory')
  await (await openStore(optionsFor(folder.path))).close()
})

test('open: a database of a newer version is refused unchanged', async t => {
  const folder = await t.using(tempFolder())
  await (await openStore(optionsFor(folder.path))).close()
  const raw = await t.using(
    new Database(join(folder.path, 'test.db')) as { close(): void } & Database.Database,
  )
  raw.exec("insert into migrations (name, applied_at) values ('999-from-the-future', 1)")
  assert.is(
    await refusal(optionsFor(folder.path)),
    'the database was made by a newer version (999-from-the-future); upgrade Mailhorn',
  )
  raw.exec("delete from migrations where name = '999-from-the-future'")
  await (await openStore(optionsFor(folder.path))).close()
})

test('open: a file that is not a database is refused unchanged', async t => {
  const folder = await t.using(tempFolder())
  const file = join(folder.path, 'test.db')
  const text = 'these are the notes of somebody who named a file like our database\n'.repeat(100)
  writeFileSync(file, text)
  assert.match(await refusal(optionsFor(folder.path)), 'file is not a database')
  assert.is(statSync(file).size, text.length)
})

test('open: the store works with all commands of the service', async t => {
  const store = await t.using(openThreadStore())
  await store.run('putSetting', { key: 'a', value: 'b' })
  assert.equal(await store.db.selectFrom('settings').selectAll().execute(), [{ key: 'a', value: 'b' }])
})

test('lock: only one holder exists at a time, also within a process', async t => {
  const folder = await t.using(tempFolder())
  const lock = lockFolder(folder.path)
  assert.throws(() => lockFolder(folder.path), /in use by another process/)
  lock.release()
  lockFolder(folder.path).release()
  assert.ok(existsSync(join(folder.path, 'lock')))
})

test('lock: a folder that cannot be locked is named with the reason and the remedy', async t => {
  const { path } = await t.using(tempFolder())
  mkdirSync(join(path, 'lock'))
  assert.throws(
    () => lockFolder(path),
    (error: Error) =>
      error instanceof StartFault &&
      error.message.startsWith(
        `the data folder ${path} cannot be written (unable to open database file): `,
      ) &&
      error.message.endsWith(`run \`chmod u+rwx ${path}\``),
  )
})

test('lock: a damaged lock may be removed', async t => {
  const { path } = await t.using(tempFolder())
  const lock = join(path, 'lock')
  writeFileSync(lock, 'this is no lock at all '.repeat(100))
  assert.throws(
    () => lockFolder(path),
    (error: Error) =>
      error instanceof StartFault &&
      error.message === `${lock} is damaged; it holds no data: remove it and start again`,
  )
  rmSync(lock)
  lockFolder(path).release()
})

test.run()
