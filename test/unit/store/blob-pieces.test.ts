import * as assert from 'uvu/assert'
import { referBlobs } from '../../../src/store/blobs/blobs.ts'
import { createBlobReservations } from '../../../src/store/blobs/reservations.ts'
import type { StagedBlob } from '../../../src/store/blobs/staged.ts'
import { command } from '../../../src/store/model/command.ts'
import { openReader } from '../../../src/store/opening/dialect.ts'
import { isOnPostgres } from '../../kit/database.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/blob pieces')
const PIECE_BYTES = 256 * 1024
const HOUR_MS = 3_600_000

const scripted = { refer: command<StagedBlob[], void>((tx, blobs) => referBlobs(tx, blobs, 4711)) }
const hexOf = ({ hash }: StagedBlob) => Buffer.from(hash).toString('hex')
/** Different from piece to piece. */
const bytesOf = (length: number) => Buffer.from(Uint8Array.from({ length }, (_, i) => (i / 7_919) % 251))

/** A store, and another process at work on its database; neither's time passes. */
async function open(t: TestContext) {
  const store = await t.using(openLocalStore(scripted))
  let nowMs = 1_000_000_000
  const process = () => {
    const { blobs, db } = openReader(store.location, () => nowMs)
    t.after(() => db.destroy())
    const onLeftBehind = (error: unknown) => {
      throw error
    }
    const reservations = createBlobReservations({ blobs, db, onLeftBehind })
    /** Staged and in its place. */
    const placed = async (bytes: Uint8Array) => {
      const blob = await blobs.stage(bytes)
      const reservation = reservations.open([blob])
      await reservation.place([blob])
      return { blob, reservation }
    }
    return { blobs, db, placed, names: async () => (await Array.fromAsync(blobs.names())).flat() }
  }
  const pieceCount = () =>
    store.rows<{ count: number }>('select count(*) as count from blob_pieces')[0]!.count
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { ...store, here: process(), there: process(), pieceCount, pass }
}

async function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => assert.unreachable() as never,
    (error: Error) => error.message,
  )
}

for (const length of [70_000, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES + 5])
  test(`blob pieces: ${length} bytes are read back unchanged, at once and piece by piece`, async t => {
    const { here, there, run, pieceCount } = await open(t)
    const { blob, reservation } = await here.placed(bytesOf(length))
    assert.is(pieceCount(), isOnPostgres ? Math.ceil(length / PIECE_BYTES) : 0)
    await run('refer', [blob])
    await reservation.end(true)
    assert.equal(await there.blobs.read(there.db, blob.hash), bytesOf(length))
    const { sizeBytes, content } = await there.blobs.open(there.db, blob.hash)
    const pieces = await Array.fromAsync(content)
    assert.equal([sizeBytes, Buffer.concat(pieces)], [length, bytesOf(length)])
    assert.ok(pieces.every(piece => piece.length <= PIECE_BYTES))
  })

if (isOnPostgres) {
  test('blob pieces: reading a blob without one of its pieces is an error', async t => {
    const { here, run, change } = await open(t)
    const { blob } = await here.placed(bytesOf(3 * PIECE_BYTES))
    await run('refer', [blob])
    const { content } = await here.blobs.open(here.db, blob.hash)
    change('delete from blob_pieces where number = 1')
    const says = `pieces of the blob ${hexOf(blob)} are missing`
    assert.is(await refusal(here.blobs.read(here.db, blob.hash)), says)
    assert.is(await refusal(here.blobs.open(here.db, blob.hash)), says)
    let count = 0
    const reading = async () => {
      for await (const _ of content) count++
    }
    assert.is(await refusal(reading()), says)
    assert.is(count, 1)
  })

  test('blob pieces: a refused request deletes its pieces, unless another process has staged them since', async t => {
    const { here, there, run, pieceCount } = await open(t)
    const [refused, taken] = [await here.placed(bytesOf(70_000)), await there.placed(bytesOf(70_000))]
    await refused.reservation.end(true)
    assert.is(pieceCount(), 1)
    await run('refer', [taken.blob])
    await taken.reservation.end(true)
    assert.equal(await here.blobs.read(here.db, taken.blob.hash), bytesOf(70_000))
    const alone = await here.placed(bytesOf(80_000))
    await alone.reservation.end(true)
    assert.equal(await here.names(), [hexOf(taken.blob)])
  })

  test('blob pieces: concurrent uploads of one blob store it once, and no piece that a row names is missing', async t => {
    const { here, there, run, pieceCount, rows } = await open(t)
    const bytes = bytesOf(2 * PIECE_BYTES)
    const one = async (i: number) => {
      const { blob, reservation } = await (i % 2 ? here : there).placed(bytes)
      if (i > 14) await run('refer', [blob])
      await reservation.end(true)
      return blob
    }
    const [blob] = await Promise.all(Array.from({ length: 20 }, (_, i) => one(i)))
    assert.equal([pieceCount(), rows('select refs from blobs')], [2, [{ refs: 5 }]])
    assert.equal(await here.blobs.read(here.db, blob!.hash), bytes)
  })

  test('blob pieces: pieces that no row names are deleted an hour after the last staging, others stay', async t => {
    const { here, there, run, names, pass } = { ...(await open(t)), names: [] as string[] }
    const { blob: lost } = await here.placed(bytesOf(70_000))
    const { blob: remaining } = await here.placed(bytesOf(80_000))
    await run('refer', [remaining])
    const sweep = async () => {
      names.length = 0
      for (const name of await there.names())
        if (!(await there.blobs.discard(there.db, name))) names.push(name)
    }
    pass(HOUR_MS - 1)
    await here.placed(bytesOf(70_000))
    pass(2)
    await sweep()
    assert.equal(names.toSorted(), [hexOf(lost), hexOf(remaining)].sort())
    pass(HOUR_MS)
    await sweep()
    assert.equal(names, [hexOf(remaining)])
    assert.equal(await here.names(), [hexOf(remaining)])
  })
}

test.run()
