import { setImmediate as turn } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { createAdjustableClock } from '../../../../../src/lib/adjustable-clock.ts'
import type { Clock } from '../../../../../src/lib/clock.ts'
import { Deadline } from '../../../../../src/pipeline/delivery/smtp-client/deadline.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'

const test = suite('deadline')
const MINUTE_MS = 60_000

async function start(t: TestContext) {
  const clock = await t.using(createAdjustableClock())
  let timerCount = 0
  const counting: Clock = {
    ...clock,
    timer(ms, fn) {
      timerCount++
      return clock.timer(ms, fn)
    },
  }
  let expiryCount = 0
  const deadline = new Deadline(counting, () => expiryCount++)
  t.after(() => deadline.cancel())
  return { clock, deadline, timerCount: () => timerCount, expiryCount: () => expiryCount }
}

test('expires once, when its time has come', async t => {
  const { clock, deadline, expiryCount } = await start(t)
  deadline.set(2 * MINUTE_MS)
  clock.advance(MINUTE_MS)
  assert.is(expiryCount(), 0)
  clock.advance(MINUTE_MS)
  await turn()
  assert.is(expiryCount(), 1)
  clock.advance(10 * MINUTE_MS)
  await turn()
  assert.is(expiryCount(), 1)
})

test('counts from the last time it was set, be that later or earlier', async t => {
  const { clock, deadline, expiryCount } = await start(t)
  deadline.set(2 * MINUTE_MS)
  clock.advance(MINUTE_MS)
  deadline.set(2 * MINUTE_MS)
  clock.advance(1.5 * MINUTE_MS)
  assert.is(expiryCount(), 0)
  deadline.set(0.1 * MINUTE_MS)
  clock.advance(0.2 * MINUTE_MS)
  await turn()
  assert.is(expiryCount(), 1)
})

test('does not expire once cleared or cancelled', async t => {
  const { clock, deadline, expiryCount } = await start(t)
  deadline.set(MINUTE_MS)
  deadline.clear()
  clock.advance(2 * MINUTE_MS)
  deadline.set(MINUTE_MS)
  deadline.cancel()
  clock.advance(2 * MINUTE_MS)
  await turn()
  assert.is(expiryCount(), 0)
})

test('data that is pending when the deadline passes is read first', async t => {
  const { clock, deadline, expiryCount } = await start(t)
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  port2.on('message', () => deadline.clear())
  deadline.set(MINUTE_MS)
  port1.postMessage('a reply')
  clock.advance(10 * MINUTE_MS)
  await turn()
  await turn()
  assert.is(expiryCount(), 0)
})

test('can be set again after it expired', async t => {
  const { clock, deadline, expiryCount } = await start(t)
  for (let i = 0; i < 3; i++) {
    deadline.set(MINUTE_MS)
    clock.advance(MINUTE_MS)
    await turn()
  }
  assert.is(expiryCount(), 3)
})

test('costs one timer, not one for each reply', async t => {
  const { deadline, timerCount } = await start(t)
  for (let i = 0; i < 1000; i++) {
    deadline.set(2 * MINUTE_MS)
    deadline.clear()
  }
  assert.is(timerCount(), 1)
})

test.run()
