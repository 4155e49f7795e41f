import * as assert from 'uvu/assert'
import { command } from '../../../src/store/model/command.ts'
import type { RowOps } from '../../../src/store/model/row-ops.ts'
import { isOnPostgres } from '../../kit/database.ts'
import { type LocalStore, openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/rows')
const id = (text: string) => new Uint8Array(Buffer.from(text.padEnd(16, '.')))

type Work = (rows: RowOps) => Promise<unknown>

const scripted = { use: command<Work, unknown>((tx, work) => work(tx.rows)) }

/** Each operation in a group of its own. */
async function open(t: TestContext): Promise<{ rows: RowOps; store: LocalStore<typeof scripted> }> {
  const store = await t.using(openLocalStore(scripted))
  const use = <T>(work: (rows: RowOps) => Promise<T>) => store.run('use', work) as Promise<T>
  const rows: RowOps = {
    insert: (...args) => use(own => own.insert(...args)),
    update: (...args) => use(own => own.update(...args)),
    find: (...args) => use(own => own.find(...args)),
    lock: (...args) => use(own => own.lock(...args)),
    refer: (...args) => use(own => own.refer(...args)),
    reserve: (...args) => use(own => own.reserve(...args)),
  }
  return { rows, store }
}

const contact = (account: string, email: string, createdAt = 1) => ({
  accountId: id(account),
  email,
  id: id(email),
  reason: 'manual' as const,
  createdAt,
})

test('rows: rows of one shape are inserted in order by one statement', async t => {
  const { rows, store } = await open(t)
  await rows.insert('settings', [
    { key: 'b', value: '1' },
    { key: 'a', value: '2' },
  ])
  assert.equal(store.rows(`select key, value from settings order by ${isOnPostgres ? 'ctid' : 'rowid'}`), [
    { key: 'b', value: '1' },
    { key: 'a', value: '2' },
  ])
})

test('rows: rows of different shapes are inserted together, missing columns get defaults', async t => {
  const { rows, store } = await open(t)
  const email = {
    accountId: id('a'),
    sender: '{}',
    subject: '',
    contentId: 1,
    messageId: '<a@b>',
    status: 'queued' as const,
    recipientCount: 1,
    feedback: 1 as const,
    createdAt: 1,
  }
  await rows.insert('emails', [
    { ...email, id: id('one'), openCount: 3 },
    { ...email, id: id('two'), error: 'why' },
  ])
  assert.equal(store.rows('select open_count, error from emails order by id'), [
    { open_count: 3, error: null },
    { open_count: 0, error: 'why' },
  ])
})

test('rows: referring to an existing row adds to its uses and changes nothing else', async t => {
  const { rows, store } = await open(t)
  const blob = (text: string, refs: number, createdAt: number) => {
    const body = new Uint8Array(Buffer.from(text))
    return { hash: id(text), sizeBytes: body.length, body, refs, createdAt }
  }
  await rows.refer('blobs', [blob('one', 2, 1), blob('three', 1, 1)])
  await rows.refer('blobs', [
    blob('two', 1, 2),
    blob('one', 3, 2),
    { ...blob('four', 1, 2), sizeBytes: 70_000, body: null },
  ])
  assert.equal(
    store
      .rows('select refs, size_bytes, body is null as is_file, created_at from blobs order by hash')
      .map(({ is_file, ...row }) => ({ ...row, isFile: Boolean(is_file) })),
    [
      { refs: 1, size_bytes: 70_000, created_at: 2, isFile: true },
      { refs: 5, size_bytes: 3, created_at: 1, isFile: false },
      { refs: 1, size_bytes: 5, created_at: 1, isFile: false },
      { refs: 1, size_bytes: 3, created_at: 2, isFile: false },
    ],
  )
})

test('rows: columns may be in any order', async t => {
  const { rows, store } = await open(t)
  await rows.insert('settings', [
    { key: 'a', value: 'A' },
    { value: 'B', key: 'b' },
  ])
  await rows.update('settings', ['key'], [{ value: 'A2', key: 'a' }])
  await rows.update('settings', ['key'], [{ key: 'b', value: 'B2' }])
  assert.equal(store.rows('select value from settings order by key'), [{ value: 'A2' }, { value: 'B2' }])
})

test('rows: inserting an existing row is an error', async t => {
  const { rows, store } = await open(t)
  await rows.insert('suppressions', [contact('a', 'x@y.test', 1)])
  await rows.insert('suppressions', [contact('a', 'x@y.test', 2)]).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /unique/i),
  )
  assert.equal(store.rows('select created_at from suppressions'), [{ created_at: 1 }])
})

test('rows: an update changes the rows with the whole key and no other', async t => {
  const { rows, store } = await open(t)
  await rows.insert('suppressions', [contact('a', 'x'), contact('a', 'y'), contact('b', 'x')])
  await rows.update(
    'suppressions',
    ['accountId', 'email'],
    [
      { accountId: id('a'), email: 'x', reason: 'bounce' },
      { accountId: id('b'), email: 'x', reason: 'complaint', createdAt: 9 },
      { accountId: id('c'), email: 'x', reason: 'bounce' },
    ],
  )
  assert.equal(store.rows('select email, reason, created_at from suppressions order by account_id, email'), [
    { email: 'x', reason: 'bounce', created_at: 1 },
    { email: 'y', reason: 'manual', created_at: 1 },
    { email: 'x', reason: 'complaint', created_at: 9 },
  ])
})

test('rows: null is stored as a value', async t => {
  const { rows, store } = await open(t)
  await rows.insert('blobs', [
    { hash: id('h'), sizeBytes: 1, body: new Uint8Array([7]), refs: 1, createdAt: 1 },
  ])
  await rows.update('blobs', ['hash'], [{ hash: id('h'), body: null }])
  assert.equal(store.rows('select body from blobs'), [{ body: null }])
})

test('rows: find returns one result per key, in order, undefined for missing rows', async t => {
  const { rows } = await open(t)
  await rows.insert('suppressions', [contact('a', 'x', 1), contact('a', 'y', 2), contact('b', 'x', 3)])
  const keys = [
    { accountId: id('b'), email: 'x' },
    { accountId: id('b'), email: 'y' },
    { accountId: id('a'), email: 'y' },
    { accountId: id('a'), email: 'x' },
    { accountId: id('b'), email: 'x' },
  ]
  assert.equal(await rows.find('suppressions', keys, ['createdAt', 'reason']), [
    { createdAt: 3, reason: 'manual' },
    undefined,
    { createdAt: 2, reason: 'manual' },
    { createdAt: 1, reason: 'manual' },
    { createdAt: 3, reason: 'manual' },
  ])
  assert.equal(await rows.find('suppressions', [], ['id']), [])
})

test('rows: found rows have camel case columns', async t => {
  const { rows, store } = await open(t)
  store.change("insert into counters values (?, 'k', 'p', 5)", new Uint8Array([1]))
  const [row] = await rows.find('counters', [{ accountId: new Uint8Array([1]) }], ['accountId', 'count'])
  assert.is(row?.count, 5)
  assert.equal([...row!.accountId], [1])
})

test('rows: reserved keys belong to no row', async t => {
  const { rows } = await open(t)
  const keys = await rows.reserve('contents', 3)
  assert.is(new Set(keys).size, 3)
  const content = { sizeBytes: 1, encoding: 'plain' as const, body: new Uint8Array(1), refs: 1 }
  await rows.insert(
    'contents',
    keys.map(id => ({ id, ...content })),
  )
  const further = await rows.reserve('contents', 2)
  assert.is(new Set([...keys, ...further]).size, 5)
})

test('rows: lock returns what find returns', async t => {
  const { rows } = await open(t)
  await rows.insert('settings', [
    { key: 'a', value: 'A' },
    { key: 'b', value: 'B' },
  ])
  assert.equal(await rows.lock('settings', [{ key: 'b' }, { key: 'c' }, { key: 'a' }], ['value']), [
    { value: 'B' },
    undefined,
    { value: 'A' },
  ])
})

test('rows: the last of several changes of a row counts', async t => {
  const { rows, store } = await open(t)
  await rows.insert('settings', [{ key: 'a', value: '' }])
  await rows.update(
    'settings',
    ['key'],
    [
      { key: 'a', value: 'first' },
      { key: 'a', value: 'second' },
    ],
  )
  assert.equal(store.rows('select value from settings'), [{ value: 'second' }])
})

test('rows: a value that the database cannot hold is an error', async t => {
  const { rows, store } = await open(t)
  for (const value of [true, { a: 1 }, Number.NaN, 2n ** 64n])
    await rows.insert('settings', [{ key: 'a', value: value as never }]).then(
      () => assert.unreachable(`${value} was taken`),
      error => assert.instance(error, Error),
    )
  assert.equal(store.rows('select * from settings'), [])
})

test.run()
