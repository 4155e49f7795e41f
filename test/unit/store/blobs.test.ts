import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { referBlobs } from '../../../src/store/blobs/blobs.ts'
import { clearDrafts, createDrafts } from '../../../src/store/blobs/drafts.ts'
import { ReplayedStream } from '../../../src/store/blobs/replayed-stream.ts'
import { createBlobReservations } from '../../../src/store/blobs/reservations.ts'
import type { StagedBlob } from '../../../src/store/blobs/staged.ts'
import { command, StorageUnavailable } from '../../../src/store/model/command.ts'
import { openSqliteStore } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/blobs')

const scripted = {
  refer: command<StagedBlob[], void>((tx, blobs) => referBlobs(tx, blobs, 4711)),
  referAndFail: command<StagedBlob[], void>(async (tx, blobs) => {
    await referBlobs(tx, blobs, 4711)
    throw new Error('after all')
  }),
}

async function open() {
  const store = await openSqliteStore(scripted)
  const reservations = createBlobReservations({
    blobs: store.blobs,
    db: store.db,
    onLeftBehind(error) {
      throw error
    },
  })
  /** Staged and in its place. */
  const placed = async (bytes: Uint8Array) => {
    const blob = await store.blobs.stage(bytes)
    const reservation = reservations.open([blob])
    await reservation.place([blob])
    return { blob, reservation }
  }
  const files = () =>
    existsSync(store.blobFolder)
      ? readdirSync(store.blobFolder, { recursive: true, withFileTypes: true })
          .filter(entry => entry.isFile())
          .map(({ name }) => name)
      : []
  return { ...store, reservations, placed, files }
}
const bytesOf = (length: number, fill = 'x') => Buffer.alloc(length, fill)
const hexOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('blobs: up to 64 KiB are stored in a row, larger ones in a file named by the hash', async t => {
  const { blobs, blobFolder, placed } = await t.using(open())
  const small = await blobs.stage(bytesOf(64 * 1024))
  assert.is(small.body?.length, 64 * 1024)
  assert.not(existsSync(blobFolder))
  const { blob } = await placed(bytesOf(64 * 1024 + 1))
  assert.is(blob.body, null)
  assert.is(blob.sizeBytes, 64 * 1024 + 1)
  const name = hexOf(bytesOf(64 * 1024 + 1))
  const path = join(blobFolder, name.slice(0, 2), name)
  assert.equal(readFileSync(path), bytesOf(64 * 1024 + 1))
  assert.is(statSync(path).mode & 0o777, 0o600)
})

test('blobs: a file is complete before a row can name it, and no other file stays', async t => {
  const store = await t.using(open())
  const bytes = bytesOf(300_000, 'abc')
  const { blob, reservation } = await store.placed(bytes)
  assert.equal(store.files(), [hexOf(bytes)])
  assert.equal(store.rows('select * from blobs'), [])
  await store.run('refer', [blob])
  await reservation.end(true)
  assert.equal(await store.blobs.read(store.db, blob.hash), bytes)
})

test('blobs: bytes are read back unchanged from the row and from the file', async t => {
  const store = await t.using(open())
  for (const bytes of [Buffer.alloc(0), Buffer.from([0, 255, 13, 10, 0]), bytesOf(70_000, '\0\xff')]) {
    const { blob } = await store.placed(bytes)
    await store.run('refer', [blob])
    assert.equal(await store.blobs.read(store.db, blob.hash), bytes)
  }
})

test('blobs: staged bytes do not follow later changes of the input', async t => {
  const store = await t.using(open())
  const bytes = Buffer.from('as they were')
  const staged = await store.blobs.stage(bytes)
  bytes.fill('!')
  await store.run('refer', [staged])
  assert.is(String(await store.blobs.read(store.db, staged.hash)), 'as they were')
})

test('blobs: each use is counted, within one command and over several', async t => {
  const store = await t.using(open())
  const staged = await store.blobs.stage(bytesOf(10))
  await store.run('refer', [staged, staged])
  await store.run('refer', [await store.blobs.stage(bytesOf(10))])
  assert.equal(store.rows('select refs, size_bytes, created_at from blobs'), [
    { refs: 3, size_bytes: 10, created_at: 4711 },
  ])
})

test('blobs: a use by a failing command is not counted', async t => {
  const store = await t.using(open())
  const staged = await store.blobs.stage(bytesOf(10))
  await store.run('refer', [staged])
  await store.run('referAndFail', [staged]).catch(() => {})
  assert.equal(store.rows('select refs from blobs'), [{ refs: 1 }])
})

test('blobs: equal large bytes are stored once, and later uses only update the time of the file', async t => {
  const store = await t.using(open())
  const bytes = bytesOf(200_000)
  await store.placed(bytes)
  const name = hexOf(bytes)
  const path = join(store.blobFolder, name.slice(0, 2), name)
  const { ino } = statSync(path)
  utimesSync(path, 1, 1)
  await store.placed(bytes)
  assert.is(statSync(path).ino, ino)
  assert.ok(statSync(path).mtimeMs > 1_000_000)
  assert.equal(store.files(), [name])
})

test('blobs: equal large bytes can be stored concurrently', async t => {
  const store = await t.using(open())
  const bytes = bytesOf(100_000)
  const all = await Promise.all(Array.from({ length: 20 }, () => store.placed(bytes)))
  await store.run(
    'refer',
    all.map(({ blob }) => blob),
  )
  assert.equal(await store.blobs.read(store.db, all[0]!.blob.hash), bytes)
  assert.equal(store.files(), [hexOf(bytes)])
})

test('blobs: a file that is not needed is deleted before and after it was placed', async t => {
  const store = await t.using(open())
  const [draft, { reservation: placed }] = [
    store.reservations.open([await store.blobs.stage(bytesOf(70_000, 'a'))]),
    await store.placed(bytesOf(70_000, 'b')),
  ]
  assert.is(store.files().length, 2)
  await draft.end(false)
  assert.equal(store.files(), [hexOf(bytesOf(70_000, 'b'))])
  await placed.end(true)
  assert.equal(store.files(), [])
})

test('blobs: a file that another request reserved, or a row names, stays', async t => {
  const store = await t.using(open())
  const bytes = bytesOf(70_000)
  const [refused, taken] = [await store.placed(bytes), await store.placed(bytes)]
  await refused.reservation.end(true)
  assert.equal(store.files(), [hexOf(bytes)])
  await store.run('refer', [taken.blob])
  await taken.reservation.end(true)
  const late = await store.placed(bytes)
  await late.reservation.end(true)
  assert.equal(await store.blobs.read(store.db, taken.blob.hash), bytes)
})

test('blobs: a file stays when the outcome of its request is unknown', async t => {
  const store = await t.using(open())
  const { reservation } = await store.placed(bytesOf(70_000))
  await reservation.end(false)
  assert.equal(store.files(), [hexOf(bytesOf(70_000))])
})

test('blobs: concurrent uploads and deletions leave no row without its file', async t => {
  const store = await t.using(open())
  const bytes = bytesOf(70_000)
  const one = async (isTaken: boolean) => {
    const { blob, reservation } = await store.placed(bytes)
    if (isTaken) await store.run('refer', [blob])
    await reservation.end(true)
  }
  await Promise.all(Array.from({ length: 30 }, (_, i) => one(i > 20 && i % 3 === 0)))
  assert.equal(store.rows('select refs from blobs'), [{ refs: 3 }])
  assert.equal(store.files(), [hexOf(bytes)])
})

test('blobs: a folder that cannot be created makes the store unavailable', async t => {
  const { blobs, blobFolder } = await t.using(open())
  writeFileSync(blobFolder, 'no folder')
  try {
    await blobs.stage(bytesOf(64 * 1024 + 1))
    assert.unreachable()
  } catch (error) {
    assert.instance(error, StorageUnavailable)
    assert.match((error as Error).message, 'ENOTDIR')
  }
})

test('blobs: a draft leaves no file open, written or not', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'drafts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter(fd => {
      const target = linkOf(`/proc/self/fd/${fd}`)
      return target?.startsWith(folder)
    })
  const drafts = createDrafts(folder)
  const name = await drafts.write(Buffer.alloc(100_000))
  assert.equal(openFiles(), [])
  const draft = await drafts.create()
  assert.is(openFiles().length, 1)
  await draft.append([Buffer.alloc(10)])
  await draft.close()
  for await (const _ of drafts.pieces(name, 16_384));
  assert.equal(openFiles(), [])
})

/** @returns undefined for a descriptor that is closed already, such as that of the listing itself */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

test('blobs: drafts of a previous process are deleted, other files stay', async t => {
  const store = await t.using(open())
  await store.placed(bytesOf(70_000, 'a'))
  await store.blobs.stage(bytesOf(70_000, 'b'))
  clearDrafts(store.blobFolder)
  assert.equal(store.files(), [hexOf(bytesOf(70_000, 'a'))])
})

/** Removes drafts, as an operator or a cleaner of old files may do while the service runs. */
const removeDrafts = ({ blobFolder }: { blobFolder: string }) => clearDrafts(blobFolder)

test('blobs: a staged attachment whose draft has gone is an error of its request, and the next one is stored', async t => {
  const store = await t.using(open())
  const blob = await store.blobs.stage(bytesOf(70_000))
  removeDrafts(store)
  const reservation = store.reservations.open([blob])
  const error = await reservation.place([blob]).catch(reason => reason)
  assert.is(error.code, 'ENOENT')
  await reservation.end(true)
  assert.equal(store.files(), [])
  await store.placed(bytesOf(70_000))
  assert.equal(store.files(), [hexOf(bytesOf(70_000))])
})

for (const [when, pieces] of [
  ['between two pieces', [70_000, 10]],
  ['before its end', [70_000]],
] as const)
  test(`blobs: a received message whose draft goes ${when} is an error, and leaves nothing`, async t => {
    const store = await t.using(open())
    const stream = store.blobs.receive()
    for (const length of pieces) {
      await stream.write(bytesOf(length))
      removeDrafts(store)
    }
    const error = await stream.finish().catch(reason => reason)
    assert.is(error.code, 'ENOENT')
    await stream.discard()
    assert.equal(store.files(), [])
    const next = store.blobs.receive()
    await next.write(bytesOf(80_000))
    assert.is((await next.finish()).sizeBytes, 80_000)
  })

test('blobs: an upload whose draft has gone cannot be read again, and its reader is told', async t => {
  const store = await t.using(open())
  async function* upload() {
    yield bytesOf(70_000)
    yield bytesOf(10)
  }
  const replayed = new ReplayedStream(store.blobs.drafts, upload())
  for await (const _ of replayed.first()) removeDrafts(store)
  const error = await Array.fromAsync(replayed.again()).catch(reason => reason)
  assert.is(error.code, 'ENOENT')
  await replayed.discard()
})

test('blobs: reading an unknown blob is an error that names it', async t => {
  const store = await t.using(open())
  await store.blobs.read(store.db, new Uint8Array([1, 2, 3])).then(
    () => assert.unreachable(),
    error => assert.is(error.message, 'there is no blob 010203'),
  )
})

test.run()
