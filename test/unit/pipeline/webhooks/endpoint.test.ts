import * as assert from 'uvu/assert'
import {
  adjustWindow,
  type Endpoint,
  holdsExpiredLease,
  isFailing,
  isIdleEndpoint,
  isProbing,
  newEndpoint,
  type Ready,
} from '../../../../src/pipeline/webhooks/endpoint.ts'
import { createWebhookSlots } from '../../../../src/pipeline/webhooks/slots.ts'
import { newId } from '../../../kit/new-id.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('webhooks/endpoint')
const id = newId(0)
const endpoint = (over: Partial<Endpoint> = {}): Endpoint => ({ ...newEndpoint(id), ...over })
const leasedUntil = (leaseUntil: number) => new Set([{ leaseUntil } as Ready])

test('the window grows by one up to 32, and a failure halves it down to one', () => {
  const grown = endpoint()
  const windows = Array.from({ length: 30 }, () => {
    adjustWindow(grown, true)
    return grown.window
  })
  assert.equal([windows[0], windows[27], windows[28], windows[29]], [5, 32, 32, 32])
  const shrunk = endpoint()
  const after = Array.from({ length: 4 }, () => {
    adjustWindow(shrunk, false)
    return shrunk.window
  })
  assert.equal(after, [2, 1, 1, 1])
})

test('five failures in a row make a failing endpoint, and a success ends that', () => {
  const failed = endpoint()
  const states = Array.from({ length: 5 }, () => {
    adjustWindow(failed, false)
    return isFailing(failed)
  })
  assert.equal(states, [false, false, false, false, true])
  assert.equal([isProbing(failed), isProbing({ ...failed, inFlight: 1 })], [false, true])
  assert.is(isProbing(endpoint({ inFlight: 1 })), false)
  adjustWindow(failed, true)
  assert.equal([failed.failures, isFailing(failed)], [0, false])
})

test('a lease has expired at its end', () => {
  assert.equal(
    [99, 100, 101].map(now => holdsExpiredLease(endpoint({ held: leasedUntil(100) }), now)),
    [false, true, true],
  )
  assert.is(holdsExpiredLease(endpoint(), 100), false)
})

for (const [what, over, expected] of [
  ['nothing to do', {}, true],
  ['a delivery that waits', { nextAt: 5 }, false],
  ['a delivery in progress', { held: leasedUntil(100) }, false],
  ['a claim in progress', { isClaiming: true }, false],
  ['a probe to wait for', { isSuspended: true }, false],
] as const)
  test(`an endpoint with ${what} is ${expected ? '' : 'not '}idle`, () => {
    assert.is(isIdleEndpoint(endpoint(over)), expected)
  })

function openSlots(most = 4) {
  const turns: string[] = []
  const slots = createWebhookSlots<{ name: string; inFlight: number }>(most, ({ name }) => turns.push(name))
  const user = (name: string, inFlight = 0) => ({ name, inFlight })
  return { slots, turns, user }
}

test('slots: half of them are for first requests alone', () => {
  const { slots, user } = openSlots()
  const taken = [user('a'), user('a', 1), user('a', 2), user('b'), user('c'), user('d')].map(slots.take)
  assert.equal(taken, [true, true, false, true, true, false])
})

test('slots: a free one is offered to the user with the fewest requests, of equals to the first', () => {
  const { slots, turns, user } = openSlots(2)
  slots.take(user('x'))
  slots.take(user('x'))
  for (const waiting of [user('two', 2), user('one', 1), user('also', 1)]) slots.take(waiting)
  const leaving = user('gone')
  slots.take(leaving)
  slots.leave(leaving)
  for (let i = 0; i < 4; i++) slots.free()
  assert.equal(turns, ['one', 'also', 'two'])
})

test('slots: who has found one waits no longer', () => {
  const { slots, turns, user } = openSlots(1)
  slots.take(user('x'))
  const waiting = { ...user('y'), inFlight: 0 }
  slots.take(waiting)
  slots.free()
  assert.equal([slots.take(waiting), turns], [true, ['y']])
  slots.free()
  assert.equal(turns, ['y'])
})

test.run()
