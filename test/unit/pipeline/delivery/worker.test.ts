import * as assert from 'uvu/assert'
import { hashText } from '../../../../src/lib/hash.ts'
import type { DeliveryRoute } from '../../../../src/pipeline/delivery/route.ts'
import { readRecord } from '../../../../src/resources/emails/attempt-record.ts'
import { suite } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { openWorker } from './open-worker.ts'

const test = suite('delivery worker')

test('an accepted message is delivered and its result stored', async t => {
  const { send, when, mx, stored, rows } = await openWorker(t)
  await send('ok')
  await when('ok@there.test', 'delivered')
  assert.is(mx.messages.length, 1)
  assert.equal(mx.violations, [])
  await until(() => stored.length > 0)
  assert.equal(stored, ['ok@there.test delivered'])
  const [attempt] = rows<{ outcome: string; record: Uint8Array }>('select outcome, record from attempts')
  assert.equal([attempt!.outcome, readRecord(attempt!.record).mxHost], ['delivered', 'mx.there.test'])
})

test('a deferred delivery is retried when it is due', async t => {
  const { send, when, mx, clock, rows } = await openWorker(t)
  await send('grey-2')
  await when('grey-2@there.test', 'delivery_delayed')
  clock.advance(59_000)
  assert.is(mx.triesOf('grey-2@there.test'), 1)
  clock.advance(1_000)
  await until(() => mx.triesOf('grey-2@there.test') === 2)
  await until(() => rows('select 1 from deliveries where state = 0 and attempts = 2').length)
  clock.advance(6 * 60_000)
  await when('grey-2@there.test', 'delivered')
})

test('each recipient of an email has its own result', async t => {
  const { send, when, stored } = await openWorker(t)
  await send('ok', 'perm-550-511', 'defer-451')
  await when('ok@there.test', 'delivered')
  await when('perm-550-511@there.test', 'bounced')
  await when('defer-451@there.test', 'delivery_delayed')
  await until(() => stored.length === 3)
})

test('more destinations than slots are all served', async t => {
  const domains = Array.from({ length: 250 }, (_, i) => `d${i}.test`)
  const zone = domains.map(domain => `${domain} MX 10 mx.${domain}\nmx.${domain} A 127.0.0.2`).join('\n')
  const { mx, rows, sendTo } = await openWorker(t, { zone })
  for (let at = 0; at < 250; at += 50) await sendTo(domains.slice(at, at + 50).map(domain => `ok@${domain}`))
  await mx.waitFor(250)
  await until(() => rows("select 1 from deliveries where status <> 'delivered'").length === 0)
})

test('an internal error defers the delivery and does not leave it leased', async t => {
  let broken = true
  const { send, when, errors, clock, rows } = await openWorker(t, {
    make:
      ({ make }) =>
      (ref, now) =>
        broken ? Promise.reject(new Error('a blob cannot be read')) : make(ref, now),
  })
  await send('ok')
  await when('ok@there.test', 'delivery_delayed')
  assert.equal(errors, ['a blob cannot be read'])
  const [attempt] = rows<{ outcome: string; record: Uint8Array }>('select outcome, record from attempts')
  assert.equal([attempt!.outcome, readRecord(attempt!.record).reply], ['deferred', 'an internal error'])
  assert.equal(rows("select type from events where type like 'email.%'"), [
    { type: 'email.delivery_delayed' },
  ])
  broken = false
  clock.advance(60_000)
  await when('ok@there.test', 'delivered')
})

test('an email that no message can be built for fails', async t => {
  const { send, when, rows } = await openWorker(t, {
    make: () => async () => ({ reason: 'the email is gone' }),
  })
  await send('ok')
  await when('ok@there.test', 'failed')
  assert.equal(rows('select status, error, sent_at from emails'), [
    { status: 'failed', error: 'the email is gone', sent_at: null },
  ])
})

test('a full store delays deliveries and loses none', async t => {
  const { send, when, failing, errors, clock, mx } = await openWorker(t)
  failing.add('claim')
  await send('ok')
  await until(() => errors.length === 1)
  failing.clear()
  failing.add('finish')
  clock.advance(1_000)
  await mx.waitFor(1)
  await until(() => clock.timerCount > 0)
  failing.clear()
  for (let i = 0; i < 3; i++) {
    clock.advance(1_000)
    await new Promise(setImmediate)
  }
  await when('ok@there.test', 'delivered')
  assert.is(mx.messages.length, 1)
})

test('a slow first attempt sets its email to sent', async t => {
  const { send, mx, clock, rows } = await openWorker(t)
  await send('hang-after-data')
  await mx.until(/C: DATA/)
  clock.advance(1_000)
  await until(() => rows("select 1 from emails where status = 'sent'").length === 1)
})

test('queue keys of other threads are ignored', async t => {
  const { worker, mx, accountId, clock, forwarded } = await openWorker(t, { threadCount: 2 })
  const foreign = ['a.test', 'b.test', 'c.test', 'd.test'].find(domain => hashText(domain) % 2 === 1)!
  worker.addDue([{ domain: foreign, class: 0, accountId, at: clock.now() }])
  await new Promise(setImmediate)
  assert.is(mx.sessionCount, 0)
  assert.equal(forwarded, [])
})

test('a queue key whose destination belongs to another thread is forwarded with its route', async t => {
  const domains = Array.from({ length: 20 }, (_, i) => `d${i}.test`)
  const { worker, forwarded, accountId, clock } = await openWorker(t, {
    threadCount: 2,
    zone: domains.map(domain => `${domain} MX 10 mx.${domain}`).join('\n'),
  })
  const domain = domains.find(name => hashText(name) % 2 === 0 && hashText(`mx.${name}`) % 2 === 1)!
  worker.addDue([{ domain, class: 0, accountId, at: clock.now() - 5 }])
  await until(() => forwarded.length > 0)
  const [{ to, queueKey, route }] = forwarded as [(typeof forwarded)[0]]
  assert.equal(
    [to, queueKey.domain, queueKey.at, route.destination],
    [1, domain, clock.now(), `mx.${domain}`],
  )
})

test('a forwarded queue key uses the route that came with it', async t => {
  const { worker, send, when, accountId, clock } = await openWorker(t, {
    threadCount: 1,
    zone: 'mx.there.test A 127.0.0.2\nthere.test SERVFAIL',
  })
  const route: DeliveryRoute = {
    destination: 'mx.there.test',
    target: {
      kind: 'hosts',
      hostSet: 'mx.there.test',
      hosts: [{ name: 'mx.there.test', preference: 0 }],
    },
  }
  worker.addForwarded({ domain: 'there.test', class: 0, accountId, at: clock.now() }, route)
  await send('ok')
  await when('ok@there.test', 'delivered')
})

test('stop() lets attempts in progress end and returns leases that have not started', async t => {
  const { send, stop, mx, rows } = await openWorker(t)
  await send(...Array.from({ length: 12 }, (_, i) => `slow-dot-50+${i}`))
  await mx.until(/C: DATA/)
  await stop(60_000)
  const states = rows<{ state: number; attempts: number; status: string }>(
    'select state, attempts, status from deliveries',
  )
  assert.equal(rows('select 1 from deliveries where state = 1'), [])
  for (const { state, attempts, status } of states)
    assert.ok(
      (state === 2 && status === 'delivered') || (state === 0 && attempts === 0 && status === 'queued'),
    )
  assert.is(mx.messages.length, states.filter(({ state }) => state === 2).length)
  assert.ok(mx.messages.length > 0 && mx.messages.length < 12)
})

test('stop() waits no longer than the grace period, and attempts that hang keep their lease', async t => {
  const { send, stop, mx, clock, rows } = await openWorker(t)
  await send('hang-after-dot')
  await mx.until(/bytes of message/)
  const timerCount = clock.timerCount
  const stopping = stop(5_000)
  await until(() => clock.timerCount > timerCount)
  clock.advance(5_000)
  await stopping
  assert.equal(rows('select state, attempts from deliveries'), [{ state: 1, attempts: 1 }])
})

test.run()
