import * as assert from 'uvu/assert'
import { createSignInGuard } from '../../../src/accounts/sign-in-guard.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('accounts/sign-in-guard')
const MINUTE_MS = 60_000

function openGuard() {
  const clock = createManualClock()
  const guard = createSignInGuard(clock)
  return {
    clock,
    guard,
    fail(times: number, client = '192.0.2.1', email = 'a@here.test') {
      for (let i = 0; i < times; i++) guard.failed(client, email)
    },
    wait: (client = '192.0.2.1', email = 'a@here.test') => guard.waitMs(client, email),
  }
}

test('four failures are free, the fifth costs a minute', () => {
  const { fail, wait } = openGuard()
  assert.is(wait(), 0)
  fail(4)
  assert.is(wait(), 0)
  fail(1)
  assert.is(wait(), MINUTE_MS)
})

test('each further failure doubles the wait, up to fifteen minutes', () => {
  const { fail, wait, clock } = openGuard()
  fail(4)
  const waits = Array.from({ length: 8 }, () => {
    fail(1)
    const ms = wait()
    clock.advance(ms)
    assert.is(wait(), 0)
    return ms / MINUTE_MS
  })
  assert.equal(waits, [1, 2, 4, 8, 15, 15, 15, 15])
})

test('the wait runs down with the clock, and wall time does not matter', () => {
  const { fail, wait, clock } = openGuard()
  fail(5)
  clock.advance(20_000)
  assert.is(wait(), 40_000)
  clock.jump(3_600_000)
  assert.is(wait(), 40_000)
})

test('a success makes good all failures', () => {
  const { fail, wait, guard } = openGuard()
  fail(7)
  guard.succeeded('192.0.2.1', 'a@here.test')
  assert.is(wait(), 0)
  fail(4)
  assert.is(wait(), 0)
})

test('nobody is locked out from elsewhere, nor for failing at another account', () => {
  const { fail, wait } = openGuard()
  fail(9)
  assert.is(wait('192.0.2.2'), 0)
  assert.is(wait('192.0.2.1', 'b@here.test'), 0)
})

test('of very many pairs the oldest are forgotten, and one that fails again counts as new', () => {
  const { fail, wait, clock } = openGuard()
  fail(5, 'first')
  fail(5, 'second')
  for (let i = 0; i < 9_998; i++) fail(1, `client ${i}`)
  fail(1, 'first')
  fail(1, 'one more')
  assert.is(wait('second'), 0)
  assert.ok(wait('first') > 0)
  assert.is(clock.timerCount, 0)
})

test.run()
