import * as assert from 'uvu/assert'
import { USUAL_LIMITS } from '../../../../src/pipeline/delivery/destinations/providers.ts'
import type { AdaptiveLimit } from '../../../../src/pipeline/delivery/shaping/adaptive-limit.ts'
import { admitNext } from '../../../../src/pipeline/delivery/shaping/admission.ts'
import { createEgressPath } from '../../../../src/pipeline/delivery/shaping/egress-path.ts'
import { createSlots } from '../../../../src/pipeline/delivery/shaping/slots.ts'
import { UNBOUNDED, type WarmupBudget } from '../../../../src/pipeline/delivery/shaping/warmup-budget.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('admission')

const ACCOUNT = new Uint8Array(16).fill(1)

interface OpenOptions {
  claimed?: number
  deliveryClass?: number
  messagesPerSecond?: number | null
  warmupBudget?: WarmupBudget
  threadSlots?: number
  accountSlots?: number
  cpuRoom?: number
}

function open({
  claimed = 1,
  deliveryClass = DELIVERY_CLASS.broadcast,
  messagesPerSecond = null,
  warmupBudget = UNBOUNDED,
  threadSlots = 100,
  accountSlots = 100,
  cpuRoom = 100,
}: OpenOptions = {}) {
  const clock = createManualClock()
  const woken: string[] = []
  const source = { name: '', ips: [] }
  const limits = { ...USUAL_LIMITS, messagesPerSecond }
  const path = createEgressPath('google', source, limits, {
    clock,
    waiting: { count: 0 },
    warmupBudgets: { of: () => warmupBudget },
    wake: ({ source: { name } }) => void woken.push(name),
  })
  path.isProven = true
  const deliveries = Array.from({ length: claimed }, (_, i) => ({
    address: `d${i}`,
    accountId: ACCOUNT,
    class: deliveryClass,
  }))
  path.ready.put(deliveries as ClaimedDelivery[])
  const adaptiveLimit: AdaptiveLimit = { room: cpuRoom, enter: () => () => {}, onRoom() {} }
  const slots = createSlots({ adaptiveLimit, max: threadSlots, maxPerAccount: accountSlots })
  const admit = (others = 0) => {
    const next = admitNext(path, slots, others)
    return typeof next === 'string' ? next : next.address
  }
  return { clock, path, slots, woken, admit }
}

function fail({ path }: ReturnType<typeof open>) {
  for (let i = 0; i < 5; i++) path.breaker.recordFailure('no answer')
}

test('with all gates open, the next delivery leaves the ready queue', () => {
  const { admit, path } = open({ claimed: 2 })
  assert.equal([admit(), path.ready.length, admit(), admit()], ['d0', 1, 'd1', 'empty'])
})

test('the window refuses once it is full', () => {
  const { admit } = open()
  assert.equal([admit(5), admit(4)], ['window', 'd0'])
})

test('an open circuit breaker refuses, a half-open one admits a single probe', () => {
  const opened = open({ claimed: 2 })
  fail(opened)
  assert.is(opened.admit(), 'circuit-breaker')
  opened.clock.advance(60_000)
  assert.equal([opened.admit(), opened.admit(1)], ['d0', 'circuit-breaker'])
})

test('an empty token bucket refuses, and wakes the path when it holds a token', () => {
  const { admit, path, clock, woken } = open({ claimed: 2, messagesPerSecond: 1 })
  assert.is(admit(), 'd0')
  path.rateLimit.begin()
  assert.equal([admit(), woken.length], ['rate-limit', 0])
  clock.advance(1_000)
  assert.equal([woken.length, admit()], [1, 'd1'])
})

test('a spent warm-up budget refuses the class that it is spent for', () => {
  const warmupBudget = { ...UNBOUNDED, allows: (isTransactional: boolean) => isTransactional }
  assert.is(open({ warmupBudget }).admit(), 'warm-up')
  assert.is(open({ warmupBudget, deliveryClass: DELIVERY_CLASS.transactional }).admit(), 'd0')
})

test('a thread without free slots or CPU time refuses', () => {
  assert.is(open({ threadSlots: 0 }).admit(), 'thread-slots')
  assert.is(open({ cpuRoom: 0 }).admit(), 'adaptive-limit')
})

test('a destination that has not answered yet is refused beyond its share of the slots', () => {
  const { admit, path, slots } = open({ threadSlots: 4 })
  path.isProven = false
  slots.take(false, ACCOUNT)
  assert.is(admit(1), 'unproven-share')
  assert.is(admit(0), 'd0')
})

test('an account with all its slots in use is refused', () => {
  const { admit, slots } = open({ accountSlots: 1 })
  const free = slots.take(true, ACCOUNT)
  assert.is(admit(), 'account-share')
  free()
  assert.is(admit(), 'd0')
})

test('the first gate that refuses is named', () => {
  const opened = open({ claimed: 1, messagesPerSecond: 1, threadSlots: 0 })
  opened.path.rateLimit.begin()
  assert.equal([opened.admit(5), opened.admit()], ['window', 'rate-limit'])
  fail(opened)
  assert.is(opened.admit(5), 'circuit-breaker')
})

test.run()
