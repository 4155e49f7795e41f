import * as assert from 'uvu/assert'
import type { DueQueueKey } from '../../../../src/pipeline/queue/queue-key-rows.ts'
import { createScheduler } from '../../../../src/pipeline/queue/scheduler.ts'
import {
  type Claim,
  type ClaimedDelivery,
  type QueueKey,
  StorageUnavailable,
} from '../../../../src/store/model/command.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('queue/scheduler')
const accountId = new Uint8Array(16).fill(1)
const HOUR_MS = 3_600_000

type Wanted = QueueKey & { limit: number }

interface OpenClaim {
  queueKeys: readonly Wanted[]
  answer(...claims: Claim[]): Promise<void>
  fail(error: Error): Promise<void>
}

/** A scheduler whose claims are answered by the test. */
function openScheduler({
  destinationOf = async (queueKey: QueueKey): Promise<string | null> => queueKey.domain,
} = {}) {
  const clock = createManualClock()
  const claims: OpenClaim[] = []
  const taken: string[] = []
  const errors: string[] = []
  const rooms = new Map<string, number>()
  const scheduler = createScheduler({
    clock,
    destinationOf,
    capacityOf: destination => ({
      any: rooms.get(destination) ?? 100,
      transactional: rooms.get(destination) ?? 100,
    }),
    claim(queueKeys) {
      const { promise, resolve, reject } = Promise.withResolvers<Claim[]>()
      claims.push({
        queueKeys,
        answer(...answers) {
          resolve(answers)
          return settled()
        },
        fail(error) {
          reject(error)
          return settled()
        },
      })
      return promise
    },
    take: (destination, deliveries) => void taken.push(`${deliveries.length} for ${destination}`),
    onError: error => void errors.push((error as Error).message),
  })
  return {
    clock,
    scheduler,
    claims,
    taken,
    errors,
    rooms,
    async note(...domains: string[]) {
      scheduler.note(domains.map(domain => queueKey(domain, clock.now())))
      await settled()
    },
    noteAt: (domain: string, at: number) => scheduler.note([queueKey(domain, at)]),
  }
}

const queueKey = (domain: string, at: number): DueQueueKey => ({ domain, class: 0, accountId, at })
const nothing: Claim = { deliveries: [], nextAt: null }
const found = (count: number, nextAt: number | null = null): Claim => ({
  deliveries: Array.from({ length: count }, () => ({}) as ClaimedDelivery),
  nextAt,
})
const domains = ({ queueKeys }: OpenClaim) => queueKeys.map(({ domain }) => domain)

test('scheduler: a due queue key is claimed with the capacity of its destination, and the claim is passed on', async () => {
  const { note, claims, taken, rooms, scheduler } = openScheduler()
  rooms.set('a.test', 3)
  await note('a.test')
  assert.equal(claims[0]!.queueKeys, [{ domain: 'a.test', class: 0, accountId, limit: 3 }])
  await claims[0]!.answer(found(2))
  assert.equal(taken, ['2 for a.test'])
  assert.is(scheduler.queueKeyCount(), 0)
})

test('scheduler: queue keys that are due together are claimed together', async () => {
  const { note, claims, taken } = openScheduler()
  await note('first.test')
  await note('a.test', 'b.test', 'c.test')
  assert.is(claims.length, 1)
  await claims[0]!.answer(nothing)
  assert.equal(domains(claims[1]!), ['a.test', 'b.test', 'c.test'])
  await claims[1]!.answer(found(1), nothing, found(2))
  assert.equal(taken, ['1 for a.test', '2 for c.test'])
})

test('scheduler: at most one claim is in progress', async () => {
  const { note, claims, scheduler } = openScheduler()
  for (let i = 0; i < 20; i++) {
    await note(`d${i}.test`)
    scheduler.reopen(`d${i}.test`)
    await settled()
  }
  assert.is(claims.length, 1)
  await claims[0]!.answer(nothing)
  assert.is(claims.length, 2)
  assert.is(claims[1]!.queueKeys.length, 19)
})

test('scheduler: a queue key with more deliveries is claimed again when it is due', async () => {
  const { note, claims, clock, scheduler } = openScheduler()
  await note('a.test')
  await claims[0]!.answer(found(16, clock.now()))
  assert.is(claims.length, 2)
  await claims[1]!.answer(found(1, clock.now() + HOUR_MS))
  assert.is(claims.length, 2)
  assert.is(scheduler.queueKeyCount(), 1)
  clock.advance(HOUR_MS)
  await settled()
  assert.is(claims.length, 3)
})

test('scheduler: a queue key that is due later is claimed at its time', async () => {
  const { noteAt, claims, clock } = openScheduler()
  noteAt('a.test', clock.now() + 5_000)
  await settled()
  assert.is(claims.length, 0)
  clock.advance(5_000)
  await settled()
  assert.is(claims.length, 1)
})

test('scheduler: a destination without capacity is claimed for once it has capacity', async () => {
  const { note, claims, rooms, scheduler } = openScheduler()
  rooms.set('full.test', 0)
  await note('full.test')
  assert.is(claims.length, 0)
  rooms.set('full.test', 2)
  await note('other.test')
  assert.equal(domains(claims[0]!), ['other.test'])
  await claims[0]!.answer(nothing)
  assert.is(claims.length, 1)
  scheduler.reopen('full.test')
  await settled()
  assert.equal(claims[1]!.queueKeys, [{ domain: 'full.test', class: 0, accountId, limit: 2 }])
})

test('scheduler: a claim that finds less than granted leaves the capacity to other queue keys', async () => {
  const { note, claims, rooms } = openScheduler({ destinationOf: async () => 'destination' })
  rooms.set('destination', 24)
  await note('a.test', 'b.test')
  assert.equal(claims.map(domains), [['a.test']])
  await claims[0]!.answer(nothing)
  assert.equal(claims.map(domains), [['a.test'], ['b.test']])
})

for (const [answer, next] of [
  [nothing, ['b.test']],
  [found(1), undefined],
] as const)
  test(`scheduler: queue keys that waited for a claim follow it if it took ${answer.deliveries.length} of 1`, async () => {
    const { note, claims, rooms } = openScheduler({
      destinationOf: async ({ domain }) => (domain === 'first.test' ? domain : 'destination'),
    })
    rooms.set('destination', 1)
    await note('first.test')
    await note('a.test', 'b.test')
    await claims[0]!.answer(nothing)
    assert.equal(domains(claims[1]!), ['a.test'])
    await claims[1]!.answer(answer)
    assert.equal(claims[2] && domains(claims[2]), next)
  })

test('scheduler: a failed claim is reported and retried after a second', async () => {
  const { note, claims, clock, errors, taken } = openScheduler()
  await note('a.test')
  await claims[0]!.fail(new StorageUnavailable('disk full'))
  assert.equal(errors, ['disk full'])
  clock.advance(999)
  await settled()
  assert.is(claims.length, 1)
  clock.advance(1)
  await settled()
  assert.equal(domains(claims[1]!), ['a.test'])
  await claims[1]!.answer(found(1))
  assert.equal(taken, ['1 for a.test'])
})

test('scheduler: a queue key that becomes due during a failed claim is not lost', async () => {
  const { note, claims, clock } = openScheduler()
  await note('a.test')
  await note('a.test')
  await claims[0]!.fail(new Error('gone'))
  clock.advance(1_000)
  await settled()
  assert.is(claims.length, 2)
})

test('scheduler: a failed destination lookup is reported and retried after a second', async () => {
  let requests = 0
  const { note, claims, clock, errors } = openScheduler({
    async destinationOf({ domain }) {
      if (requests++ === 0) throw new Error('the resolver broke')
      return domain
    },
  })
  await note('a.test')
  assert.equal(errors, ['the resolver broke'])
  assert.is(claims.length, 0)
  clock.advance(1_000)
  await settled()
  assert.equal(claims.map(domains), [['a.test']])
})

test('scheduler: a queue key of another scheduler is ignored until it is noted again', async () => {
  const destinations: (string | null)[] = [null, 'destination']
  const { note, claims, scheduler } = openScheduler({ destinationOf: async () => destinations.shift()! })
  await note('a.test')
  assert.is(claims.length, 0)
  assert.is(scheduler.queueKeyCount(), 0)
  await note('a.test')
  assert.is(claims.length, 1)
})

test('scheduler: a slow lookup does not block other queue keys', async () => {
  const slow = Promise.withResolvers<string>()
  const { note, claims } = openScheduler({
    destinationOf: ({ domain }) => (domain === 'slow.test' ? slow.promise : Promise.resolve(domain)),
  })
  await note('slow.test', 'fast.test')
  assert.equal(claims.map(domains), [['fast.test']])
  await claims[0]!.answer(nothing)
  slow.resolve('slow.test')
  await settled()
  assert.equal(claims.map(domains), [['fast.test'], ['slow.test']])
})

test('scheduler: stop waits for the current claim, passes its deliveries on and starts no other', async () => {
  const { note, claims, clock, taken, scheduler } = openScheduler()
  await note('a.test')
  await note('b.test')
  let stopped = false
  const stopping = scheduler.stop().then(() => {
    stopped = true
  })
  await settled()
  assert.is(stopped, false)
  await claims[0]!.answer(found(3, clock.now() + HOUR_MS))
  await stopping
  assert.equal(taken, ['3 for a.test'])
  await note('c.test')
  scheduler.reopen('b.test')
  clock.advance(2 * HOUR_MS)
  await settled()
  assert.is(claims.length, 1)
  assert.is(clock.timerCount, 0)
})

test('scheduler: stop during a failing claim leaves no timer', async () => {
  const { note, claims, clock, scheduler } = openScheduler()
  await note('a.test')
  const stopping = scheduler.stop()
  await claims[0]!.fail(new Error('gone'))
  await stopping
  assert.is(clock.timerCount, 0)
})

test.run()
