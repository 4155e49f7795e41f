import * as assert from 'uvu/assert'
import { createReadiness } from '../../../src/app/readiness.ts'
import { StorageUnavailable } from '../../../src/store/model/command.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('readiness')

const MB_BYTES = 1024 * 1024

function openReadiness(write: () => Promise<void>) {
  const clock = createManualClock()
  const state = { free: 100 * MB_BYTES, unavailableAt: undefined as number | undefined, reads: 0 }
  const readiness = createReadiness({
    store: {
      run: (async () => write()) as never,
      unavailableAt: () => state.unavailableAt,
      location: { kind: 'sqlite', databaseFile: '/database/mailhorn.db', blobFolder: '/data/blobs' },
    },
    dataDir: '/data',
    async freeBytes(folder) {
      state.reads += 1
      return folder === '/database' ? state.free : 100 * MB_BYTES
    },
    clock,
  })
  readiness.started()
  return { clock, readiness, state }
}

test('readiness: a store that accepts writes is ready, an unavailable one is not', async () => {
  let isFull = false
  const { clock, readiness } = openReadiness(async () => {
    if (isFull) throw new StorageUnavailable('full')
  })
  assert.equal(await readiness.notReady(), [])
  isFull = true
  clock.advance(1_001)
  assert.equal(await readiness.notReady(), ['database'])
})

test('readiness: a disk without room for mail is named, although small writes succeed', async () => {
  const { clock, readiness, state } = openReadiness(async () => {})
  for (const [free, missing] of [
    [0, ['disk space']],
    [4 * MB_BYTES - 1, ['disk space']],
    [4 * MB_BYTES, []],
  ] as const) {
    state.free = free
    clock.advance(1_001)
    assert.equal(await readiness.notReady(), missing, `${free}`)
  }
})

test('readiness: a full disk is told at once, without a write', async () => {
  const { readiness, state } = openReadiness(() => assert.unreachable() as never)
  assert.is(await readiness.isDiskFull(), false)
  state.free = 0
  assert.is(await readiness.isDiskFull(), true)
})

test('readiness: a command that could not be stored counts for ten seconds, although small writes succeed', async () => {
  const { clock, readiness, state } = openReadiness(async () => {})
  assert.equal(await readiness.notReady(), [])
  state.unavailableAt = clock.monotonic()
  assert.equal(await readiness.notReady(), ['database'])
  clock.advance(9_999)
  assert.equal(await readiness.notReady(), ['database'])
  clock.advance(1)
  assert.equal(await readiness.notReady(), [])
})

test('readiness: many calls within a second cause one write and one look at each disk', async () => {
  let writes = 0
  const { readiness, state } = openReadiness(async () => {
    writes += 1
  })
  for (let i = 0; i < 50; i++) assert.equal(await readiness.notReady(), [])
  assert.equal([writes, state.reads], [1, 2])
})

test('readiness: a write that hangs is reported after five seconds', async () => {
  const { clock, readiness } = openReadiness(() => new Promise(() => {}))
  for (let requests = 0; requests < 2; requests++) {
    const answer = readiness.notReady()
    clock.advance(5_000)
    assert.equal(await answer, ['database'])
  }
  assert.is(clock.timerCount, 0)
})

test.run()
