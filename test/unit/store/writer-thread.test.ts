import { once } from 'node:events'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/lib/clock.ts'
import { StorageUnavailable } from '../../../src/store/model/command.ts'
import { openReader } from '../../../src/store/opening/dialect.ts'
import type { Store } from '../../../src/store/opening/open.ts'
import { createWriterClient } from '../../../src/store/writer/client.ts'
import { createDatabase, isOnPostgres, sqliteDatabase, type TestDatabase } from '../../kit/database.ts'
import { openThreadStore, tempFolder } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import type { ScriptedCommands } from './scripted-writer.ts'

const test = suite('store/writer-thread')
const writerThread = new URL('./scripted-writer.ts', import.meta.url)

const open = (options: { folder?: string; database?: TestDatabase; onLoss?: (error: Error) => void } = {}) =>
  openThreadStore<ScriptedCommands>({ writerThread, ...options })

/** The store's own client and two more, as other threads have them. */
function threeClients(store: Store<ScriptedCommands>) {
  const others = [1, 2].map(() =>
    createWriterClient<ScriptedCommands>(store.connectThread(), { clock: systemClock }),
  )
  return [store, ...others] as const
}

async function storedKeys(store: Store<ScriptedCommands>): Promise<string[]> {
  const rows = await store.db.selectFrom('settings').select(['key', 'value']).execute()
  return rows.sort((a, b) => Number(a.value) - Number(b.value)).map(({ key }) => key)
}

test('writer thread: 2,000 concurrent commands of three clients are each answered once, after their commit', async t => {
  const store = await t.using(open())
  const answers = new Map<string, number>()
  const writing = threeClients(store).flatMap((client, c) =>
    Array.from({ length: c === 0 ? 668 : 666 }, async (_, i) => {
      const key = `${c}/${i}`
      const order = await client.run('append', key)
      assert.not(answers.has(key))
      answers.set(key, order)
    }),
  )
  await Promise.all(writing)
  const stored = await storedKeys(store)
  assert.is(stored.length, 2_000)
  assert.equal(
    stored.map(key => answers.get(key)),
    Array.from({ length: 2_000 }, (_, i) => i + 1),
  )
})

test('writer thread: commands of one name and client run in order', async t => {
  const store = await t.using(open())
  const clients = threeClients(store)
  await Promise.all(
    Array.from({ length: 900 }, (_, i) => clients[i % 3]!.run('append', `${i % 3} ${Math.floor(i / 3)}`)),
  )
  const stored = await storedKeys(store)
  for (const client of ['0', '1', '2'])
    assert.equal(
      stored.filter(key => key.startsWith(client)),
      Array.from({ length: 300 }, (_, i) => `${client} ${i}`),
    )
})

test('writer thread: rows are visible to other connections when the reply arrives', async t => {
  const store = await t.using(open())
  const { db } = openReader(store.location)
  t.after(() => db.destroy())
  await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const order = await store.run('append', `key ${i}`)
      const { value } = await db
        .selectFrom('settings')
        .select('value')
        .where('key', '=', `key ${i}`)
        .executeTakeFirstOrThrow()
      assert.is(value, String(order))
    }),
  )
})

test('writer thread: an error is reported to its sender with the name of the command', async t => {
  const store = await t.using(open())
  const [own, other] = threeClients(store)
  const results = await Promise.allSettled([
    own.run('append', 'a'),
    own.run('fail', 'as I was told'),
    other!.run('append', 'b'),
    (own.run as (name: string, input: unknown) => Promise<unknown>)('nonsense', 1),
  ])
  assert.equal(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
  )
  const reasons = results.map(result => (result.status === 'rejected' ? String(result.reason) : ''))
  assert.is(reasons[1], 'Error: command fail: as I was told')
  assert.is(reasons[3], 'Error: command nonsense: there is no command "nonsense"')
})

test('writer thread: announcements reach all clients after the commit', async t => {
  const store = await t.using(open())
  const clients = threeClients(store)
  const heard = await Promise.all(
    clients.map(
      client =>
        new Promise<unknown[]>(resolve => {
          const all: unknown[] = []
          client.on('appended', payloads => {
            all.push(...payloads)
            if (all.length === 3) resolve(all)
          })
          client.on('other topic', () => assert.unreachable())
          if (client === clients[2]) for (const key of ['a', 'b', 'c']) void clients[1]!.run('append', key)
        }),
    ),
  )
  assert.equal(heard, [
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
  ])
})

/** A place that outlives a store. */
async function lasting(t: TestContext): Promise<{ folder: string; database: TestDatabase }> {
  const { path: folder } = await t.using(tempFolder())
  const database = createDatabase(join(folder, 'test.db'), { isMigrated: true })
  t.after(database.drop)
  return { folder, database }
}

test('writer thread: close stores and answers all requests', async t => {
  const place = await lasting(t)
  const store = await open(place)
  const other = createWriterClient<ScriptedCommands>(store.connectThread(), { clock: systemClock })
  const requests = [store, other].flatMap((client, c) =>
    Array.from({ length: 1_500 }, (_, i) => client.run('append', `${c}/${i}`)),
  )
  const closed = store.close()
  const orders = await Promise.all(requests)
  await closed
  assert.is(new Set(orders).size, 3_000)
  const again = await t.using(open(place))
  assert.is((await storedKeys(again)).length, 3_000)
})

test('writer thread: requests after the end are refused', async t => {
  const store = await open(await lasting(t))
  const other = createWriterClient<ScriptedCommands>(store.connectThread(), { clock: systemClock })
  await other.run('append', 'a')
  await store.close()
  for (const client of [store, other])
    await client.run('append', 'b').then(
      () => assert.unreachable(),
      error => assert.instance(error, StorageUnavailable),
    )
  assert.is(other.pendingCount(), 0)
})

test('writer thread: a clean end leaves one file, with the log checkpointed', async t => {
  const folder = await t.using(tempFolder())
  const file = join(folder.path, 'test.db')
  const store = await open({ folder: folder.path, database: sqliteDatabase(file) })
  await store.run('append', 'a')
  await store.close()
  const raw = await t.using(new Database(file) as { close(): void } & Database.Database)
  assert.equal(raw.prepare('select key from settings').pluck().all(), ['a'])
  assert.equal(raw.pragma('auto_vacuum', { simple: true }), 2)
  assert.equal(raw.pragma('journal_mode', { simple: true }), 'wal')
})

test('writer thread: its death is reported, pending commands are refused, and the store can be closed', async t => {
  const place = await lasting(t)
  const death = Promise.withResolvers<Error>()
  const ended = new Promise(resolve => process.once('worker', thread => thread.once('exit', resolve)))
  const store = await open({ ...place, onLoss: death.resolve })
  const other = createWriterClient<ScriptedCommands>(store.connectThread(), { clock: systemClock })
  await store.run('append', 'a')
  const dying = store.run('die', null).catch(() => {})
  assert.match((await death.promise).message, /told to die/)
  await dying
  for (const client of [store, other])
    await client.run('append', 'b').then(
      () => assert.unreachable(),
      error => assert.instance(error, StorageUnavailable),
    )
  await ended
  await store.close()
  const again = await t.using(open(place))
  assert.equal(await storedKeys(again), ['a'])
})

test('writer thread: an input that cannot be cloned is an error and leaves nothing pending', async t => {
  const store = await t.using(open())
  const port = store.connectThread()
  const client = createWriterClient<ScriptedCommands>(port, { clock: systemClock })
  await client.run('append', (() => 'a function') as unknown as string).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /could not be cloned/),
  )
  assert.is(client.pendingCount(), 0)
  const closed = once(port, 'close')
  client.close()
  await closed
})

test('writer thread: a reading connection sees each commit and cannot write', async t => {
  const store = await t.using(open())
  const reader = openReader(store.location)
  t.after(() => reader.db.destroy())
  await store.run('append', 'a')
  for (const db of [store.db, reader.db]) {
    assert.is((await db.selectFrom('settings').selectAll().execute()).length, 1)
    const writes = [
      db.insertInto('settings').values({ key: 'b', value: '' }),
      db.deleteFrom('settings'),
      db.updateTable('settings').set({ value: '' }),
    ]
    for (const write of writes)
      await write.execute().then(
        () => assert.unreachable('a reading connection wrote'),
        error => assert.match(error.message, isOnPostgres ? /25006/ : /readonly database/),
      )
  }
  assert.is((await store.db.selectFrom('settings').selectAll().execute()).length, 1)
})

test.run()
