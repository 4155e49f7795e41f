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

test('rate limit: the bucket holds the requests of one second', () => {
  const { takeMany } = open(4)
  assert.equal(takeMany(6), [3, 2, 1, 0, undefined, undefined])
})

test('rate limit: tokens are refilled continuously', () => {
  const { clock, take, takeMany } = open(4)
  takeMany(4)
  clock.advance(249)
  assert.is(take(), undefined)
  clock.advance(1)
  assert.equal(takeMany(2), [0, undefined])
  clock.advance(500)
  assert.equal(takeMany(3), [1, 0, undefined])
})

test('rate limit: refused requests take no token', () => {
  const { clock, take, takeMany } = open(2)
  takeMany(1_000)
  clock.advance(500)
  assert.is(take(), 0)
})

test('rate limit: a long pause fills the bucket at most', () => {
  const { clock, takeMany } = open(3)
  takeMany(3)
  clock.advance(86_400_000)
  assert.equal(takeMany(4), [2, 1, 0, undefined])
})

test('rate limit: the long-term rate is the configured one', () => {
  const { clock, take } = open(7)
  let granted = 0
  for (let i = 0; i < 10_000; i++) {
    clock.advance(i % 5)
    if (take() !== undefined) granted++
  }
  assert.ok(granted >= 7 * 19 && granted <= 7 * 21 + 1, `${granted}`)
})

test('rate limit: one request per second works', () => {
  const { clock, take } = open(1)
  assert.equal([take(), take()], [0, undefined])
  clock.advance(999)
  assert.is(take(), undefined)
  clock.advance(1)
  assert.is(take(), 0)
})

test('rate limit: accounts have separate buckets', () => {
  const { clock, takeMany, take } = open(2)
  const other = newId(clock.now())
  takeMany(3)
  assert.is(take(other), 1)
})

test('rate limit: a bucket is kept until it is full', () => {
  const { clock, take, takeMany } = open(10)
  takeMany(10)
  for (let second = 0; second < 5; second++) {
    clock.advance(99)
    assert.is(take(), undefined)
    clock.advance(901)
    assert.equal(takeMany(11).at(-1), undefined)
  }
})

test('rate limit: the wall clock does not matter', () => {
  const { clock, take, takeMany } = open(2)
  takeMany(2)
  clock.jump(3_600_000)
  assert.is(take(), undefined)
  clock.jump(-7_200_000)
  clock.advance(500)
  assert.is(take(), 0)
})

test.run()
