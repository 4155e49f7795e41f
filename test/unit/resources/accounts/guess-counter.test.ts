import * as assert from 'uvu/assert'
import { createGuessCounter, FORGIVEN_EVERY_MS } from '../../../../src/resources/accounts/guess-counter.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accounts/guess-counter')
const MINUTE_MS = 60_000

function open(freeCount = 5) {
  const clock = createManualClock()
  const counter = createGuessCounter(clock, freeCount)
  const addWrong = (times: number, key = 'key') => {
    for (let i = 0; i < times; i++) counter.addWrong(key)
  }
  return { clock, ...counter, addWrong, waitMs: (key = 'key') => counter.waitMs(key) }
}

test('guess counter: the last free wrong guess causes a wait of one minute', () => {
  const { addWrong, waitMs } = open()
  addWrong(4)
  assert.is(waitMs(), 0)
  addWrong(1)
  assert.is(waitMs(), MINUTE_MS)
  assert.is(waitMs('another'), 0)
})

test('guess counter: each further wrong guess doubles the wait up to fifteen minutes', () => {
  const { addWrong, waitMs, clock } = open()
  addWrong(4)
  const waits: number[] = []
  for (let i = 0; i < 8; i++) {
    addWrong(1)
    waits.push(waitMs() / MINUTE_MS)
    clock.advance(waitMs() - 1)
    assert.is(waitMs(), 1)
    clock.advance(1)
    assert.is(waitMs(), 0)
  }
  assert.equal(waits, [1, 2, 4, 8, 15, 15, 15, 15])
})

test('guess counter: waits follow the monotonic clock', () => {
  const { addWrong, waitMs, clock } = open()
  addWrong(5)
  clock.advance(20_000)
  clock.jump(3_600_000)
  assert.is(waitMs(), 40_000)
})

test('guess counter: one wrong guess is forgiven per half hour', () => {
  const { addWrong, countOf, waitMs, clock } = open()
  addWrong(3)
  clock.advance(FORGIVEN_EVERY_MS - 1)
  assert.is(countOf('key'), 3)
  clock.advance(1)
  assert.is(countOf('key'), 2)
  clock.advance(FORGIVEN_EVERY_MS / 2)
  addWrong(1)
  clock.advance(FORGIVEN_EVERY_MS / 2)
  assert.is(countOf('key'), 2)
  addWrong(2)
  assert.is(waitMs(), 0)
  addWrong(1)
  assert.is(waitMs(), MINUTE_MS)
  clock.advance(10 * FORGIVEN_EVERY_MS)
  assert.is(countOf('key'), 0)
})

test('guess counter: taking guesses back ends the wait', () => {
  const { addWrong, takeBack, countOf, waitMs } = open()
  addWrong(7)
  takeBack('key', 2)
  assert.equal([countOf('key'), waitMs()], [5, 4 * MINUTE_MS])
  takeBack('key', 1)
  assert.equal([countOf('key'), waitMs()], [4, 0])
  takeBack('key', 100)
  assert.is(countOf('key'), 0)
  takeBack('unknown', 1)
  assert.is(countOf('unknown'), 0)
})

test('guess counter: a flood of keys does not evict a delayed one', () => {
  const { addWrong, waitMs } = open()
  addWrong(5, 'penalised')
  addWrong(4, 'not yet')
  for (let i = 0; i < 100_000; i++) addWrong(1, `flood ${i}`)
  assert.is(waitMs('penalised'), MINUTE_MS)
  addWrong(1, 'not yet')
  assert.is(waitMs('not yet'), 0)
})

test.run()
