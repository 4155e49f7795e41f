import * as assert from 'uvu/assert'
import { createAdaptiveLimit } from '../../../../src/pipeline/delivery/shaping/adaptive-limit.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('adaptive limit')

const IDLE = 0.2
const BUSY = 0.95
const TICK_MS = 50

function open({ limit = 500, busyShare = IDLE } = {}) {
  const clock = createManualClock()
  const thread = { busyShare }
  const adaptiveLimit = createAdaptiveLimit({ clock, busyShare: () => thread.busyShare, max: limit })
  const underWay: (() => void)[] = []
  let woken = 0
  adaptiveLimit.onRoom(() => woken++)
  return {
    adaptiveLimit,
    clock,
    thread,
    get woken() {
      return woken
    },
    fill() {
      let begun = 0
      for (; adaptiveLimit.room > 0; begun++) underWay.push(adaptiveLimit.enter())
      return begun
    },
    end(count = underWay.length) {
      for (const leave of underWay.splice(0, count)) leave()
    },
  }
}

/** Passes time on a busy thread whose deliveries all end in time. */
function spend(opened: ReturnType<typeof open>, ticks: number) {
  for (let i = 0; i < ticks; i++) {
    opened.fill()
    opened.clock.advance(TICK_MS)
    opened.end()
  }
  return opened.adaptiveLimit.room
}

test('32 deliveries are in progress at first, and each that ends admits another', () => {
  const { adaptiveLimit, fill, end } = open()
  assert.is(adaptiveLimit.room, 32)
  assert.is(fill(), 32)
  end(5)
  assert.is(adaptiveLimit.room, 5)
  assert.is(fill(), 5)
})

test('a lower maximum is the limit', () => {
  assert.is(open({ limit: 10 }).fill(), 10)
})

test('deliveries that wait for the network are not counted, and the listener is called', () => {
  const opened = open({ busyShare: BUSY })
  opened.fill()
  opened.clock.advance(TICK_MS)
  assert.is(opened.adaptiveLimit.room, 0)
  opened.clock.advance(TICK_MS)
  assert.is(opened.woken, 1)
  assert.is(opened.fill(), 32)
})

test('the listener is not called unless a delivery was refused', () => {
  const opened = open()
  opened.adaptiveLimit.enter()
  opened.clock.advance(3 * TICK_MS)
  assert.is(opened.woken, 0)
})

test('the end of a delivery that is no longer counted admits no other', () => {
  const opened = open({ busyShare: BUSY })
  opened.fill()
  opened.clock.advance(2 * TICK_MS)
  opened.fill()
  opened.end(32)
  assert.is(opened.adaptiveLimit.room, 0)
})

test('the limit grows up to the maximum while it is reached and the thread has time left', () => {
  const opened = open({ limit: 60 })
  assert.is(spend(opened, 1), 40)
  assert.is(spend(opened, 1), 50)
  assert.is(spend(opened, 3), 60)
})

test('the limit does not grow while it is not reached', () => {
  const { adaptiveLimit, clock } = open()
  for (let i = 0; i < 10; i++) {
    const leave = adaptiveLimit.enter()
    clock.advance(TICK_MS)
    leave()
  }
  assert.is(adaptiveLimit.room, 32)
})

test('on a busy thread the limit shrinks, to 32 at the least', () => {
  const opened = open()
  const before = spend(opened, 8)
  opened.thread.busyShare = BUSY
  const after = spend(opened, 1)
  assert.is(after, Math.ceil(before * 0.8))
  assert.is(spend(opened, 30), 32)
})

test('no timer runs while nothing is in progress', () => {
  const opened = open()
  spend(opened, 3)
  opened.clock.advance(3 * TICK_MS)
  assert.is(opened.clock.timerCount, 0)
  const leave = opened.adaptiveLimit.enter()
  assert.is(opened.clock.timerCount, 1)
  leave()
})

test.run()
