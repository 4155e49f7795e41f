import { setImmediate as turn } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { idleCollector, ownHeap } from '../../../src/lib/idle-gc.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('lib/quiet-collection')
const MIB = 1024 * 1024

/** A heap that needs 20 MB when it is looked at first, and has garbage besides until it is collected. */
function scripted() {
  const state = { needed: 20 * MIB, garbage: 0, busy: 0, collected: 0 }
  const check = idleCollector({
    utilization: () => state.busy,
    heldBytes: () => state.needed + state.garbage,
    collect() {
      state.garbage = 0
      state.collected++
    },
  })
  return { state, check }
}

test('idle GC: garbage is collected when the thread is idle, not while it is busy', () => {
  const { state, check } = scripted()
  Object.assign(state, { garbage: 30 * MIB, busy: 0.4 })
  check()
  assert.is(state.collected, 0)
  state.busy = 0.01
  check()
  assert.equal([state.collected, state.garbage], [1, 0])
})

test('idle GC: an idle thread is not collected until enough garbage exists', () => {
  const { state, check } = scripted()
  for (const garbage of [0, 1, 4, 7]) {
    state.garbage = garbage * MIB
    check()
  }
  assert.is(state.collected, 0)
  state.garbage = 8 * MIB
  check()
  check()
  assert.is(state.collected, 1)
})

test('idle GC: the baseline is the size after the last collection, even if it was smaller before', () => {
  const { state, check } = scripted()
  Object.assign(state, { needed: 60 * MIB, garbage: 9 * MIB })
  check()
  Object.assign(state, { needed: 20 * MIB, garbage: 40 * MIB })
  check()
  assert.is(state.collected, 1)
  state.garbage = 49 * MIB
  check()
  state.garbage = 9 * MIB
  check()
  assert.is(state.collected, 3)
})

test('idle GC: memory that is returned later does not raise the baseline', () => {
  const state = { held: 20 * MIB, collected: 0 }
  const check = idleCollector({
    utilization: () => 0,
    heldBytes: () => state.held,
    collect: () => void state.collected++,
  })
  for (const held of [60, 20, 30]) {
    state.held = held * MIB
    check()
  }
  assert.is(state.collected, 2)
})

test('idle GC: the heap of a thread is measured and collected', async () => {
  const heap = ownHeap()
  heap.collect()
  let remaining: object[] | undefined = Array.from({ length: 200_000 }, (_, i) => ({ i }))
  const gone = new WeakRef(remaining)
  heap.collect()
  const before = heap.heldBytes()
  assert.is(remaining.length, 200_000)
  remaining = undefined
  await turn()
  heap.collect()
  assert.is(gone.deref(), undefined)
  await until(() => before - heap.heldBytes() > 4 * MIB)
})

test('idle GC: buffers outside the heap are counted', async () => {
  const heap = ownHeap()
  heap.collect()
  const before = heap.heldBytes()
  let buffers: Buffer[] | undefined = Array.from({ length: 100 }, () => Buffer.alloc(64 * 1024))
  assert.ok(heap.heldBytes() - before > 6 * MIB, `${heap.heldBytes() - before} bytes`)
  assert.is(buffers.length, 100)
  buffers = undefined
  await turn()
  heap.collect()
  await until(() => heap.heldBytes() - before < MIB)
})

test('idle GC: utilization is measured since the last call', async () => {
  const heap = ownHeap()
  await turn()
  heap.utilization()
  const until = performance.now() + 20
  while (performance.now() < until);
  await turn()
  assert.ok(heap.utilization() > 0.5)
})

test.run()
