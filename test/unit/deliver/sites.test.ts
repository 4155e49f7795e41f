import * as assert from 'uvu/assert'
import { createSites, type SiteSignal } from '../../../src/deliver/sites.ts'
import type { ClaimedDelivery } from '../../../src/store/command.ts'
import { createManualClock, settled } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('deliver/sites')

const named = (...names: string[]) => names.map(address => ({ address }) as ClaimedDelivery)
const many = (count: number, prefix = 'd') =>
  named(...Array.from({ length: count }, (_, i) => `${prefix}${i}`))

/** Sites whose deliveries end when the test says so. */
function openSites() {
  const clock = createManualClock()
  const underWay = new Map<string, PromiseWithResolvers<SiteSignal>>()
  const begun: string[] = []
  const rooms: string[] = []
  const errors: string[] = []
  const sites = createSites({
    clock,
    deliver({ address }) {
      begun.push(address)
      const end = Promise.withResolvers<SiteSignal>()
      underWay.set(address, end)
      return end.promise
    },
    onRoom: site => rooms.push(site),
    onError: error => errors.push((error as Error).message),
  })
  return {
    clock,
    sites,
    begun,
    rooms,
    errors,
    underWay,
    async end(name: string, signal: SiteSignal | Error = 'through') {
      const end = underWay.get(name)!
      underWay.delete(name)
      if (signal instanceof Error) end.reject(signal)
      else end.resolve(signal)
      await settled()
    },
    /** Ends everything, also what begins meanwhile. */
    async endAll() {
      while (underWay.size > 0) {
        for (const { resolve } of underWay.values()) resolve('nothing')
        underWay.clear()
        await settled()
      }
    },
  }
}

test('a window’s worth is under way, the rest waits, in the order in which it came', async () => {
  const { sites, begun, end } = openSites()
  sites.take('site', many(8))
  assert.equal(begun, ['d0', 'd1', 'd2', 'd3', 'd4'])
  await end('d2', 'nothing')
  assert.is(begun.at(-1), 'd5')
  await end('d0', 'nothing')
  assert.is(begun.at(-1), 'd6')
})

test('sites do not wait for each other', () => {
  const { sites, begun } = openSites()
  sites.take('a', many(9, 'a'))
  sites.take('b', many(2, 'b'))
  assert.equal(begun.slice(-2), ['b0', 'b1'])
})

test('success lets more go at once, trouble fewer', async () => {
  const { sites, begun, end, underWay } = openSites()
  sites.take('site', many(60))
  for (let i = 0; i < 6; i++) await end(begun[i]!, 'through')
  assert.is(underWay.size, 6)
  await end(begun[6]!, 'trouble')
  await end([...underWay.keys()][0]!, 'nothing')
  await end([...underWay.keys()][0]!, 'nothing')
  assert.is(underWay.size, 3)
})

test('a site that was in trouble is not forgotten between two claims', async () => {
  const { sites, end, underWay, begun } = openSites()
  sites.take('site', named('a'))
  await end('a', 'trouble')
  sites.take('site', many(10))
  assert.is(underWay.size, 2)
  assert.is(begun.length, 3)
})

test('room is for three windows, and offered when less than half of it is taken', async () => {
  const { sites, rooms, end } = openSites()
  assert.is(sites.roomOf('site'), 15)
  sites.take('site', many(15))
  assert.is(sites.roomOf('site'), 0)
  rooms.length = 0
  await end('d0', 'nothing')
  await end('d1', 'nothing')
  assert.equal(rooms, [])
  await end('d2', 'nothing')
  assert.equal(rooms, ['site'])
  assert.is(sites.roomOf('site'), 8)
})

test('a delivery that breaks is told, and holds up no other', async () => {
  const { sites, begun, end, errors, underWay } = openSites()
  sites.take('site', many(7))
  await end('d0', new Error('broken'))
  assert.equal(errors, ['broken'])
  assert.is(begun.length, 6)
  await end('d1', 'nothing')
  assert.is(begun.length, 7)
  assert.is(underWay.size, 5)
})

test('stopping gives back what was not begun, and begins nothing more', async () => {
  const { sites, begun, end } = openSites()
  sites.take('a', many(8, 'a'))
  sites.take('b', many(6, 'b'))
  assert.equal(
    sites.stop().map(({ address }) => address),
    ['a5', 'a6', 'a7', 'b5'],
  )
  await end('a0')
  assert.is(begun.length, 10)
  assert.is(sites.roomOf('a'), 0)
  assert.equal(sites.stop(), [])
})

test('idleness is waited for until what is under way has ended', async () => {
  const { sites, end, clock } = openSites()
  sites.take('site', many(3))
  sites.stop()
  let idle = false
  const waiting = sites.idle(60_000).then(() => {
    idle = true
  })
  await end('d0')
  await end('d1')
  assert.is(idle, false)
  await end('d2')
  await waiting
  assert.is(clock.timerCount, 0)
  await sites.idle(60_000)
})

test('it is not waited for longer than the grace', async () => {
  const { sites, clock } = openSites()
  sites.take('site', many(3))
  sites.stop()
  const waiting = sites.idle(5_000)
  clock.advance(5_000)
  await waiting
  assert.is(clock.timerCount, 0)
})

/** So many wait that no more are to be claimed ahead: 200 sites with five under way and ten waiting each. */
function crowd({ sites }: ReturnType<typeof openSites>) {
  for (let i = 0; i < 200; i++) sites.take(`site ${i}`, many(15, `${i}/`))
}

test('no more than 2,000 deliveries wait in memory: beyond, a site gets only what it can begin at once', () => {
  const opened = openSites()
  const { sites, begun } = opened
  assert.is(sites.roomOf('other'), 15)
  crowd(opened)
  assert.is(sites.roomOf('other'), 5)
  sites.take('other', many(5, 'o'))
  assert.is(begun.length, 1_005)
  assert.is(sites.roomOf('other'), 0)
})

test('a site that has worked off what it got among a crowd is offered room again', async () => {
  const opened = openSites()
  const { sites, rooms, end } = opened
  crowd(opened)
  sites.take('other', many(5, 'o'))
  assert.not(rooms.includes('other'))
  await end('o3', 'nothing')
  assert.ok(rooms.includes('other'))
  assert.is(sites.roomOf('other'), 1)
})

test('room claimed for many sites at once may overrun the 2,000; then, too, no site is left without', async () => {
  const opened = openSites()
  const { sites, rooms, end } = opened
  crowd(opened)
  for (let i = 0; i < 50; i++) sites.take(`more ${i}`, many(15, `m${i}/`))
  assert.is(sites.roomOf('other'), 5)
  assert.is(sites.roomOf('more 7'), 0)
  rooms.length = 0
  for (let i = 0; i < 15; i++) await end(`m7/${i}`, 'nothing')
  assert.ok(rooms.includes('more 7'))
})

test('when everything has been worked off, the sites are as at the beginning', async () => {
  const { sites, endAll, underWay } = openSites()
  for (let i = 0; i < 20; i++) sites.take(`site ${i}`, many(15, `${i}/`))
  await endAll()
  assert.is(underWay.size, 0)
  assert.is(sites.roomOf('site 3'), 15)
  assert.equal(sites.stop(), [])
})

test.run()
