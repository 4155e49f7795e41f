import * as assert from 'uvu/assert'
import type { IndexedQueueKey } from '../../../../src/pipeline/queue/due-index.ts'
import {
  type Capacity,
  createFairScheduler,
  type FairScheduler,
} from '../../../../src/pipeline/queue/fair-scheduler.ts'
import { queueKeyText } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('queue/fair-scheduler')
const { transactional, broadcast, retry } = DELIVERY_CLASS

function queueKey(domain: string, deliveryClass: number = transactional, account = 1): IndexedQueueKey {
  const bare = { domain, class: deliveryClass, accountId: new Uint8Array(16).fill(account) }
  return { ...bare, key: queueKeyText(bare) }
}

const free = (count: number): Capacity => ({ any: count, transactional: count })
const roomy = () => free(1_000)

/**
 * Serves rounds of fair, each queue key coming back with more work, and sums up what each class was given.
 */
function serveRounds(fair: FairScheduler, rounds: number, capacityOf: (destination: string) => Capacity) {
  const input = new Map<number, number>()
  for (let i = 0; i < rounds; i++) {
    const taken = fair.next(capacityOf)
    for (const { queueKey: served, limit } of taken)
      input.set(served.class, (input.get(served.class) ?? 0) + limit)
    for (const { queueKey: served, destination } of taken) fair.add(destination, served)
  }
  return [transactional, broadcast, retry].map(deliveryClass => input.get(deliveryClass) ?? 0)
}

test('fair scheduler: the quantum is split by class weight: 16, 6 and 2', () => {
  const fair = createFairScheduler()
  for (const deliveryClass of [transactional, broadcast, retry])
    fair.add('destination', queueKey('a.test', deliveryClass))
  assert.equal(
    fair.next(roomy).map(({ limit }) => limit),
    [16, 6, 2],
  )
})

test('fair scheduler: classes that wait for one destination share it 8 to 3 to 1', () => {
  const fair = createFairScheduler()
  for (const deliveryClass of [retry, broadcast, transactional])
    fair.add('destination', queueKey('a.test', deliveryClass))
  assert.equal(serveRounds(fair, 50, roomy), [800, 300, 100])
})

test('fair scheduler: a queue key that waits alone gets the whole capacity', () => {
  for (const deliveryClass of [retry, broadcast, transactional]) {
    const fair = createFairScheduler()
    fair.add('destination', queueKey('a.test', deliveryClass))
    assert.equal(
      fair.next(() => free(60)).map(({ limit }) => limit),
      [60],
    )
  }
})

test('fair scheduler: a lone queue key gets the capacity of its class', () => {
  const room = () => ({ any: 40, transactional: 50 })
  const [first, second] = [transactional, broadcast].map(deliveryClass => {
    const fair = createFairScheduler()
    fair.add('destination', queueKey('a.test', deliveryClass))
    return fair.next(room).map(({ limit }) => limit)
  })
  assert.equal([first, second], [[50], [40]])
})

test('fair scheduler: with another queue key or destination waiting, the quantum is 24', () => {
  const limits = (...at: [string, IndexedQueueKey][]) => {
    const fair = createFairScheduler()
    for (const [destination, waiting] of at) fair.add(destination, waiting)
    return fair.next(roomy).map(({ limit }) => limit)
  }
  const mine = queueKey('a.test', broadcast)
  assert.equal(limits(['destination', mine], ['destination', queueKey('a.test', broadcast, 2)]), [24, 24])
  assert.equal(limits(['destination', mine], ['other', queueKey('b.test', broadcast)]), [24, 24])
})

test('fair scheduler: a destination with little capacity still serves all classes', () => {
  const fair = createFairScheduler()
  for (const deliveryClass of [retry, broadcast, transactional])
    fair.add('destination', queueKey('a.test', deliveryClass))
  const input = serveRounds(fair, 120, () => free(5))
  const sum = input.reduce((a, b) => a + b)
  assert.ok(input[1]! / sum > 0.2 && input[2]! / sum > 0.06, `shares were ${input}`)
})

test('fair scheduler: an account does not get more of a destination by having many queue keys', () => {
  const fair = createFairScheduler()
  for (let i = 0; i < 50; i++) fair.add('destination', queueKey(`d${i}.test`, broadcast, 1))
  fair.add('destination', queueKey('b.test', broadcast, 2))
  const input = new Map<number, number>()
  for (let i = 0; i < 100; i++) {
    const taken = fair.next(() => free(24))
    for (const { queueKey: served, limit } of taken) {
      const account = served.accountId[0]!
      input.set(account, (input.get(account) ?? 0) + limit)
    }
    for (const { queueKey: served, destination } of taken) fair.add(destination, served)
    fair.reopen('destination')
  }
  assert.equal([input.get(1), input.get(2)], [1_200, 1_200])
})

test('fair scheduler: transactional mail is served while a destination has no capacity for other mail', () => {
  const fair = createFairScheduler()
  const crowded = () => ({ any: 0, transactional: 10 })
  fair.add('destination', queueKey('a.test', broadcast))
  assert.equal(fair.next(crowded), [])
  fair.add('destination', queueKey('a.test', transactional))
  assert.equal(
    fair.next(crowded).map(({ queueKey: served, limit }) => [served.class, limit]),
    [[transactional, 10]],
  )
  fair.reopen('destination')
  assert.equal(
    fair.next(roomy).map(({ queueKey: served }) => served.class),
    [broadcast],
  )
})

test('fair scheduler: accounts share a class fairly, in the order of their arrival', () => {
  const fair = createFairScheduler()
  for (const account of [3, 1, 2]) fair.add('destination', queueKey('a.test', transactional, account))
  const accounts = () => {
    const [turn] = fair.next(() => free(16))
    fair.add('destination', turn!.queueKey)
    return turn!.queueKey.accountId[0]
  }
  const order = Array.from({ length: 6 }, () => {
    fair.reopen('destination')
    return accounts()
  })
  assert.equal(order, [3, 1, 2, 3, 1, 2])
})

test('fair scheduler: no more is granted than the capacity of the destination', () => {
  const fair = createFairScheduler()
  for (let account = 1; account <= 5; account++)
    fair.add('destination', queueKey('a.test', transactional, account))
  const taken = fair.next(() => free(30))
  assert.equal(
    taken.map(({ limit }) => limit),
    [24, 6],
  )
})

test('fair scheduler: a destination without capacity is skipped until it is reopened', () => {
  const fair = createFairScheduler()
  fair.add('full', queueKey('full.test'))
  fair.add('free', queueKey('free.test'))
  const capacityOf = (destination: string) => free(destination === 'free' ? 5 : 0)
  assert.equal(
    fair.next(capacityOf).map(({ destination }) => destination),
    ['free'],
  )
  const requests: string[] = []
  fair.next(destination => {
    requests.push(destination)
    return free(0)
  })
  assert.equal(requests, [])
  assert.is(fair.reopen('full'), true)
  assert.equal(
    fair.next(roomy).map(({ destination }) => destination),
    ['full'],
  )
})

test('fair scheduler: reopening a destination where nothing waits has no effect', () => {
  const fair = createFairScheduler()
  assert.is(fair.reopen('unknown'), false)
  fair.add('destination', queueKey('a.test'))
  fair.next(roomy)
  assert.is(fair.reopen('destination'), false)
  assert.equal(fair.next(roomy), [])
})

test('fair scheduler: the rest of a partly served destination waits for more capacity', () => {
  const fair = createFairScheduler()
  for (let account = 1; account <= 3; account++)
    fair.add('destination', queueKey('a.test', transactional, account))
  assert.is(fair.next(() => free(24)).length, 1)
  assert.equal(
    fair.next(() => free(24)),
    [],
  )
  fair.reopen('destination')
  assert.is(fair.next(() => free(48)).length, 2)
})

test('fair scheduler: a new queue key makes a destination without capacity be asked again', () => {
  const fair = createFairScheduler()
  fair.add('destination', queueKey('a.test'))
  fair.next(() => free(0))
  fair.add('destination', queueKey('b.test'))
  assert.is(fair.next(roomy).length, 2)
})

test('fair scheduler: each of 1,000 destinations is served, 100 per round', () => {
  const fair = createFairScheduler()
  for (let i = 0; i < 1_000; i++) fair.add(`destination ${i}`, queueKey(`d${i}.test`))
  const rounds = Array.from({ length: 10 }, () =>
    fair.next(() => free(5)).map(({ destination }) => destination),
  )
  assert.equal(
    rounds.map(round => round.length),
    Array.from({ length: 10 }, () => 100),
  )
  assert.is(new Set(rounds.flat()).size, 1_000)
  assert.equal(fair.next(roomy), [])
})

test('fair scheduler: a destination with very many queue keys does not starve the others', () => {
  const fair = createFairScheduler()
  for (let account = 0; account < 250; account++) fair.add('large', queueKey('large.test', retry, account))
  fair.add('small', queueKey('small.test'))
  const first = fair.next(() => free(10_000))
  const second = fair.next(() => free(10_000))
  assert.is(first.length, 100)
  assert.ok(second.some(({ destination }) => destination === 'small'))
})

test('fair scheduler: for any capacities, every queue key is served and no capacity is exceeded', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ destination: fc.nat(9), deliveryClass: fc.nat(2), account: fc.nat(5) }), {
        maxLength: 300,
      }),
      fc.infiniteStream(fc.nat(12)),
      (queueKeys, rooms) => {
        const fair = createFairScheduler()
        const waiting = new Set<IndexedQueueKey>()
        for (const { destination, deliveryClass, account } of queueKeys) {
          const booked = queueKey(`d${destination}.test`, deliveryClass, account)
          waiting.add(booked)
          fair.add(`destination ${destination}`, booked)
        }
        for (let round = 0; round < 3_000 && waiting.size > 0; round++) {
          const room = new Map<string, Capacity>()
          const taken = fair.next(destination => {
            const [any, transactional] = [rooms.next().value as number, rooms.next().value as number]
            room.set(destination, { any, transactional })
            return { any, transactional }
          })
          for (const { queueKey: served, destination, limit } of taken) {
            assert.ok(limit > 0)
            const kind = served.class === transactional ? 'transactional' : 'any'
            room.get(destination)![kind] -= limit
            assert.ok(room.get(destination)![kind] >= 0, `${destination} was overrun`)
            assert.ok(waiting.delete(served), 'a queue key was served twice')
          }
          for (let destination = 0; destination < 10; destination++) fair.reopen(`destination ${destination}`)
        }
        assert.is(waiting.size, 0)
      },
    ),
    { seed: 20261121, numRuns: 100 },
  )
})

test('fair scheduler: where other mail is not granted, transactional mail does not wait for it', () => {
  const fair = createFairScheduler()
  fair.add('destination', queueKey('a.test', broadcast))
  const room = { any: 0, transactional: 100, isForTransactional: true }
  const limits: number[][] = []
  for (let i = 0; i < 4; i++) {
    fair.add('destination', queueKey('a.test', transactional))
    fair.reopen('destination')
    limits.push(fair.next(() => room).map(({ limit }) => limit))
  }
  assert.equal(limits, [[17], [17], [17], [17]])
  fair.reopen('destination')
  assert.equal(
    fair.next(() => free(30)).map(({ queueKey: served }) => served.class),
    [broadcast],
  )
})

test.run()
