import * as assert from 'uvu/assert'
import type { IndexedQueueKey } from '../../../../src/pipeline/queue/due-index.ts'
import {
  type Capacity,
  createFairScheduler,
  type FairScheduler,
} from '../../../../src/pipeline/queue/fair-scheduler.ts'
import { queueKeyText } from '../../../../src/store/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/schema.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('queue/fair')
const { transactional, broadcast, retry } = DELIVERY_CLASS

function queueKey(domain: string, deliveryClass: number = transactional, account = 1): IndexedQueueKey {
  const bare = { domain, class: deliveryClass, accountId: new Uint8Array(16).fill(account) }
  return { ...bare, key: queueKeyText(bare) }
}

const free = (count: number): Capacity => ({ any: count, transactional: count })
const roomy = () => free(1_000)

/** Serves rounds of fair, each queue key coming back with more work, and sums up what each class was given. */
function serveRounds(fair: FairScheduler, rounds: number, roomOf: (site: string) => Capacity) {
  const given = new Map<number, number>()
  for (let i = 0; i < rounds; i++) {
    const taken = fair.next(roomOf)
    for (const { queueKey: served, limit } of taken)
      given.set(served.class, (given.get(served.class) ?? 0) + limit)
    for (const { queueKey: served, site } of taken) fair.add(site, served)
  }
  return [transactional, broadcast, retry].map(deliveryClass => given.get(deliveryClass) ?? 0)
}

test('each queue key gets as many deliveries in its turn as its class weighs: 16, 6 and 2', () => {
  const fair = createFairScheduler()
  for (const deliveryClass of [transactional, broadcast, retry])
    fair.add('site', queueKey('a.test', deliveryClass))
  assert.equal(
    fair.next(roomy).map(({ limit }) => limit),
    [16, 6, 2],
  )
})

test('where all classes wait for one site, they share it 8 to 3 to 1', () => {
  const fair = createFairScheduler()
  for (const deliveryClass of [retry, broadcast, transactional])
    fair.add('site', queueKey('a.test', deliveryClass))
  assert.equal(serveRounds(fair, 50, roomy), [800, 300, 100])
})

test('a queue key that waits alone gets all there is', () => {
  for (const deliveryClass of [retry, broadcast, transactional]) {
    const fair = createFairScheduler()
    fair.add('site', queueKey('a.test', deliveryClass))
    assert.equal(
      fair.next(() => free(60)).map(({ limit }) => limit),
      [60],
    )
  }
})

test('a transactional queue key that waits alone gets what its class has room for, and another what all have', () => {
  const room = () => ({ any: 40, transactional: 50 })
  const [first, second] = [transactional, broadcast].map(deliveryClass => {
    const fair = createFairScheduler()
    fair.add('site', queueKey('a.test', deliveryClass))
    return fair.next(room).map(({ limit }) => limit)
  })
  assert.equal([first, second], [[50], [40]])
})

test('with another queue key there, or at another site, a turn is 24', () => {
  const limits = (...at: [string, IndexedQueueKey][]) => {
    const fair = createFairScheduler()
    for (const [site, waiting] of at) fair.add(site, waiting)
    return fair.next(roomy).map(({ limit }) => limit)
  }
  const mine = queueKey('a.test', broadcast)
  assert.equal(limits(['site', mine], ['site', queueKey('a.test', broadcast, 2)]), [24, 24])
  assert.equal(limits(['site', mine], ['other', queueKey('b.test', broadcast)]), [24, 24])
})

test('a site with little room serves all classes all the same', () => {
  const fair = createFairScheduler()
  for (const deliveryClass of [retry, broadcast, transactional])
    fair.add('site', queueKey('a.test', deliveryClass))
  const given = serveRounds(fair, 120, () => free(5))
  const sum = given.reduce((a, b) => a + b)
  assert.ok(given[1]! / sum > 0.2 && given[2]! / sum > 0.06, `shares were ${given}`)
})

test('an account gets no more of a site for having many queue keys there', () => {
  const fair = createFairScheduler()
  for (let i = 0; i < 50; i++) fair.add('site', queueKey(`d${i}.test`, broadcast, 1))
  fair.add('site', queueKey('b.test', broadcast, 2))
  const given = new Map<number, number>()
  for (let i = 0; i < 100; i++) {
    const taken = fair.next(() => free(24))
    for (const { queueKey: served, limit } of taken) {
      const account = served.accountId[0]!
      given.set(account, (given.get(account) ?? 0) + limit)
    }
    for (const { queueKey: served, site } of taken) fair.add(site, served)
    fair.reopen('site')
  }
  assert.equal([given.get(1), given.get(2)], [1_200, 1_200])
})

test('transactional mail that comes while a site has no room for any other is served', () => {
  const fair = createFairScheduler()
  const crowded = () => ({ any: 0, transactional: 10 })
  fair.add('site', queueKey('a.test', broadcast))
  assert.equal(fair.next(crowded), [])
  fair.add('site', queueKey('a.test', transactional))
  assert.equal(
    fair.next(crowded).map(({ queueKey: served, limit }) => [served.class, limit]),
    [[transactional, 10]],
  )
  fair.reopen('site')
  assert.equal(
    fair.next(roomy).map(({ queueKey: served }) => served.class),
    [broadcast],
  )
})

test('accounts take fair within a class, in the order of their coming', () => {
  const fair = createFairScheduler()
  for (const account of [3, 1, 2]) fair.add('site', queueKey('a.test', transactional, account))
  const accounts = () => {
    const [turn] = fair.next(() => free(16))
    fair.add('site', turn!.queueKey)
    return turn!.queueKey.accountId[0]
  }
  const order = Array.from({ length: 6 }, () => {
    fair.reopen('site')
    return accounts()
  })
  assert.equal(order, [3, 1, 2, 3, 1, 2])
})

test('no more is claimed for a site than it has room for', () => {
  const fair = createFairScheduler()
  for (let account = 1; account <= 5; account++) fair.add('site', queueKey('a.test', transactional, account))
  const taken = fair.next(() => free(30))
  assert.equal(
    taken.map(({ limit }) => limit),
    [24, 6],
  )
})

test('a site without room is passed over until it says that it has some', () => {
  const fair = createFairScheduler()
  fair.add('full', queueKey('full.test'))
  fair.add('free', queueKey('free.test'))
  const roomOf = (site: string) => free(site === 'free' ? 5 : 0)
  assert.equal(
    fair.next(roomOf).map(({ site }) => site),
    ['free'],
  )
  const asked: string[] = []
  fair.next(site => {
    asked.push(site)
    return free(0)
  })
  assert.equal(asked, [])
  assert.is(fair.reopen('full'), true)
  assert.equal(
    fair.next(roomy).map(({ site }) => site),
    ['full'],
  )
})

test('opening a site where nothing waits means nothing', () => {
  const fair = createFairScheduler()
  assert.is(fair.reopen('unknown'), false)
  fair.add('site', queueKey('a.test'))
  fair.next(roomy)
  assert.is(fair.reopen('site'), false)
  assert.equal(fair.next(roomy), [])
})

test('what is left of a site that had room for a part waits for more room', () => {
  const fair = createFairScheduler()
  for (let account = 1; account <= 3; account++) fair.add('site', queueKey('a.test', transactional, account))
  assert.is(fair.next(() => free(24)).length, 1)
  assert.equal(
    fair.next(() => free(24)),
    [],
  )
  fair.reopen('site')
  assert.is(fair.next(() => free(48)).length, 2)
})

test('a queue key that joins a site without room lets it be asked again', () => {
  const fair = createFairScheduler()
  fair.add('site', queueKey('a.test'))
  fair.next(() => free(0))
  fair.add('site', queueKey('b.test'))
  assert.is(fair.next(roomy).length, 2)
})

test('of 1,000 sites every one comes to its turn, 100 a round', () => {
  const fair = createFairScheduler()
  for (let i = 0; i < 1_000; i++) fair.add(`site ${i}`, queueKey(`d${i}.test`))
  const rounds = Array.from({ length: 10 }, () => fair.next(() => free(5)).map(({ site }) => site))
  assert.equal(
    rounds.map(round => round.length),
    Array.from({ length: 10 }, () => 100),
  )
  assert.is(new Set(rounds.flat()).size, 1_000)
  assert.equal(fair.next(roomy), [])
})

test('one site with very many queue keys does not keep others from their turn', () => {
  const fair = createFairScheduler()
  for (let account = 0; account < 250; account++) fair.add('large', queueKey('large.test', retry, account))
  fair.add('small', queueKey('small.test'))
  const first = fair.next(() => free(10_000))
  const second = fair.next(() => free(10_000))
  assert.is(first.length, 100)
  assert.ok(second.some(({ site }) => site === 'small'))
})

test('whatever the rooms, every queue key is served and no site is overrun', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ site: fc.nat(9), deliveryClass: fc.nat(2), account: fc.nat(5) }), {
        maxLength: 300,
      }),
      fc.infiniteStream(fc.nat(12)),
      (queueKeys, rooms) => {
        const fair = createFairScheduler()
        const waiting = new Set<IndexedQueueKey>()
        for (const { site, deliveryClass, account } of queueKeys) {
          const booked = queueKey(`d${site}.test`, deliveryClass, account)
          waiting.add(booked)
          fair.add(`site ${site}`, booked)
        }
        for (let round = 0; round < 3_000 && waiting.size > 0; round++) {
          const room = new Map<string, Capacity>()
          const taken = fair.next(site => {
            const [any, transactional] = [rooms.next().value as number, rooms.next().value as number]
            room.set(site, { any, transactional })
            return { any, transactional }
          })
          for (const { queueKey: served, site, limit } of taken) {
            assert.ok(limit > 0)
            const kind = served.class === transactional ? 'transactional' : 'any'
            room.get(site)![kind] -= limit
            assert.ok(room.get(site)![kind] >= 0, `${site} was overrun`)
            assert.ok(waiting.delete(served), 'a queue key was served twice')
          }
          for (let site = 0; site < 10; site++) fair.reopen(`site ${site}`)
        }
        assert.is(waiting.size, 0)
      },
    ),
    { seed: 20261121, numRuns: 100 },
  )
})

test('where other mail has no turn, transactional mail does not wait until it had one', () => {
  const fair = createFairScheduler()
  fair.add('site', queueKey('a.test', broadcast))
  const room = { any: 0, transactional: 100, isForTransactional: true }
  const limits: number[][] = []
  for (let i = 0; i < 4; i++) {
    fair.add('site', queueKey('a.test', transactional))
    fair.reopen('site')
    limits.push(fair.next(() => room).map(({ limit }) => limit))
  }
  assert.equal(limits, [[17], [17], [17], [17]])
  fair.reopen('site')
  assert.equal(
    fair.next(() => free(30)).map(({ queueKey: served }) => served.class),
    [broadcast],
  )
})

test.run()
