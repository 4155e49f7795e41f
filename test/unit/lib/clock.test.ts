import * as assert from 'uvu/assert'
import { createAdjustableClock } from '../../../src/lib/adjustable-clock.ts'
import { sleep, systemClock } from '../../../src/lib/clock.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/clock')
const HOUR_MS = 3_600_000

test('moving the clock fires the timers it passes, in the order of their deadlines', async t => {
  const clock = await t.using(createAdjustableClock())
  const fired: string[] = []
  clock.timer(2 * HOUR_MS, () => fired.push('second'))
  clock.timer(HOUR_MS, () => fired.push('first'))
  clock.timer(3 * HOUR_MS, () => fired.push('never')).cancel()
  const late = clock.timer(5 * HOUR_MS, () => fired.push('too late'))
  t.after(() => late.cancel())
  clock.advance(4 * HOUR_MS)
  assert.equal(fired, ['first', 'second'])
})

test('wall and monotonic time move together, a jump moves wall time alone', async t => {
  const clock = await t.using(createAdjustableClock())
  const before = { wall: clock.now(), monotonic: clock.monotonic() }
  clock.advance(HOUR_MS)
  assert.ok(clock.now() - before.wall >= HOUR_MS)
  assert.ok(clock.monotonic() - before.monotonic >= HOUR_MS)
  clock.jump(-2 * HOUR_MS)
  assert.ok(clock.now() < before.wall)
  assert.ok(clock.monotonic() > before.monotonic)
})

test('every seat of a clock shares its time and its moves', async t => {
  const clock = await t.using(createAdjustableClock())
  const other = await t.using(createAdjustableClock(clock.seat))
  const woken = sleep(other, HOUR_MS)
  clock.advance(HOUR_MS)
  await woken
  assert.ok(Math.abs(other.now() - clock.now()) < 60_000)
})

test('a sleep ends early when its signal aborts', async () => {
  const abort = new AbortController()
  const sleeping = sleep(systemClock, HOUR_MS, abort.signal)
  abort.abort(new Error('stopped'))
  await sleeping.then(
    () => assert.unreachable(),
    error => assert.is(error.message, 'stopped'),
  )
})

test('a sleep whose signal has aborted before does not begin', async () => {
  await sleep(systemClock, HOUR_MS, AbortSignal.abort(new Error('stopped'))).then(
    () => assert.unreachable(),
    error => assert.is(error.message, 'stopped'),
  )
})

test('a timer longer than the runtime knows, some 25 days, does not fire at once', async t => {
  let fired = false
  const timer = systemClock.timer(1_000 * HOUR_MS, () => {
    fired = true
  })
  t.after(() => timer.cancel())
  await sleep(systemClock, 5)
  assert.is(fired, false)
})

test('adjustable clock: a slow machine reaches no deadline, but timers that pace work fire', async t => {
  const machine = createManualClock()
  const clock = await t.using(createAdjustableClock(undefined, machine))
  const fired: string[] = []
  clock.timer(20_000, () => fired.push('deadline'))
  clock.timer(500, () => fired.push('pace'))
  machine.advance(30_000)
  assert.equal(fired, ['pace'])
  clock.advance(20_000)
  assert.equal(fired, ['pace', 'deadline'])
})

test('adjustable clock: a deadline fires late when the clock is not moved', async t => {
  const machine = createManualClock()
  const clock = await t.using(createAdjustableClock(undefined, machine))
  let fired = false
  clock.timer(20_000, () => {
    fired = true
  })
  clock.advance(10_000)
  machine.advance(100_000)
  assert.is(fired, false)
  machine.advance(100_000)
  assert.is(fired, true)
})

test('adjustable clock: timers set by timers fire when the clock passes them', async t => {
  const clock = await t.using(createAdjustableClock())
  const fired: number[] = []
  const again = (count: number) => {
    fired.push(count)
    if (count < 3) clock.timer(HOUR_MS, () => again(count + 1))
  }
  clock.timer(HOUR_MS, () => again(1))
  for (let i = 0; i < 3; i++) clock.advance(HOUR_MS)
  assert.equal(fired, [1, 2, 3])
})

test('a timer that cancels another keeps it from firing, though both are due', async t => {
  const clock = await t.using(createAdjustableClock())
  const fired: string[] = []
  clock.timer(1_000, () => {
    fired.push('first')
    second.cancel()
  })
  const second = clock.timer(2_000, () => fired.push('second'))
  clock.advance(HOUR_MS)
  assert.equal(fired, ['first'])
})

test.run()
