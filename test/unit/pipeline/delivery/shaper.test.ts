import * as assert from 'uvu/assert'
import {
  type DestinationLimits,
  USUAL_LIMITS,
} from '../../../../src/pipeline/delivery/destinations/providers.ts'
import type { PipelineSlot } from '../../../../src/pipeline/delivery/sessions/pipeline.ts'
import type { SharedSession } from '../../../../src/pipeline/delivery/sessions/shared-session.ts'
import type { AdaptiveLimit } from '../../../../src/pipeline/delivery/shaping/adaptive-limit.ts'
import type {
  CongestionSignal,
  JudgeCongestion,
} from '../../../../src/pipeline/delivery/shaping/congestion-feedback.ts'
import { Shaper } from '../../../../src/pipeline/delivery/shaping/shaper.ts'
import { createSlots } from '../../../../src/pipeline/delivery/shaping/slots.ts'
import {
  createSourceIps,
  inOrderOf,
  type SourceIps,
} from '../../../../src/pipeline/delivery/shaping/source-ips.ts'
import { UNBOUNDED } from '../../../../src/pipeline/delivery/shaping/warmup-budget.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { newId } from '../../../kit/mail.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('shaper')

/** Any number may begin. */
const NO_CROWD: AdaptiveLimit = { room: Number.POSITIVE_INFINITY, enter: () => () => {}, onRoom() {} }
const account = (number: number) => new Uint8Array(16).fill(number)
const named = (...names: string[]) =>
  names.map(address => ({ address, accountId: account(1) }) as ClaimedDelivery)
const many = (count: number, prefix = 'd') =>
  named(...Array.from({ length: count }, (_, i) => `${prefix}${i}`))

interface OpenOptions {
  limits?: Partial<DestinationLimits>
  limit?: number
  maxPerAccount?: number
  /** Our addresses. */
  ips?: readonly string[]
}

/** Shaper whose deliveries end when the test says so. */
function openShaper({ limits = {}, limit = 10_000, maxPerAccount = 10_000, ips = [] }: OpenOptions = {}) {
  const clock = createManualClock()
  const sourceIps = createSourceIps(
    ips.map(address => ({ address, name: null })),
    clock,
  )
  const sources = new Map<string, string>()
  const givenBack: string[] = []
  const underWay = new Map<
    string,
    { judge: JudgeCongestion; slot: PipelineSlot; end: PromiseWithResolvers<boolean> }
  >()
  const begun: string[] = []
  const prepared = new Set<string>()
  const rooms: string[] = []
  const errors: string[] = []
  const pauses: string[] = []
  const caps = new Map<string, number>()
  const real = new Shaper({
    clock,
    slots: createSlots({ adaptiveLimit: NO_CROWD, max: limit, maxPerAccount }),
    warmupBudgets: { of: () => UNBOUNDED },
    limitsOf: () => ({ ...USUAL_LIMITS, ...limits }),
    capOf: destination => caps.get(destination) ?? null,
    sourceIps,
    runner: {
      prepare: ({ address }) => void prepared.add(address),
      deliver({ address }, source, judge, slot) {
        begun.push(address)
        sources.set(address, source.name)
        const end = Promise.withResolvers<boolean>()
        underWay.set(address, { judge, slot, end })
        return end.promise
      },
    },
    onError: error => errors.push((error as Error).message),
  })
  real.connect({
    onRoom: destination => rooms.push(destination),
    onSpent: (destination, unstarted) =>
      void pauses.push(`${destination} gets no more today, ${unstarted.length} given back`),
    onBreakerOpen: ({ destination, source, state: { ms, reason }, unstarted, allPathsPaused }) =>
      void pauses.push(
        `${destination}${source && ` from ${source}`} is paused ${ms / 1_000} s: ${reason}, ${unstarted.length} given back` +
          `${allPathsPaused ? '' : ', others go on'}`,
      ),
    onRecovery: ({ destination, source }, { address }) =>
      void pauses.push(`${destination}${source && ` from ${source}`} answered ${address}`),
    giveBack: deliveries => void givenBack.push(...deliveries.map(({ address }) => address)),
  })
  const destinations = {
    idle: (withinMs: number) => real.idle(withinMs),
    pathsTo: (destination: string) => real.pathsTo(destination),
    probeNow: (destination: string) => real.probeNow(destination),
    restoreBreaker: (...args: Parameters<Shaper['restoreBreaker']>) => real.restoreBreaker(...args),
    stop: () => real.stop(),
    updateRate: (destination: string) => real.updateRate(destination),
    take: (
      destination: string,
      deliveries: readonly ClaimedDelivery[],
      deliveryClass: number = DELIVERY_CLASS.broadcast,
    ) =>
      real.take(
        destination,
        deliveries.map(delivery => ({ ...delivery, class: deliveryClass })),
      ),
    roomOf: (destination: string) => real.capacityOf(destination).any,
  }
  return {
    clock,
    destinations,
    begun,
    prepared,
    rooms,
    errors,
    pauses,
    underWay,
    sourceIps,
    caps,
    sources,
    givenBack,
    transactionalRoomOf: (destination: string) => real.capacityOf(destination).transactional,
    async end(name: string, signal: CongestionSignal | Error = 'ok') {
      const { judge, end } = underWay.get(name)!
      underWay.delete(name)
      if (signal instanceof Error) end.reject(signal)
      else {
        judge(signal, '421 too busy')
        end.resolve(true)
      }
      await settled()
    },
    /** Ends everything, also what begins meanwhile. */
    async endAll() {
      while (underWay.size > 0) {
        for (const { end } of underWay.values()) end.resolve(true)
        underWay.clear()
        await settled()
      }
    },
  }
}

test('slow hosts: a delivery that waits on frees its slot, and no other one of its path starts', async () => {
  const { destinations, begun, underWay, end, endAll } = openShaper({ limit: 4, limits: { connections: 2 } })
  for (const name of ['a', 'b', 'c', 'd']) destinations.take(name, many(1, name))
  assert.equal(begun, ['a0', 'b0', 'c0'])
  const { slot } = underWay.get('a0')!
  assert.equal([slot.mayWaitOn(), slot.mayWaitOn()], [true, true])
  assert.equal(begun, ['a0', 'b0', 'c0', 'd0'])
  assert.is(destinations.roomOf('a'), 0)
  assert.is(underWay.get('b0')!.slot.mayWaitOn(), false)
  await end('a0')
  assert.ok(destinations.roomOf('a') > 0)
  assert.is(underWay.get('b0')!.slot.mayWaitOn(), true)
  await endAll()
})

test('slow hosts: the freed slot goes to another path, although further mail of the slow one waits first', async () => {
  const { destinations, begun, underWay, endAll } = openShaper({ limit: 1 })
  destinations.take('a', many(2, 'a'))
  destinations.take('b', many(1, 'b'))
  assert.equal(begun, ['a0'])
  assert.is(underWay.get('a0')!.slot.mayWaitOn(), true)
  assert.equal(begun, ['a0', 'b0'])
  await endAll()
})

test('slow hosts: a destination that stays silent is waited for so long once an hour, and again once it answers', async () => {
  const { destinations, clock, underWay, end, endAll } = openShaper()
  const waitsOn = (name: string) => {
    destinations.take('a', named(name))
    return underWay.get(name)!.slot.mayWaitOn()
  }
  assert.is(waitsOn('first'), true)
  await end('first', 'neutral')
  assert.is(waitsOn('second'), false)
  await end('second', 'neutral')
  clock.advance(3_600_000)
  assert.is(waitsOn('third'), true)
  await end('third', 'ok')
  assert.is(waitsOn('fourth'), true)
  await endAll()
})

test('one window of deliveries is in progress, the rest waits in order of arrival', async () => {
  const { destinations, begun, end } = openShaper()
  destinations.take('destination', many(8))
  assert.equal(begun, ['d0', 'd1', 'd2', 'd3', 'd4'])
  await end('d2', 'neutral')
  assert.is(begun.at(-1), 'd5')
  await end('d0', 'neutral')
  assert.is(begun.at(-1), 'd6')
})

test('behind a full window, three quarters of a window are prepared', async () => {
  const { destinations, prepared, begun, end } = openShaper()
  const ahead = () => [...prepared].filter(name => !begun.includes(name))
  destinations.take('a.test', many(5))
  assert.equal(ahead(), [])
  destinations.take('a.test', named('d5', 'd6', 'd7', 'd8', 'd9'))
  assert.equal(ahead(), ['d5', 'd6', 'd7', 'd8'])
  await end('d0', 'neutral')
  assert.equal(ahead(), ['d6', 'd7', 'd8', 'd9'])
})

test('deliveries to a paused or rate-limited destination are not prepared', async () => {
  const slow = openShaper({ limits: { messagesPerSecond: 50 } })
  slow.destinations.take('a.test', many(10))
  slow.clock.advance(1_000)
  await slow.end('d0')
  assert.equal([...slow.prepared], [])
  const resting = openShaper()
  resting.destinations.restoreBreaker(
    { destination: 'a.test', source: '' },
    { until: resting.clock.now() + 60_000, ms: 60_000, reason: 'x' },
  )
  resting.destinations.take('a.test', many(3))
  assert.equal([...resting.prepared], [])
})

test('destinations do not wait for each other', () => {
  const { destinations, begun } = openShaper()
  destinations.take('a', many(9, 'a'))
  destinations.take('b', many(2, 'b'))
  assert.equal(begun.slice(-2), ['b0', 'b1'])
})

test('success widens the window, congestion narrows it', async () => {
  const { destinations, begun, end, underWay } = openShaper()
  destinations.take('destination', many(60))
  for (let i = 0; i < 3; i++) await end(begun[i]!, 'ok')
  assert.is(underWay.size, 8)
  await end(begun[3]!, 'congested')
  for (let i = 0; i < 4; i++) await end([...underWay.keys()][0]!, 'neutral')
  assert.is(underWay.size, 4)
})

test('the state of a congested destination is kept between two claims', async () => {
  const { destinations, end, underWay, begun } = openShaper()
  destinations.take('destination', named('a'))
  await end('a', 'congested')
  destinations.take('destination', many(10))
  assert.is(underWay.size, 2)
  assert.is(begun.length, 3)
})

test('capacity is three windows, offered when a third of it is free', async () => {
  const { destinations, rooms, end } = openShaper()
  assert.is(destinations.roomOf('destination'), 15)
  destinations.take('destination', many(18))
  assert.is(destinations.roomOf('destination'), 0)
  rooms.length = 0
  await end('d0', 'neutral')
  await end('d1', 'neutral')
  assert.equal(rooms, [])
  await end('d2', 'neutral')
  assert.equal(rooms, ['destination'])
  assert.is(destinations.roomOf('destination'), 5)
})

test('a delivery that throws is reported and does not block others', async () => {
  const { destinations, begun, end, errors, underWay } = openShaper()
  destinations.take('destination', many(7))
  await end('d0', new Error('broken'))
  assert.equal(errors, ['broken'])
  assert.is(begun.length, 6)
  await end('d1', 'neutral')
  assert.is(begun.length, 7)
  assert.is(underWay.size, 5)
})

test('stop() returns deliveries that have not started, and starts nothing more', async () => {
  const { destinations, begun, end } = openShaper()
  destinations.take('a', many(8, 'a'))
  destinations.take('b', many(6, 'b'))
  assert.equal(
    destinations.stop().map(({ address }) => address),
    ['a5', 'a6', 'a7', 'b5'],
  )
  await end('a0')
  assert.is(begun.length, 10)
  assert.is(destinations.roomOf('a'), 0)
  assert.equal(destinations.stop(), [])
})

/** A destination that has answered, with as much under way as it bears and as much that waits. */
async function crowded(options: OpenOptions = {}) {
  const opened = openShaper({ ...options, limits: { connections: 5, ...options.limits } })
  opened.destinations.take('destination', named('proof'))
  await opened.end('proof')
  opened.destinations.take('destination', many(10))
  return {
    ...opened,
    async offer(name: string) {
      opened.underWay.get(name)!.slot.offer({} as SharedSession)
      await settled()
    },
    begunAfter: () => opened.begun.slice(1).join(' '),
  }
}
const FIVE = 'd0 d1 d2 d3 d4'

test('deliveries are pipelined when as many are ready as are in progress; the window is unchanged', async () => {
  const { offer, begunAfter, destinations, end } = await crowded()
  await offer('d1')
  assert.is(begunAfter(), `${FIVE} d5`)
  assert.is(destinations.pathsTo('destination')![0]!.underWay, 5)
  await end('d1')
  assert.is(begunAfter(), `${FIVE} d5`, 'its slot is that of the one behind it')
  await end('d5')
  assert.is(begunAfter(), `${FIVE} d5 d6`)
})

test('deliveries are not pipelined when fewer are ready than are in progress', async () => {
  const { offer, begunAfter } = await crowded()
  await offer('d0')
  await offer('d1')
  assert.is(begunAfter(), `${FIVE} d5`)
})

for (const [what, options] of [
  ['goes slowly by order', { limits: { messagesPerSecond: 50 } }],
  ['has half of all slots', { limit: 10 }],
] satisfies [string, OpenOptions][])
  test(`none begins behind another where the destination ${what}`, async () => {
    const { offer, begunAfter } = await crowded(options)
    await offer('d1')
    assert.is(begunAfter(), FIVE)
  })

test('deliveries are not pipelined to a destination that has not answered yet', async () => {
  const { destinations, underWay, begun } = openShaper({ limits: { connections: 5 } })
  destinations.take('destination', many(10))
  underWay.get('d1')!.slot.offer({} as SharedSession)
  await settled()
  assert.is(begun.length, 5)
})

test('nothing is pipelined behind a probe', async () => {
  const { destinations, underWay, clock, begun, end } = openShaper()
  destinations.take('destination', named('proof'))
  await end('proof')
  destinations.restoreBreaker(
    { destination: 'destination', source: '' },
    { until: clock.now() + 30_000, ms: 30_000, reason: 'refused' },
  )
  clock.advance(30_000)
  destinations.take('destination', many(3))
  underWay.get('d0')!.slot.offer({} as SharedSession)
  await settled()
  assert.equal(begun, ['proof', 'd0'])
})

test('when the window narrows, pipelined deliveries lose their slot; the first one goes on', async () => {
  const { offer, underWay, end } = await crowded()
  await offer('d1')
  const turns = Promise.allSettled(['d0', 'd5'].map(name => underWay.get(name)!.slot.previousEnded()))
  await end('d1', 'congested')
  assert.equal(
    (await turns).map(({ status }) => status),
    ['fulfilled', 'rejected'],
  )
})

test('a delivery that lost its slot is given back', async () => {
  const { offer, underWay, givenBack, begunAfter } = await crowded()
  await offer('d1')
  underWay.get('d5')!.end.resolve(false)
  await settled()
  assert.equal(givenBack, ['d5'])
  assert.is(begunAfter(), `${FIVE} d5`)
})

test('idle() resolves when no delivery is in progress', async () => {
  const { destinations, end, clock } = openShaper()
  destinations.take('destination', many(3))
  destinations.stop()
  let idle = false
  const waiting = destinations.idle(60_000).then(() => {
    idle = true
  })
  await end('d0')
  await end('d1')
  assert.is(idle, false)
  await end('d2')
  await waiting
  assert.is(clock.timerCount, 0)
  await destinations.idle(60_000)
})

test('idle() resolves after the grace period at the latest', async () => {
  const { destinations, clock } = openShaper()
  destinations.take('destination', many(3))
  destinations.stop()
  const waiting = destinations.idle(5_000)
  clock.advance(5_000)
  await waiting
  assert.is(clock.timerCount, 0)
})

/**
 * So many wait that no more are to be claimed ahead: 200 destinations with five under way and ten waiting
 * each.
 */
function crowd({ destinations }: ReturnType<typeof openShaper>) {
  for (let i = 0; i < 200; i++) destinations.take(`destination ${i}`, many(15, `${i}/`))
}

test('at most 2,000 deliveries are claimed ahead; beyond that, a destination gets only what can start at once', () => {
  const opened = openShaper()
  const { destinations, begun } = opened
  assert.is(destinations.roomOf('other'), 15)
  crowd(opened)
  assert.is(destinations.roomOf('other'), 5)
  destinations.take('other', many(5, 'o'))
  assert.is(begun.length, 1_005)
  assert.is(destinations.roomOf('other'), 0)
})

test('a destination whose deliveries have ended is offered capacity again', async () => {
  const opened = openShaper()
  const { destinations, rooms, end } = opened
  crowd(opened)
  destinations.take('other', many(5, 'o'))
  assert.not(rooms.includes('other'))
  await end('o3', 'neutral')
  assert.ok(rooms.includes('other'))
  assert.is(destinations.roomOf('other'), 1)
})

test('capacity granted to many destinations at once may exceed 2,000; no destination is left without', async () => {
  const opened = openShaper()
  const { destinations, rooms, end } = opened
  crowd(opened)
  for (let i = 0; i < 50; i++) destinations.take(`more ${i}`, many(15, `m${i}/`))
  assert.is(destinations.roomOf('other'), 5)
  assert.is(destinations.roomOf('more 7'), 0)
  rooms.length = 0
  for (let i = 0; i < 15; i++) await end(`m7/${i}`, 'neutral')
  assert.ok(rooms.includes('more 7'))
})

test('when all deliveries have ended, capacity is as at the start', async () => {
  const { destinations, endAll, underWay } = openShaper()
  for (let i = 0; i < 20; i++) destinations.take(`destination ${i}`, many(15, `${i}/`))
  await endAll()
  assert.is(underWay.size, 0)
  assert.is(destinations.roomOf('destination 3'), 15)
  assert.equal(destinations.stop(), [])
})

test('five failures in a row pause a destination for a minute; its claimed deliveries are given back', async () => {
  const { destinations, begun, end, pauses, clock, rooms, underWay } = openShaper()
  destinations.take('destination', many(12))
  await end('d0', 'ok')
  await end('d1', 'ok')
  assert.is(underWay.size, 7)
  for (let i = 2; i < 7; i++) await end(begun[i]!, 'congested')
  assert.equal(pauses, ['destination is paused 60 s: 421 too busy, 3 given back'])
  assert.is(destinations.roomOf('destination'), 0)
  rooms.length = 0
  await end('d7', 'congested')
  await end('d8', 'neutral')
  assert.is(underWay.size, 0)
  assert.is(pauses.length, 1)
  clock.advance(59_999)
  assert.not(rooms.includes('destination'))
  clock.advance(1)
  assert.ok(rooms.includes('destination'))
})

test('after a pause one probe is sent; each failed probe doubles the pause, up to 15 minutes', async () => {
  const { destinations, begun, end, pauses, clock } = openShaper()
  destinations.take('destination', many(5))
  for (let i = 0; i < 5; i++) await end(begun[i]!, 'congested')
  for (const ms of [60_000, 120_000, 240_000, 480_000, 900_000, 900_000]) {
    clock.advance(ms)
    assert.is(destinations.roomOf('destination'), 1)
    destinations.take('destination', many(2, `probe ${pauses.length} `))
    assert.is(destinations.roomOf('destination'), 0)
    await end(begun.at(-1)!, 'congested')
  }
  assert.equal(
    pauses.map(pause => pause.split(':')[0]),
    [60, 120, 240, 480, 900, 900, 900].map(seconds => `destination is paused ${seconds} s`),
  )
})

test('a successful probe resumes the destination, with a growing window', async () => {
  const { destinations, begun, end, pauses, clock, underWay } = openShaper()
  destinations.take('destination', many(5))
  for (let i = 0; i < 5; i++) await end(begun[i]!, 'congested')
  clock.advance(60_000)
  destinations.take('destination', named('probe'))
  await end('probe', 'ok')
  assert.is(pauses.at(-1), 'destination answered probe')
  destinations.take('destination', many(6, 'more '))
  assert.is(underWay.size, 2)
  for (let i = 0; i < 5; i++) await end(`more ${i}`, 'congested')
  assert.is(pauses.at(-1), 'destination is paused 60 s: 421 too busy, 1 given back')
})

test('after an outage the window grows by one per success again', async () => {
  const { destinations, begun, end, clock, underWay } = openShaper()
  destinations.take('destination', many(5))
  for (let i = 0; i < 5; i++) await end(begun[i]!, 'congested')
  clock.advance(60_000)
  destinations.take('destination', named('probe'))
  await end('probe', 'ok')
  destinations.take('destination', many(40, 'more '))
  const rounds: number[] = []
  for (let round = 0; round < 4; round++) {
    rounds.push(underWay.size)
    for (const name of [...underWay.keys()]) await end(name, 'ok')
  }
  assert.equal(rounds, [2, 4, 8, 16])
})

test('a success between failures resets the count', async () => {
  const { destinations, begun, end, pauses } = openShaper()
  destinations.take('destination', many(30))
  for (let i = 0; i < 20; i++) await end(begun[i]!, i % 4 === 3 ? 'ok' : 'congested')
  assert.equal(pauses, [])
})

test('a restored pause lasts for its remaining time', async () => {
  const { destinations, clock, rooms, begun, end, pauses } = openShaper()
  destinations.restoreBreaker(
    { destination: 'destination', source: '' },
    { until: clock.now() + 30_000, ms: 120_000, reason: 'refused' },
  )
  assert.is(destinations.roomOf('destination'), 0)
  clock.advance(30_000)
  assert.equal(rooms, ['destination'])
  destinations.take('destination', named('probe'))
  await end(begun[0]!, 'congested')
  assert.equal(pauses, ['destination is paused 240 s: 421 too busy, 0 given back'])
})

test('stop() ends pauses and leaves no timer', () => {
  const { destinations, clock } = openShaper({ limits: { messagesPerSecond: 1 } })
  destinations.restoreBreaker(
    { destination: 'destination', source: '' },
    { until: clock.now() + 30_000, ms: 120_000, reason: 'refused' },
  )
  destinations.take('other', many(3))
  assert.is(clock.timerCount, 2)
  destinations.stop()
  assert.is(clock.timerCount, 0)
})

test('transactional mail goes first, except for every third delivery', async () => {
  const { destinations, begun, end } = openShaper({ limits: { connections: 1 } })
  destinations.take('destination', many(3, 'b'), DELIVERY_CLASS.broadcast)
  destinations.take('destination', many(5, 't'), DELIVERY_CLASS.transactional)
  for (let i = 0; i < 7; i++) await end(begun[i]!, 'neutral')
  assert.equal(begun, ['b0', 't0', 't1', 'b1', 't2', 't3', 'b2', 't4'])
})

test('transactional mail has capacity when other mail has used it up', async () => {
  const { destinations, transactionalRoomOf, rooms, end, begun } = openShaper()
  destinations.take('destination', many(20), DELIVERY_CLASS.broadcast)
  assert.is(destinations.roomOf('destination'), 0)
  assert.is(transactionalRoomOf('destination'), 15)
  destinations.take('destination', many(15, 't'), DELIVERY_CLASS.transactional)
  assert.is(transactionalRoomOf('destination'), 0)
  rooms.length = 0
  for (let i = 0; i < 6; i++) await end(begun[i]!, 'neutral')
  assert.equal(rooms, [])
  await end(begun[6]!, 'neutral')
  assert.equal(rooms, ['destination'])
  assert.is(transactionalRoomOf('destination'), 5)
})

test('no more attempts start per second than the rate limit allows', async () => {
  const { destinations, begun, end, clock } = openShaper({ limits: { messagesPerSecond: 2 } })
  destinations.take('destination', many(5))
  assert.equal(begun, ['d0', 'd1'])
  await end('d0', 'neutral')
  clock.advance(499)
  assert.is(begun.length, 2)
  clock.advance(1)
  assert.equal(begun, ['d0', 'd1', 'd2'])
  clock.advance(1_000)
  assert.is(begun.length, 5)
})

test('a lower rate limit applies from the next attempt on', () => {
  const { destinations, caps, begun, clock } = openShaper({ limits: { connections: 50 } })
  destinations.take('destination', many(3))
  assert.is(begun.length, 3)
  caps.set('destination', 1 / 60)
  destinations.updateRate('destination')
  destinations.take('destination', many(3, 'later'))
  assert.is(begun.length, 4)
  clock.advance(59_999)
  assert.is(begun.length, 4)
  clock.advance(1)
  assert.is(begun.length, 5)
  destinations.stop()
  assert.is(clock.timerCount, 0)
})

test('all destinations together use no more slots than the thread has, in turns', async () => {
  const { destinations, begun, end, underWay } = openShaper({ limit: 8 })
  for (const destination of ['a', 'b', 'c', 'd']) destinations.take(destination, many(3, destination))
  assert.is(underWay.size, 5)
  for (let i = 0; i < 20 && underWay.size > 0; i++) {
    assert.ok(underWay.size <= 8)
    await end([...underWay.keys()][0]!, 'ok')
  }
  assert.is(new Set(begun).size, 12)
})

test('destinations that have never answered leave some slots to those that have', async () => {
  const { destinations, begun, end, underWay } = openShaper({ limit: 40 })
  destinations.take('good', many(1, 'g'))
  await end('g0', 'ok')
  for (let i = 0; i < 100; i++) destinations.take(`tarpit ${i}`, many(5, `t${i}/`))
  assert.is(underWay.size, 30)
  destinations.take('good', many(6, 'h'))
  assert.is(begun.filter(name => name.startsWith('h')).length, 6)
})

test('an account uses no more than its share of slots and does not block others', async () => {
  const { destinations, begun, end } = openShaper({ maxPerAccount: 2 })
  const other = { address: 'other', accountId: account(2) } as ClaimedDelivery
  destinations.take('destination', [...many(4), other])
  assert.equal(begun, ['d0', 'other', 'd1'])
  await end('d0', 'neutral')
  assert.equal(begun.slice(3), ['d2'])
})

const TWO = ['192.0.2.1', '192.0.2.2'] as const

/** Deliveries of emails that prefer to leave from there. */
function preferring(sourceIps: SourceIps, address: string, count: number, prefix = 'd') {
  const candidates = sourceIps.sources.map(source => ({ source }))
  const ids = Array.from({ length: count * 8 }, () => newId(1)).filter(
    id => inOrderOf(id, candidates)[0]!.source.name === address,
  )
  return ids.slice(0, count).map(
    (emailId, i) =>
      ({
        emailId,
        address: `${prefix}${i}`,
        accountId: account(1),
        domain: 'there.test',
      }) as ClaimedDelivery,
  )
}

test('each source address has its own window', async () => {
  const { destinations, sourceIps, begun, end, underWay, sources } = openShaper({ ips: TWO })
  assert.is(destinations.roomOf('destination'), 30)
  destinations.take('destination', preferring(sourceIps, TWO[0], 8, 'a'))
  destinations.take('destination', preferring(sourceIps, TWO[1], 8, 'b'))
  assert.is(underWay.size, 10)
  assert.equal(begun.map(name => sources.get(name)!.at(-1)).filter(last => last === '1').length, 5)
  await end('a0', 'congested')
  for (const name of ['a1', 'a2']) await end(name, 'neutral')
  assert.equal([...underWay.keys()], ['a3', 'a4', 'b0', 'b1', 'b2', 'b3', 'b4'])
  await end('b0', 'ok')
  assert.equal([...underWay.keys()].slice(-2), ['b5', 'b6'])
})

test('when one source address is paused, mail leaves from the others', async () => {
  const { destinations, sourceIps, begun, end, pauses, sources, clock } = openShaper({ ips: TWO })
  const mail = preferring(sourceIps, TWO[0], 30)
  destinations.take('destination', mail.slice(0, 8))
  for (let i = 0; i < 5; i++) await end(begun[i]!, 'congested')
  assert.equal(pauses, [
    'destination from 192.0.2.1 is paused 60 s: 421 too busy, 3 given back, others go on',
  ])
  assert.is(destinations.roomOf('destination'), 15)
  destinations.take('destination', mail.slice(8, 11))
  assert.equal(
    mail.slice(8, 11).map(({ address }) => sources.get(address)),
    [TWO[1], TWO[1], TWO[1]],
  )
  clock.advance(60_000)
  destinations.take('destination', mail.slice(11, 14))
  assert.equal(
    mail.slice(11, 14).map(({ address }) => sources.get(address)),
    [TWO[0], TWO[1], TWO[1]],
    'one probe',
  )
  await end(mail[11]!.address, 'ok')
  assert.is(pauses.at(-1), `destination from 192.0.2.1 answered ${mail[11]!.address}`)
})

test('when all source addresses are paused, nothing is claimed, and the first to end is probed', async () => {
  const { destinations, pauses, end, underWay, clock, sourceIps, sources } = openShaper({ ips: TWO })
  destinations.take('destination', preferring(sourceIps, TWO[0], 5, 'a'))
  for (const name of [...underWay.keys()]) await end(name, 'congested')
  clock.advance(10_000)
  destinations.take('destination', preferring(sourceIps, TWO[1], 5, 'b'))
  for (const name of [...underWay.keys()]) await end(name, 'congested')
  assert.is(pauses.at(-1), 'destination from 192.0.2.2 is paused 60 s: 421 too busy, 0 given back')
  assert.is(destinations.roomOf('destination'), 0)
  clock.advance(50_000)
  assert.is(destinations.roomOf('destination'), 1)
  const [probe] = preferring(sourceIps, TWO[1], 1, 'probe') as [ClaimedDelivery]
  destinations.take('destination', [probe])
  assert.is(sources.get(probe.address), TWO[0])
})

test('after a cool-off, mail of the domain moves to another source, including mail that waits', async () => {
  const { destinations, sourceIps, end, givenBack, sources, begun } = openShaper({ ips: TWO })
  const mail = preferring(sourceIps, TWO[0], 10)
  destinations.take('destination', mail.slice(0, 8))
  sourceIps.coolOff(TWO[0], 'there.test')
  await end(begun[0]!, 'congested')
  assert.equal(
    givenBack,
    mail.slice(5, 8).map(({ address }) => address),
  )
  destinations.take('destination', mail.slice(8))
  assert.is(sources.get(mail[9]!.address), TWO[1])
})

test('mail moves to another source when its preferred one is full', () => {
  const { destinations, sourceIps, underWay, sources } = openShaper({ ips: TWO })
  destinations.take('destination', preferring(sourceIps, TWO[0], 30))
  assert.is(underWay.size, 10)
  const from = [...underWay.keys()].map(name => sources.get(name))
  assert.equal(
    [from.filter(name => name === TWO[0]).length, from.filter(name => name === TWO[1]).length],
    [5, 5],
  )
})

test('a restored pause applies to one source address, or to all when none is named', () => {
  const { destinations, clock } = openShaper({ ips: TWO })
  const pause = { until: clock.now() + 30_000, ms: 120_000, reason: 'refused' }
  destinations.restoreBreaker({ destination: 'one', source: TWO[1] }, pause)
  destinations.restoreBreaker({ destination: 'all', source: '' }, pause)
  destinations.restoreBreaker({ destination: 'none', source: '192.0.2.9' }, pause)
  assert.equal(['one', 'all', 'none'].map(destinations.roomOf), [15, 0, 30])
  assert.equal(['one', 'all', 'none'].map(destinations.probeNow), [true, true, false])
})

test("an operator's rate limit is shared by all source addresses, at once and until it is removed", async () => {
  const { destinations, sourceIps, caps, begun, clock } = openShaper({ ips: TWO })
  caps.set('destination', 1)
  for (const [i, address] of TWO.entries())
    destinations.take('destination', preferring(sourceIps, address, 4, `${i}/`))
  assert.equal(begun, ['0/0', '1/0'])
  clock.advance(1_999)
  assert.is(begun.length, 2)
  clock.advance(2_001)
  assert.is(begun.length, 6)
  assert.equal(
    destinations.pathsTo('destination')!.map(({ perSecond }) => perSecond),
    [0.5, 0.5],
  )
  caps.delete('destination')
  destinations.updateRate('destination')
  assert.is(begun.length, 8)
})

test.run()
