import * as assert from 'uvu/assert'
import { startSweeper } from '../../../src/lib/sweeper.ts'
import { createManualClock, settled } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/sweeper')
const EVERY_MS = 60_000
const unreachable = (error: unknown) => assert.unreachable(String(error))

test('sweeper: the first round runs at once, the next after the interval', async t => {
  const clock = createManualClock()
  const steps: string[] = []
  let round = 0
  const sweeper = startSweeper({
    task: 'a task',
    clock,
    everyMs: EVERY_MS,
    onError: unreachable,
    async *sweep() {
      round++
      for (const step of ['a', 'b', 'c']) yield steps.push(`${step}${round}`)
    },
  })
  t.after(sweeper.stop)
  await settled()
  assert.equal(steps, ['a1', 'b1', 'c1'])
  clock.advance(EVERY_MS - 1)
  await settled()
  assert.is(steps.length, 3)
  clock.advance(1)
  await settled()
  assert.equal(steps.slice(3), ['a2', 'b2', 'c2'])
})

test('sweeper: a rest is at most a minute, also when the clock jumped', async t => {
  const clock = createManualClock()
  const steps: string[] = []
  const sweeper = startSweeper({
    task: 'a task',
    clock,
    everyMs: EVERY_MS,
    onError: unreachable,
    async *sweep() {
      clock.advance(91 * 86_400_000)
      yield steps.push('a')
      yield steps.push('b')
    },
  })
  t.after(sweeper.stop)
  await settled()
  assert.equal(steps, ['a'])
  clock.advance(60_000)
  await settled()
  assert.equal(steps, ['a', 'b'])
})

test('sweeper: a rest is twice as long as the step', async t => {
  const clock = createManualClock()
  const doneAt: number[] = []
  const began = clock.monotonic()
  const sweeper = startSweeper({
    task: 'a task',
    clock,
    everyMs: EVERY_MS,
    onError: unreachable,
    async *sweep() {
      for (const ms of [10, 30, 5]) {
        clock.advance(ms)
        yield doneAt.push(clock.monotonic() - began)
      }
    },
  })
  t.after(sweeper.stop)
  await settled()
  assert.equal(doneAt, [10])
  clock.advance(19)
  await settled()
  assert.equal(doneAt, [10])
  clock.advance(1)
  await settled()
  assert.equal(doneAt, [10, 60])
  clock.advance(60)
  await settled()
  assert.equal(doneAt, [10, 60, 125])
})

test('sweeper: a failing round is reported, and the next one starts at its time', async t => {
  const clock = createManualClock()
  const errors: unknown[] = []
  const failure = new Error('the disk is full')
  const sweeper = startSweeper({
    task: 'a task',
    clock,
    everyMs: EVERY_MS,
    onError: error => errors.push(error),
    async *sweep() {
      yield 'something'
      throw failure
    },
  })
  t.after(sweeper.stop)
  await settled()
  clock.advance(EVERY_MS)
  await settled()
  assert.equal(errors, [failure, failure])
})

test('sweeper: stop waits for the step in progress and leaves no timer', async () => {
  const clock = createManualClock()
  const gate = Promise.withResolvers<void>()
  const steps: string[] = []
  const sweeper = startSweeper({
    task: 'a task',
    clock,
    everyMs: EVERY_MS,
    onError: unreachable,
    async *sweep() {
      await gate.promise
      clock.advance(10)
      yield steps.push('first')
      yield steps.push('second')
    },
  })
  const stopping = sweeper.stop().then(() => steps.push('stopped'))
  await settled()
  assert.equal(steps, [])
  gate.resolve()
  await stopping
  assert.equal([steps, clock.timerCount], [['first', 'stopped'], 0])
})

test('sweeper: stop ends a rest between steps and between rounds', async () => {
  const clock = createManualClock()
  const steps: string[] = []
  for (const tookMs of [10, 0]) {
    const sweeper = startSweeper({
      task: 'a task',
      clock,
      everyMs: EVERY_MS,
      onError: unreachable,
      async *sweep() {
        clock.advance(tookMs)
        yield steps.push(`${tookMs} ms`)
      },
    })
    await settled()
    await sweeper.stop()
    assert.is(clock.timerCount, 0)
  }
  assert.equal(steps, ['10 ms', '0 ms'])
})

test('sweeper: hurry starts the next round at once, or right after the one in progress', async t => {
  const clock = createManualClock()
  let rounds = 0
  let step = Promise.withResolvers<void>()
  const sweeper = startSweeper({
    task: 'a task',
    clock,
    everyMs: EVERY_MS,
    onError: unreachable,
    async *sweep() {
      rounds++
      await step.promise
      yield
    },
  })
  t.after(sweeper.stop)
  await settled()
  sweeper.runSoon()
  await settled()
  assert.is(rounds, 1)
  step.resolve()
  await settled()
  assert.is(rounds, 2)
  step = Promise.withResolvers<void>()
  sweeper.runSoon()
  await settled()
  assert.is(rounds, 3)
  step.resolve()
  await settled()
  assert.is(rounds, 3)
})

test.run()
