import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createBlobFiles, referBlobs, type StagedBlob } from '../../../src/store/blobs.ts'
import { command } from '../../../src/store/command.ts'
import { openLocalStore, tempFolder } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/blobs')

const scripted = {
  refer: command<StagedBlob[], void>((tx, blobs) => referBlobs(tx, blobs, 4711)),
  referAndFail: command<StagedBlob[], void>(async (tx, blobs) => {
    await referBlobs(tx, blobs, 4711)
    throw new Error('after all')
  }),
}

const open = () => openLocalStore(scripted)
const bytesOf = (length: number, fill = 'x') => Buffer.alloc(length, fill)
const hexOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('small bytes lie in a row, up to 64 KiB; larger ones in a file named by their hash', async t => {
  const folder = await t.using(tempFolder())
  const files = createBlobFiles(join(folder.path, 'blobs'))
  const small = await files.stage(bytesOf(64 * 1024))
  assert.is(small.body?.length, 64 * 1024)
  assert.not(existsSync(join(folder.path, 'blobs')))
  const large = await files.stage(bytesOf(64 * 1024 + 1))
  assert.is(large.body, null)
  assert.is(large.sizeBytes, 64 * 1024 + 1)
  const name = hexOf(bytesOf(64 * 1024 + 1))
  const path = join(folder.path, 'blobs', name.slice(0, 2), name)
  assert.equal(readFileSync(path), bytesOf(64 * 1024 + 1))
  assert.is(statSync(path).mode & 0o777, 0o600)
})

test('the file is whole before any row can name it, and nothing else is left beside it', async t => {
  const store = await t.using(open())
  const bytes = bytesOf(300_000, 'abc')
  const staged = await store.blobs.stage(bytes)
  const folder = join(store.file, '..', 'blobs')
  const stored = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  assert.equal(
    stored.map(({ name }) => name),
    [hexOf(bytes)],
  )
  assert.equal(store.rows('select * from blobs'), [])
  await store.run('refer', [staged])
  assert.equal(await store.blobs.read(store.db, staged.hash), bytes)
})

test('bytes come back as they were, from the row and from the file', async t => {
  const store = await t.using(open())
  for (const bytes of [Buffer.alloc(0), Buffer.from([0, 255, 13, 10, 0]), bytesOf(70_000, '\0\xff')]) {
    const staged = await store.blobs.stage(bytes)
    await store.run('refer', [staged])
    assert.equal(await store.blobs.read(store.db, staged.hash), bytes)
  }
})

test('what is staged does not follow later changes of the bytes', async t => {
  const store = await t.using(open())
  const bytes = Buffer.from('as they were')
  const staged = await store.blobs.stage(bytes)
  bytes.fill('!')
  await store.run('refer', [staged])
  assert.is(String(await store.blobs.read(store.db, staged.hash)), 'as they were')
})

test('each use is counted, within a command and between them', async t => {
  const store = await t.using(open())
  const staged = await store.blobs.stage(bytesOf(10))
  await store.run('refer', [staged, staged])
  await store.run('refer', [await store.blobs.stage(bytesOf(10))])
  assert.equal(store.rows('select refs, size_bytes, created_at from blobs'), [
    { refs: 3, size_bytes: 10, created_at: 4711 },
  ])
})

test('a use by a command that fails is not counted', async t => {
  const store = await t.using(open())
  const staged = await store.blobs.stage(bytesOf(10))
  await store.run('refer', [staged])
  await store.run('referAndFail', [staged]).catch(() => {})
  assert.equal(store.rows('select refs from blobs'), [{ refs: 1 }])
})

test('the same large bytes are written once; later uses only mark the file as fresh', async t => {
  const store = await t.using(open())
  const bytes = bytesOf(200_000)
  await store.blobs.stage(bytes)
  const name = hexOf(bytes)
  const path = join(store.file, '..', 'blobs', name.slice(0, 2), name)
  const { ino } = statSync(path)
  utimesSync(path, 1, 1)
  await store.blobs.stage(bytes)
  assert.is(statSync(path).ino, ino)
  assert.ok(statSync(path).mtimeMs > 1_000_000)
})

test('many may stage the same large bytes at once', async t => {
  const store = await t.using(open())
  const bytes = bytesOf(100_000)
  const staged = await Promise.all(Array.from({ length: 20 }, () => store.blobs.stage(bytes)))
  await store.run('refer', staged)
  assert.equal(await store.blobs.read(store.db, staged[0]!.hash), bytes)
  const folder = join(store.file, '..', 'blobs')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  assert.is(files.length, 1)
})

test('a blob nobody has stored is an error that names it', async t => {
  const store = await t.using(open())
  await store.blobs.read(store.db, new Uint8Array([1, 2, 3])).then(
    () => assert.unreachable(),
    error => assert.is(error.message, 'there is no blob 010203'),
  )
})

test.run()
