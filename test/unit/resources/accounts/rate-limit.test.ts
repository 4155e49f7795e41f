import * as assert from 'uvu/assert'
import { createIdSource } from '../../../../src/lib/ids.ts'
import { createRateLimit } from '../../../../src/resources/accounts/rate-limit.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accounts/rate-limit')
const newId = createIdSource()

function open(requestsPerSecond: number) {
  const clock = createManualClock()
  const limit = createRateLimit({ clock, requestsPerSecond })
  const account = newId(clock.now())
  return {
    clock,
    take: (who = account) => limit.take(who),
    takeMany: (count: number, who = account) => Array.from({ length: count }, () => limit.take(who)),
  }
}

test('a second’s worth is there at once, and not one more', () => {
  const { takeMany } = open(4)
  assert.equal(takeMany(6), [3, 2, 1, 0, undefined, undefined])
})

test('it comes back bit by bit', () => {
  const { clock, take, takeMany } = open(4)
  takeMany(4)
  clock.advance(249)
  assert.is(take(), undefined)
  clock.advance(1)
  assert.equal(takeMany(2), [0, undefined])
  clock.advance(500)
  assert.equal(takeMany(3), [1, 0, undefined])
})

test('what is refused costs nothing', () => {
  const { clock, take, takeMany } = open(2)
  takeMany(1_000)
  clock.advance(500)
  assert.is(take(), 0)
})

test('who waits for long has a second’s worth, and not more', () => {
  const { clock, takeMany } = open(3)
  takeMany(3)
  clock.advance(86_400_000)
  assert.equal(takeMany(4), [2, 1, 0, undefined])
})

test('in the long run an account gets its rate, however it asks', () => {
  const { clock, take } = open(7)
  let granted = 0
  for (let i = 0; i < 10_000; i++) {
    clock.advance(i % 5)
    if (take() !== undefined) granted++
  }
  assert.ok(granted >= 7 * 19 && granted <= 7 * 21 + 1, `${granted}`)
})

test('one a second is one a second', () => {
  const { clock, take } = open(1)
  assert.equal([take(), take()], [0, undefined])
  clock.advance(999)
  assert.is(take(), undefined)
  clock.advance(1)
  assert.is(take(), 0)
})

test('accounts do not spend each other’s requests', () => {
  const { clock, takeMany, take } = open(2)
  const other = newId(clock.now())
  takeMany(3)
  assert.is(take(other), 1)
})

test('a bucket is remembered until it is full, over any number of seconds', () => {
  const { clock, take, takeMany } = open(10)
  takeMany(10)
  for (let second = 0; second < 5; second++) {
    clock.advance(99)
    assert.is(take(), undefined)
    clock.advance(901)
    assert.equal(takeMany(11).at(-1), undefined)
  }
})

test('the wall clock has no part in it', () => {
  const { clock, take, takeMany } = open(2)
  takeMany(2)
  clock.jump(3_600_000)
  assert.is(take(), undefined)
  clock.jump(-7_200_000)
  clock.advance(500)
  assert.is(take(), 0)
})

test.run()
