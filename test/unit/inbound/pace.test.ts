import * as assert from 'uvu/assert'
import { watchPace } from '../../../src/inbound/pace.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('inbound/pace')

function given() {
  const clock = createManualClock()
  let slowCount = 0
  const pace = watchPace(clock, () => {
    slowCount += 1
  })
  /** A minute in which so many bytes come, evenly. */
  const minute = (bytes: number) => {
    for (let second = 0; second < 60; second++) {
      pace.add(bytes / 60)
      clock.advance(1_000)
    }
  }
  return { clock, pace, minute, slowCount: () => slowCount }
}

test('a byte a second is too slow after a minute, and that is told once', () => {
  const { minute, slowCount, clock } = given()
  minute(60)
  assert.is(slowCount(), 1)
  minute(60)
  assert.equal([slowCount(), clock.timerCount], [1, 0])
})

test('a kilobyte a second is fast enough, for as long as it lasts', () => {
  const { minute, slowCount } = given()
  for (let i = 0; i < 30; i++) minute(61_440)
  assert.is(slowCount(), 0)
  minute(61_380)
  assert.is(slowCount(), 1)
})

test('when the message has come nobody waits any more', () => {
  const { pace, clock, slowCount } = given()
  pace.end()
  clock.advance(600_000)
  assert.equal([slowCount(), clock.timerCount], [0, 0])
})

test.run()
