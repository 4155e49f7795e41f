import * as assert from 'uvu/assert'
import { firstIdAt } from '../../../../src/lib/ids.ts'
import { readRecord } from '../../../../src/resources/emails/attempt-record.ts'
import { findEmailParts } from '../../../../src/resources/emails/email-rows.ts'
import { eventsAfter, listEvents } from '../../../../src/resources/emails/event-rows.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { endings, finishFor, postOver } from '../../../kit/mail.ts'
import { openLocalStore, outputOf } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const LEASE_MS = 15 * 60_000
const test = suite('queue/finish')
const RETRY = { class: DELIVERY_CLASS.retry }

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const types = () =>
    store.rows<{ type: string }>('select type from events order by id').map(({ type }) => type)
  const delivery = () =>
    store.rows(
      'select state, status, class, attempts, lease_owner as owner, lease_until as until from deliveries',
    )[0]
  return { ...store, ...post, accountId, types, delivery }
}

test('finish: a delivered attempt stores lease, attempt, event and status together', async t => {
  const { run, send, claim, accountId, clock, rows, types, delivery } = await open(t)
  await send(accountId)
  const [claimed] = await claim(accountId)
  clock.advance(500)
  assert.is(await run('finish', finishFor(claimed!, clock.now())), true)
  assert.equal(delivery(), { state: 2, status: 'delivered', class: 0, attempts: 1, owner: null, until: null })
  assert.equal(rows('select last_attempt_at from deliveries'), [{ last_attempt_at: clock.now() }])
  assert.equal(rows('select number, started_at, finished_at, outcome from attempts'), [
    { number: 1, started_at: clock.now() - 100, finished_at: clock.now(), outcome: 'delivered' },
  ])
  const [{ record }] = rows<{ record: Uint8Array }>('select record from attempts') as [{ record: Uint8Array }]
  assert.equal(readRecord(record), {
    ...{ phase: 'final-dot', reply: '250 taken', mxHost: 'mx.there.test', mxIp: '192.0.2.1' },
    ...{ tls: null, transcript: null },
  })
  assert.equal(types(), ['email.sent', 'email.delivered'])
  assert.equal(rows('select status, sent_at, last_event_at from emails'), [
    { status: 'delivered', sent_at: clock.now() - 100, last_event_at: clock.now() },
  ])
})

test('finish: the data of a delivery event is stored once with its attempt, and read by email and by account', async t => {
  const store = await open(t)
  const { run, send, claim, accountId, clock, rows, db, find } = store
  await send(accountId, { to: ['one@there.test', 'two@there.test'] })
  for (const claimed of await claim(accountId)) {
    clock.advance(500)
    await run('finish', finishFor(claimed, clock.now(), endings.deferred(clock.now())))
  }
  clock.advance(60_000)
  const claimed = await claim(accountId, 'there.test', RETRY)
  for (const [i, one] of claimed.entries()) await run('finish', finishFor(one, clock.now() + i))
  const delivered = "type = 'email.delivered'"
  assert.equal(rows(`select data, length(packed) as length from events where ${delivered}`), [
    { data: '{}', length: 5 },
    { data: '{}', length: 5 },
  ])
  const told = JSON.stringify({
    delivery: {
      ...{ mx_host: 'mx.there.test', mx_ip: '192.0.2.1', tls: null, reply: '250 taken' },
      duration_ms: 100,
    },
  })
  const { events } = await listEvents(store, accountId, 0, { limit: 10, after: undefined, before: undefined })
  const since = await eventsAfter({ db, find }, accountId, firstIdAt(0), { until: null, limit: 10 })
  const parts = await findEmailParts(store, accountId, claimed[0]!.emailId, 0)
  for (const list of [events, since, parts!.events]) {
    const found = list.filter(({ type }) => type === 'email.delivered')
    assert.equal(found.map(({ recipient, data, packed }) => [recipient, data, packed]).toSorted(), [
      ['one@there.test', told, null],
      ['two@there.test', told, null],
    ])
  }
})

test('finish: an event stays readable while its email is being deleted', async t => {
  const store = await open(t)
  const { run, send, claim, accountId, clock, change } = store
  await send(accountId)
  const [claimed] = await claim(accountId)
  await run('finish', finishFor(claimed!, clock.now()))
  change('delete from attempts')
  const { events } = await listEvents(store, accountId, 0, { limit: 10, after: undefined, before: undefined })
  assert.equal(
    events.map(({ type, data }) => [type, data]),
    [
      ['email.delivered', '{}'],
      ['email.sent', '{}'],
    ],
  )
})

test('finish: a deferred attempt returns the delivery to the retry class and announces when it is due', async t => {
  const { run, send, claim, accountId, clock, rows, types, delivery, announced } = await open(t)
  await send(accountId)
  const [claimed] = await claim(accountId)
  const before = announced('due').length
  const at = clock.now() + 60_000
  await run('finish', finishFor(claimed!, clock.now(), endings.deferred(clock.now())))
  assert.equal(delivery(), {
    state: 0,
    status: 'delivery_delayed',
    class: DELIVERY_CLASS.retry,
    attempts: 1,
    owner: null,
    until: null,
  })
  assert.equal(rows('select next_at from deliveries'), [{ next_at: at }])
  assert.equal(announced('due').slice(before), [
    { domain: 'there.test', class: DELIVERY_CLASS.retry, accountId, at },
  ])
  assert.equal(types(), ['email.sent', 'email.delivery_delayed'])
  assert.equal(rows('select status from emails'), [{ status: 'delivery_delayed' }])
})

test('finish: only the first deferral of a recipient is an event; all attempts are stored', async t => {
  const { run, send, claim, accountId, clock, rows, types } = await open(t)
  await send(accountId)
  let [claimed] = await claim(accountId)
  for (let i = 0; i < 3; i++) {
    await run('finish', finishFor(claimed!, clock.now(), endings.deferred(clock.now())))
    clock.advance(60_000)
    ;[claimed] = await claim(accountId, 'there.test', RETRY)
  }
  assert.is(claimed!.attempt, 4)
  await run('finish', finishFor(claimed!, clock.now()))
  assert.equal(types(), ['email.sent', 'email.delivery_delayed', 'email.delivered'])
  assert.equal(rows('select number, outcome from attempts order by number'), [
    { number: 1, outcome: 'deferred' },
    { number: 2, outcome: 'deferred' },
    { number: 3, outcome: 'deferred' },
    { number: 4, outcome: 'delivered' },
  ])
})

test('finish: each recipient gets its own delay event', async t => {
  const { run, send, claim, accountId, clock, rows } = await open(t)
  await send(accountId, { to: ['a@there.test', 'b@there.test'] })
  for (const claimed of await claim(accountId))
    await run('finish', finishFor(claimed, clock.now(), endings.deferred(clock.now())))
  assert.equal(rows("select recipient from events where type = 'email.delivery_delayed' order by id"), [
    { recipient: 'a@there.test' },
    { recipient: 'b@there.test' },
  ])
})

test('finish: a bounce suppresses the folded address once, and only when requested', async t => {
  const { run, send, claim, accountId, clock, rows } = await open(t)
  await send(accountId, { to: ['Gone@there.test', 'other@there.test'] })
  const [gone, other] = await claim(accountId)
  await run('finish', finishFor(gone!, clock.now(), { ...endings.bounced(), suppress: true }))
  await run('finish', finishFor(other!, clock.now(), endings.bounced('550 5.7.1 not like this')))
  await send(accountId, { to: ['x@there.test'] })
  const [again] = await claim(accountId)
  await run(
    'finish',
    finishFor({ ...again!, address: 'gone@there.test' }, clock.now(), {
      ...endings.bounced(),
      suppress: true,
    }),
  )
  assert.equal(rows('select email, reason from suppressions'), [
    { email: 'gone@there.test', reason: 'bounce' },
  ])
})

test('finish: a result with a lost lease is not stored', async t => {
  const { run, send, claim, accountId, clock, rows, types, delivery } = await open(t)
  await send(accountId)
  const [stale] = await claim(accountId)
  await run('reclaimLeases', { owner: 'tester', now: clock.now(), leaseMs: LEASE_MS })
  const [fresh] = await claim(accountId)
  const before = [delivery(), types(), rows('select * from counters'), rows('select * from attempts')]
  const finish = finishFor(stale!, clock.now(), { ...endings.bounced(), suppress: true })
  assert.is(await run('finish', finish), false)
  assert.equal([delivery(), types(), rows('select * from counters'), rows('select * from attempts')], before)
  assert.equal(rows('select * from suppressions'), [])
  assert.is(await run('finish', finishFor(fresh!, clock.now())), true)
})

test('finish: a result counts once, even twice in one group', async t => {
  const { group, send, claim, accountId, clock, rows, types } = await open(t)
  await send(accountId)
  const [claimed] = await claim(accountId)
  const input = finishFor(claimed!, clock.now())
  const { replies } = await group({ name: 'finish', input }, { name: 'finish', input })
  assert.equal(replies.map(outputOf), [true, false])
  assert.is((await group({ name: 'finish', input })).replies.map(outputOf)[0], false)
  assert.equal(types(), ['email.sent', 'email.delivered'])
  assert.is(rows('select * from attempts').length, 1)
})

test('finish: a delivery that was not claimed or does not exist cannot be finished', async t => {
  const { run, send, claim, accountId, clock, delivery } = await open(t)
  await send(accountId)
  const [claimed] = await claim(accountId)
  const { accountId: account, emailId, ordinal, attempt } = claimed!
  await run('release', { accountId: account, emailId, ordinal, attempt })
  assert.is(await run('finish', finishFor(claimed!, clock.now())), false)
  assert.is(await run('finish', finishFor({ ...claimed!, ordinal: 7 }, clock.now())), false)
  assert.equal((delivery() as { status: string }).status, 'queued')
})

test('finish: valid and stale results of one group are told apart', async t => {
  const { group, send, claim, accountId, clock, rows } = await open(t)
  await send(accountId, { to: ['a@there.test', 'b@there.test', 'c@there.test'] })
  const claimed = await claim(accountId)
  const { replies } = await group(
    ...claimed.map((delivery, i) => ({
      name: 'finish',
      input: finishFor({ ...delivery, attempt: i === 1 ? 9 : delivery.attempt }, clock.now()),
    })),
  )
  assert.equal(replies.map(outputOf), [true, false, true])
  assert.equal(rows('select status from deliveries order by ordinal'), [
    { status: 'delivered' },
    { status: 'queued' },
    { status: 'delivered' },
  ])
  assert.equal(rows('select status from emails'), [{ status: 'sent' }])
})

test('finish: signatures are stored with the delivery; an attempt without a message keeps the former ones', async t => {
  const { run, send, claim, accountId, clock, rows } = await open(t)
  await send(accountId)
  const [first] = await claim(accountId)
  const signed = { ...endings.deferred(clock.now()), signedAt: 4711, signatures: '[{"keyId":"key_1"}]' }
  await run('finish', finishFor(first!, clock.now(), signed))
  clock.advance(60_000)
  const [second] = await claim(accountId, 'there.test', RETRY)
  await run('finish', finishFor(second!, clock.now(), endings.failed('the email is gone')))
  assert.equal(rows('select signed_at, signatures from deliveries'), [
    { signed_at: 4711, signatures: '[{"keyId":"key_1"}]' },
  ])
})

test('finish: an attempt in progress marks its email as sent once', async t => {
  const { run, send, accountId, clock, rows, types } = await open(t)
  const emailId = await send(accountId)
  const at = clock.now()
  await run('handedOver', { accountId, emailId, at })
  await run('handedOver', { accountId, emailId, at: at + 1_000 })
  assert.equal(types(), ['email.sent'])
  assert.equal(rows('select status, sent_at, last_event_at from emails'), [
    { status: 'sent', sent_at: at, last_event_at: at },
  ])
  assert.equal(rows("select kind, count from counters where kind like 'emails.%' and count <> 0"), [
    { kind: 'emails.sent', count: 1 },
  ])
})

test('finish: an event stored during the attempt is not stored again with the result', async t => {
  const { run, send, claim, accountId, clock, types } = await open(t)
  const emailId = await send(accountId)
  const [claimed] = await claim(accountId)
  await run('handedOver', { accountId, emailId, at: clock.now() })
  await run('finish', finishFor(claimed!, clock.now() + 5_000))
  assert.equal(types(), ['email.sent', 'email.delivered'])
})

test('finish: an unknown email, or one of another account, is not marked as handed over', async t => {
  const { run, send, account, accountId, clock, rows, types } = await open(t)
  const emailId = await send(accountId)
  await run('handedOver', { accountId: account('Other'), emailId, at: clock.now() })
  await run('handedOver', { accountId, emailId: new Uint8Array(16), at: clock.now() })
  assert.equal(types(), [])
  assert.equal(rows('select status from emails'), [{ status: 'queued' }])
})

test.run()
