import * as assert from 'uvu/assert'
import { OutboundFault } from '../../src/outbound/fault.ts'
import { settled } from '../kit/manual-clock.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { openTelling } from '../kit/webhooks.ts'

const test = suite('webhooks: an endpoint that is down', { limitMs: 900_000 })
const EVENTS = 100_000
const SECONDS_DOWN = 3_600
const MINUTE_MS = 60_000
const LEASE_MS = 40_000
/** Between one attempt of an event and the next, at least; an hour has time for no more of them. */
const WAITS_MS = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 300 * MINUTE_MS]

test(`for the hour in which ${EVENTS} events happen gets each of them once, and none was tried more often than it says`, async t => {
  const { start, make, record, clock, rows, pass } = await openTelling(t)
  await make()
  const tries = new Map<string, number[]>()
  let isDown = true
  let taken = 0
  start(({ headers }) => {
    const id = String(headers!['svc-id'])
    tries.set(id, [...(tries.get(id) ?? []), clock.now()])
    if (isDown) return new OutboundFault('unreachable', 'the host refuses the connection')
    taken++
    return 200
  })
  const isLeased = () =>
    rows(
      'select 1 from webhook_deliveries where state = 0 and next_at <= ? and lease_until is not null limit 1',
      clock.now() + LEASE_MS,
    ).length > 0
  const isDue = () =>
    rows('select 1 from webhook_deliveries where state = 0 and next_at <= ? limit 1', clock.now()).length > 0

  for (let second = 0, recorded = 0; second < SECONDS_DOWN; second++) {
    const count = Math.round(((second + 1) * EVENTS) / SECONDS_DOWN) - recorded
    await record(count)
    recorded += count
    clock.advance(1_000)
    await settled()
  }
  await until(() => !isLeased())
  const [waiting] = rows<{ events: number; attempts: number }>(
    'select count(*) as events, sum(attempts) as attempts from webhook_deliveries where state = 0',
  )
  const failed = [...tries.values()].reduce((sum, { length }) => sum + length, 0)
  assert.equal(waiting, { events: EVENTS, attempts: failed })

  isDown = false
  await pass(() => taken > 0)
  while (taken < EVENTS) {
    await until(() => !isDue() && !isLeased())
    clock.advance(MINUTE_MS)
  }
  await until(() => rows('select 1 from webhook_deliveries where state = 0 limit 1').length === 0)
  assert.equal([tries.size, taken], [EVENTS, EVENTS])
  const all = [...tries.values()]
  assert.is(
    all.reduce((sum, { length }) => sum + length, 0),
    failed + EVENTS,
    'one success each, and every failure before it',
  )
  for (const times of all)
    for (const [i, at] of times.slice(1).entries()) assert.ok(at - times[i]! >= WAITS_MS[i]!, `${times}`)
  const most = all.reduce((largest, { length }) => Math.max(largest, length), 0)
  console.log(`${failed} failures of ${EVENTS} events, of one at most ${most - 1}`)
})

test.run()
