import * as assert from 'uvu/assert'
import { type Id, wireId } from '../../../../src/lib/ids.ts'
import { PROBE_INTERVAL_MS } from '../../../../src/pipeline/webhooks/probes.ts'
import { OutboundFault } from '../../../../src/protocols/http-client/fault.ts'
import { newId } from '../../../kit/mail.ts'
import { settled } from '../../../kit/manual-clock.ts'
import { STORE_EPOCH } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { ACCOUNT, openTelling, reply } from '../../../kit/webhooks.ts'

const test = suite('webhooks/dispatcher')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

test('dispatcher: a delivery that never succeeds is attempted eight times in 27 hours with the same body', async t => {
  const { clock, requests, start, make, record, rest, all } = await openTelling(t)
  await make()
  start(() => 500)
  await record()
  const began = clock.now()
  const at: number[] = []
  for (let attempt = 1; attempt <= 8; attempt++) {
    await until(() => requests.length === attempt)
    await rest()
    at.push(clock.now() - began)
    const [row] = all()
    assert.is(row!.attempts, attempt)
    if (attempt < 8) clock.advance(row!.next_at - clock.now())
  }
  // each wait is 5 % longer than it is said to be, half of the jitter
  const waits = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map(seconds => seconds * 1_050)
  assert.equal(
    at.slice(1).map((time, i) => time - at[i]!),
    waits,
  )
  assert.ok(at.at(-1)! >= 27 * HOUR_MS)
  assert.equal([all()[0]!.state, all()[0]!.success], [1, 0])
  clock.advance(3 * DAY_MS)
  assert.is(requests.length, 8)
  assert.is(new Set(requests.map(({ body }) => body)).size, 1)
  assert.is(new Set(requests.map(({ headers }) => headers!['svc-id'])).size, 1)
})

test('dispatcher: an endpoint that was down for an hour gets every event once, in the announced number of attempts', async t => {
  const { clock, requests, start, make, record, all, pass } = await openTelling(t)
  await make()
  let isDown = true
  start(() => (isDown ? new OutboundFault('unreachable', 'the host refuses the connection') : 200))
  const began = clock.now()
  while (clock.now() - began < HOUR_MS) {
    await record(5)
    await pass(() => all().every(({ lease_until, next_at }) => lease_until === null && next_at > clock.now()))
    clock.advance(10 * 60_000)
  }
  isDown = false
  const before = requests.length
  for (let i = 0; i < 30 && all().some(({ state }) => state === 0); i++) {
    clock.advance(10 * 60_000)
    await pass(() =>
      all().every(
        ({ state, lease_until, next_at }) => state === 1 || (lease_until === null && next_at > clock.now()),
      ),
    )
  }
  const rows = all()
  assert.ok(rows.every(({ state, success }) => state === 1 && success === 1))
  const taken = requests.slice(before).map(({ headers }) => headers!['svc-id'])
  assert.equal([taken.length, new Set(taken).size], [30, 30])
  const tries = Map.groupBy(requests, ({ headers }) => headers!['svc-id'])
  assert.equal(
    [...tries.values()].map(of => of.length).toSorted(),
    rows.map(({ attempts }) => attempts).toSorted(),
  )
})

test('dispatcher: leases of a dead process expire, and a late result is ignored', async t => {
  const { clock, run, make, record, all, requests, start } = await openTelling(t)
  const { id: webhookId } = await make()
  await record(2)
  const now = clock.now()
  const claim = { webhookId, now, until: now + 40_000, limit: 10 }
  const first = (await run('claimWebhookDeliveries', claim))!
  assert.is(first.deliveries.length, 2)
  assert.is((await run('claimWebhookDeliveries', claim))!.deliveries.length, 0)
  start(() => 200).note(webhookId, clock.now())
  clock.advance(40_000)
  await until(() => all().every(({ success }) => success === 1))
  assert.is(requests.length, 2)
  const { id } = first.deliveries[0]!
  const late = {
    ...{ webhookId, id, attempt: 1, startedAt: now, durationMs: 1, url: 'https://hooks.example/' },
    ...{ success: false, responseStatus: 500, responseBody: null, error: null, nextAt: clock.now() },
  }
  assert.is(await run('finishWebhookAttempt', late), 'stale')
  assert.ok(all().every(({ success, attempts }) => success === 1 && attempts === 2))
})

test('dispatcher: a held delivery is not leased again when the clock passes its lease, and counts no extra attempt', async t => {
  const { clock, start, make, record, all, requests } = await openTelling(t)
  await make()
  const answers: (() => void)[] = []
  start(() => new Promise(resolve => answers.push(() => resolve(200))))
  await record(6)
  await until(() => requests.length === 4 && all().every(({ lease_until }) => lease_until !== null))
  clock.jump(60_000)
  await record()
  await settled()
  for (let taken = 0; taken < 7; taken++) {
    await until(() => answers.length > 0)
    answers.shift()!()
  }
  await until(() => all().every(({ success }) => success === 1))
  assert.equal(
    all().map(({ attempts }) => attempts),
    Array(7).fill(1),
  )
  assert.is(requests.length, 7)
})

test('dispatcher: an attempt that breaks off by an internal fault is repeated after its lease', async t => {
  const { clock, start, make, record, all, requests, errors } = await openTelling(t)
  await make()
  start(() => {
    if (requests.length === 1) throw new TypeError('a fault of ours')
    return 200
  })
  await record()
  await until(() => errors.length === 1)
  clock.advance(40_000)
  await until(() => all().every(({ success }) => success === 1))
  assert.equal([requests.length, all()[0]!.attempts], [2, 2])
})

test('dispatcher: the first 4 KB of any response are stored', async t => {
  const { start, make, record, all } = await openTelling(t)
  await make()
  start(() => reply(200, `a\0b${'x'.repeat(5_000)}`))
  await record()
  await until(() => all().every(({ success }) => success === 1))
  assert.is(all()[0]!.response_body, `a\ufffdb${'x'.repeat(4_093)}`)
})

test('dispatcher: stop releases deliveries that have not ended', async t => {
  const { start, make, record, all, requests, clock } = await openTelling(t)
  await make()
  const dispatcher = start(() => new Promise(() => {}))
  await record(20)
  await until(() => requests.length === 4)
  const stopped = dispatcher.stop(1_000)
  clock.advance(1_000)
  await stopped
  const rows = all()
  assert.ok(
    rows.every(
      ({ state, lease_until, next_at }) => state === 0 && lease_until === null && next_at <= clock.now(),
    ),
  )
  assert.equal(rows.map(({ attempts }) => attempts).toSorted(), [...Array(16).fill(0), ...Array(4).fill(1)])
  assert.ok(
    rows.every(({ attempts, next_at }) => attempts > 0 || next_at === STORE_EPOCH),
    'what was not begun keeps its place',
  )
})

test('dispatcher: stop releases deliveries that are being leased', async t => {
  const { start, make, record, all, requests, clock } = await openTelling(t)
  const { id } = await make()
  await record(3)
  const dispatcher = start(() => 200)
  dispatcher.note(id, clock.now())
  const stopped = dispatcher.stop(0)
  clock.advance(0)
  await stopped
  await record() // after whatever the dispatcher has asked of the store
  assert.equal(
    all().map(({ lease_until, attempts }) => [lease_until, attempts]),
    Array(4).fill([null, 0]),
  )
  assert.is(requests.length, 0)
})

test('dispatcher: a pause ends what has begun and starts nothing that was leased, until it is resumed', async t => {
  const { start, make, record, all, requests, clock } = await openTelling(t)
  const { id } = await make()
  const answers: (() => void)[] = []
  let isWaiting = true
  const dispatcher = start(() => (isWaiting ? new Promise(resolve => answers.push(() => resolve(200))) : 200))
  await record(20)
  await until(
    () => requests.length === 4 && all().filter(({ lease_until }) => lease_until !== null).length > 4,
  )
  dispatcher.pause()
  for (const answer of answers) answer()
  await until(() => all().every(({ lease_until }) => lease_until === null))
  dispatcher.note(id, clock.now())
  await settled()
  assert.is(requests.length, 4)
  assert.equal(
    all()
      .map(({ success, attempts }) => [success, attempts])
      .toSorted(),
    [...Array(16).fill([0, 0]), ...Array(4).fill([1, 1])],
  )
  isWaiting = false
  dispatcher.resume()
  await until(() => all().every(({ success }) => success === 1))
  assert.is(requests.length, 20)
})

test('dispatcher: hanging endpoints do not delay others, however many they are', async t => {
  const { start, make, record, requests, all } = await openTelling(t)
  const stuck = Array.from({ length: 70 }, () => newId(STORE_EPOCH))
  start(({ url }) => (url.includes('stuck') ? new Promise(() => {}) : 200))
  for (const account of stuck) {
    await make('https://stuck.example/', account)
    await record(5, 'contact.created', account)
  }
  await make('https://good.example/')
  await record(100)
  await until(() => requests.filter(({ url }) => url.includes('good')).length === 100)
  await until(() => all().filter(({ success }) => success === 1).length >= 50)
})

test('dispatcher: failing endpoints take turns, and a working one waits for none of them', async t => {
  const { start, make, record, requests, all, clock } = await openTelling(t)
  const hosts = Array.from({ length: 8 }, (_, i) => `bad-${i}.example`)
  start(({ url }) => (url.includes('bad') ? 500 : 200))
  for (const host of hosts) {
    const account = newId(STORE_EPOCH)
    await make(`https://${host}/`, account)
    await record(12, 'contact.created', account)
  }
  const tries = (host: string) => requests.filter(({ url }) => url.includes(`//${host}/`)).length
  const nothingLeased = () => all().every(({ lease_until }) => lease_until === null)
  await until(() => hosts.every(host => tries(host) >= 5) && nothingLeased())
  const before = hosts.map(tries)
  assert.ok(
    before.every(count => count <= 8),
    `${before}`,
  )
  await make('https://good.example/')
  await record(300)
  await until(() => tries('good.example') === 300 && nothingLeased())
  assert.equal(hosts.map(tries), before, 'nothing more is tried at those that fail')
  const turns: string[] = []
  for (let turn = 1; turn <= 2 * hosts.length; turn++) {
    const { length } = requests
    clock.advance(PROBE_INTERVAL_MS)
    await until(() => requests.length > length && nothingLeased())
    assert.is(requests.length, length + 1)
    turns.push(requests.at(-1)!.url)
  }
  assert.equal([new Set(turns).size, turns.slice(hosts.length)], [hosts.length, turns.slice(0, hosts.length)])
})

test('dispatcher: the oldest delivery of a failing endpoint is attempted first', async t => {
  const { start, make, record, requests, all, pass } = await openTelling(t)
  await make()
  start(() => 503)
  await record(12)
  await pass(() => requests.length >= 7)
  await record(8)
  const first = new Set(
    all()
      .slice(0, 12)
      .map(({ event_id }) => wireId('evt', event_id as Id)),
  )
  await pass(() => requests.length >= 20)
  const tried = requests.map(({ headers }) => String(headers!['svc-id']))
  assert.equal(new Set(tried.slice(0, 12)), first)
  assert.is(new Set(tried.slice(0, 20)).size, 20)
})

test('dispatcher: a failing endpoint is tried at once after a change, and gets a growing window when it works', async t => {
  const { start, make, record, requests, all, webhooks, clock } = await openTelling(t)
  const { id } = await make('https://wrong.example/')
  start(({ url }) => (url.includes('wrong') ? 404 : 200))
  await record(60)
  await until(() => requests.length >= 5 && all().every(({ lease_until }) => lease_until === null))
  const failed = requests.length
  await webhooks.change(ACCOUNT, id, { url: 'https://right.example/' })
  await until(() => requests.length === 60 && all().every(({ lease_until }) => lease_until === null))
  assert.ok(requests.slice(failed).every(({ url }) => url === 'https://right.example/'))
  clock.advance(6_000)
  await until(() => requests.length === 60 + failed)
})

test('dispatcher: a test event that succeeds ends the pause of its endpoint', async t => {
  const { webhooks, tests, start, make, record, all, pass } = await openTelling(t)
  const { id } = await make()
  let status = 500
  start(() => status)
  await record(8)
  await pass(() => all().filter(({ attempts }) => attempts > 0).length >= 5)
  status = 200
  tests.answer = () => 404
  const failed = await webhooks.test(ACCOUNT, id, undefined)
  assert.ok(typeof failed !== 'string' && failed.responseStatus === 404 && failed.attempts === 1)
  tests.answer = () => 200
  const sent = await webhooks.test(ACCOUNT, id, undefined)
  assert.ok(typeof sent !== 'string' && sent.success === 1)
  await until(() => all().filter(({ success }) => success === 1).length >= 2)
})

test('dispatcher: a failing endpoint gets one request at a time, a working one many', async t => {
  const { start, make, record, pass, all } = await openTelling(t)
  await make()
  let underWay = 0
  let highest = 0
  let status = 500
  start(async () => {
    highest = Math.max(highest, ++underWay)
    await new Promise(setImmediate)
    underWay--
    return status
  })
  await record(12)
  await pass(() => all().every(({ attempts }) => attempts > 0))
  assert.is(highest, 4)
  highest = 0
  await pass(() => all().every(({ attempts, lease_until }) => attempts > 1 && lease_until === null))
  assert.is(highest, 1)
  status = 200
  highest = 0
  await record(200)
  await pass(() => highest > 0)
  await until(() => all().length === 50 || all().every(({ state, attempts }) => state === 1 || attempts > 1))
  assert.ok(highest > 4 && highest <= 32, `${highest}`)
})

test('dispatcher: a webhook without success for five days is disabled, and a notice is due', async t => {
  const { start, make, record, clock, rest, requests, rows } = await openTelling(t)
  await make()
  start(() => 503)
  await record()
  await rest()
  clock.advance(5 * DAY_MS - 1_000)
  await until(() => requests.length === 2)
  await rest()
  assert.equal(rows('select enabled from webhooks'), [{ enabled: 1 }])
  await record()
  await until(() => requests.length === 3)
  clock.advance(6_000)
  await until(() => rows('select enabled from webhooks where enabled = 0').length)
  assert.equal(rows('select disabled_at, disabled_reason, notice_due, failing_since from webhooks'), [
    { disabled_at: clock.now(), disabled_reason: 'failing', notice_due: 1, failing_since: STORE_EPOCH },
  ])
  const { length } = rows('select id from webhook_deliveries')
  await record()
  assert.is(rows('select id from webhook_deliveries').length, length)
})

test('dispatcher: a single success resets the failures', async t => {
  const { start, make, record, clock, rest, rows } = await openTelling(t)
  await make()
  let status = 500
  start(() => status)
  await record()
  await rest()
  assert.equal(rows('select failing_since from webhooks'), [{ failing_since: STORE_EPOCH }])
  status = 299
  clock.advance(6_000)
  await until(() => rows('select id from webhooks where failing_since is null').length)
})

test('dispatcher: the newest 50 finished deliveries and all waiting ones are kept', async t => {
  const { start, make, record, clock, all } = await openTelling(t)
  await make()
  let count = 0
  start(() => (++count <= 5 ? 500 : 200))
  await record(5)
  await until(() => count === 5 && all().every(({ lease_until }) => lease_until === null))
  clock.advance(PROBE_INTERVAL_MS)
  for (let i = 0; i < 4; i++) await record(60)
  await until(() => count === 245 && all().every(({ lease_until }) => lease_until === null))
  assert.equal([all().length, all().filter(({ state }) => state === 0).length], [55, 5])
  clock.advance(6_000)
  await until(() => all().length === 50)
})

test('dispatcher: subscriptions are exact, even after a change that was rolled back', async t => {
  const { make, record, run, webhooks, all, clock, group, rows } = await openTelling(t)
  await record()
  assert.is(all().length, 0)
  assert.is(rows('select id from events').length, 0)
  const { id } = await make()
  await record()
  assert.is(all().length, 1)
  const input = { accountId: ACCOUNT, at: clock.now() }
  const { replies } = await group(
    { name: 'recordAndFail', input },
    { name: 'record', input: { ...input, type: 'contact.created', count: 1 } },
  )
  assert.equal(
    replies.map(({ ok }) => ok),
    [false, true],
  )
  assert.is(all().length, 2)
  await webhooks.change(ACCOUNT, id, { events: ['contact.deleted'] })
  await record()
  assert.is(all().length, 2)
  await record(1, 'contact.deleted')
  assert.is(all().length, 3)
  await record(1, 'contact.deleted', newId(STORE_EPOCH))
  assert.is(all().length, 3)
  await run('deleteWebhook', { accountId: ACCOUNT, id })
  await record(1, 'contact.deleted')
  assert.is(all().length, 3)
})

test.run()
