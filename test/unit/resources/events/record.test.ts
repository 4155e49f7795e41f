import * as assert from 'uvu/assert'
import type { Finish } from '../../../../src/pipeline/queue/commands.ts'
import { findEmailParts } from '../../../../src/resources/emails/email-rows.ts'
import { endings, finishFor, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('events/record')

async function open(t: TestContext, { region = 'us-west-2' } = {}) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test', { region })
  const email = () => store.rows('select status, error from emails')[0]
  const events = () =>
    store
      .rows<{ type: string; recipient: string | null }>('select type, recipient from events order by id')
      .map(({ type, recipient }) => [type, recipient?.[0]].filter(Boolean).join(' '))
  const counts = () =>
    Object.fromEntries(
      store
        .rows<{ kind: string; count: number }>(
          "select kind, count from counters where kind like 'emails.%' and count <> 0 order by kind",
        )
        .map(({ kind, count }) => [kind, count]),
    )
  /** Sends to a@, b@, … and leases them all. */
  const sendTo = async (...names: string[]) => {
    await post.send(accountId, { to: names.map(name => `${name}@there.test`) })
    return post.claim(accountId)
  }
  const finish = (delivery: Parameters<typeof finishFor>[0], over: Partial<Finish> = {}) =>
    store.run('finish', finishFor(delivery, post.clock.now(), over))
  return { ...store, ...post, accountId, email, events, counts, sendTo, finish }
}

test('delivery results: one sent event for a group, then one event per recipient', async t => {
  const { group, sendTo, clock, email, events, counts } = await open(t)
  const [a, b, c] = await sendTo('a', 'b', 'c')
  const now = clock.now()
  const { replies } = await group(
    { name: 'finish', input: finishFor(b!, now) },
    { name: 'finish', input: finishFor(a!, now, endings.bounced()) },
    { name: 'finish', input: finishFor(c!, now, endings.deferred(now)) },
  )
  assert.ok(replies.every(({ ok }) => ok))
  assert.equal(events(), ['email.sent', 'email.delivered b', 'email.bounced a', 'email.delivery_delayed c'])
  assert.equal(email(), { status: 'bounced', error: '550 5.1.1 no such user (mx.there.test)' })
  assert.equal(counts(), { 'emails.bounced': 1 })
})

test('delivery results: separate groups give the same events', async t => {
  const { sendTo, finish, clock, email, events, counts } = await open(t)
  const [a, b, c] = await sendTo('a', 'b', 'c')
  await finish(b!)
  assert.equal(email(), { status: 'sent', error: null })
  await finish(c!, endings.deferred(clock.now()))
  assert.equal(email(), { status: 'delivery_delayed', error: null })
  await finish(a!, endings.bounced())
  assert.equal(email(), { status: 'bounced', error: '550 5.1.1 no such user (mx.there.test)' })
  assert.equal(events(), ['email.sent', 'email.delivered b', 'email.delivery_delayed c', 'email.bounced a'])
  assert.equal(counts(), { 'emails.bounced': 1 })
})

test('delivery results: a late event has its place in the timeline', async t => {
  const { sendTo, run, clock, accountId, ...store } = await open(t)
  const [a, b] = await sendTo('a', 'b')
  const now = clock.now()
  await run('finish', finishFor(a!, now + 40, { handedOverAt: now }))
  await run('finish', finishFor(b!, now + 30, { handedOverAt: now }))
  const { events } = (await findEmailParts(store, accountId, a!.emailId, 0))!
  assert.equal(
    events.map(({ type, recipient, createdAt }) => [type, recipient, createdAt - now]),
    [
      ['email.sent', null, 0],
      ['email.delivered', 'b@there.test', 30],
      ['email.delivered', 'a@there.test', 40],
    ],
  )
})

test('delivery results: the error is the last reason and survives a later success', async t => {
  const { sendTo, finish, email } = await open(t)
  const [a, b, c] = await sendTo('a', 'b', 'c')
  await finish(a!, endings.bounced('first reason'))
  await finish(b!, endings.failed('second reason'))
  await finish(c!)
  assert.equal(email(), { status: 'bounced', error: 'second reason' })
})

test('delivery results: an email ends with its last delivery and later events do not move the end', async t => {
  const { run, sendTo, claim, finish, clock, accountId, rows } = await open(t)
  const endedAt = () => rows<{ ended_at: number | null }>('select ended_at from emails')[0]!.ended_at
  const [a, b, c] = await sendTo('a', 'b', 'c')
  await finish(a!, endings.bounced())
  await finish(b!)
  assert.is(endedAt(), null)
  await finish(c!, endings.deferred(clock.now(), 1_000))
  assert.is(endedAt(), null)
  clock.advance(3_600_000)
  const [again] = await claim(accountId, 'there.test', { class: 2 })
  await finish(again!)
  const end = clock.now()
  assert.is(endedAt(), end)
  clock.advance(1_000)
  const { emailId } = again!
  const ref = { accountId, emailId, at: clock.now(), data: {} }
  await run('complain', { ...ref, ordinal: 1, suppress: false })
  await run('opened', { ...ref, ordinal: 2 })
  assert.is(endedAt(), end)
})

test('delivery results: emails of a group are independent', async t => {
  const { group, send, claim, accountId, clock, rows, counts } = await open(t)
  for (const name of ['a', 'b', 'c']) await send(accountId, { to: [`${name}@there.test`] })
  const deliveries = await claim(accountId)
  const overs = [{}, endings.bounced(), endings.deferred(clock.now())]
  await group(
    ...deliveries.map((delivery, i) => ({
      name: 'finish',
      input: finishFor(delivery, clock.now(), overs[i]),
    })),
  )
  assert.equal(rows('select status from emails order by id'), [
    { status: 'delivered' },
    { status: 'bounced' },
    { status: 'delivery_delayed' },
  ])
  assert.equal(counts(), { 'emails.bounced': 1, 'emails.delivered': 1, 'emails.delivery_delayed': 1 })
})

test('delivery results: without a transfer there is no sent event', async t => {
  const { sendTo, finish, email, events } = await open(t)
  const [a] = await sendTo('a')
  await finish(a!, { ...endings.failed('the domain here.test is gone'), handedOverAt: null })
  assert.equal(events(), ['email.failed a'])
  assert.equal(email(), { status: 'failed', error: 'the domain here.test is gone' })
})

test('delivery results: the last event time is that of the last change', async t => {
  const { sendTo, finish, clock, rows } = await open(t)
  const [a, b] = await sendTo('a', 'b')
  await finish(a!)
  clock.advance(5_000)
  await finish(b!)
  assert.equal(rows('select last_event_at from emails'), [{ last_event_at: clock.now() }])
})

test('events: they keep their data and the order of recording', async t => {
  const { sendTo, finish, rows, clock } = await open(t)
  const [a] = await sendTo('a')
  const bounce = { type: 'Permanent', message: 'Grüße 💌', code: 550 }
  await finish(a!, { ...endings.bounced(), event: { type: 'email.bounced', data: { bounce } } })
  const stored = rows<{ data: string; created_at: number }>('select data, created_at from events order by id')
  assert.equal(
    stored.map(({ data }) => JSON.parse(data)),
    [{}, { bounce }],
  )
  assert.equal(
    stored.map(row => row.created_at - clock.now()),
    [-100, 0],
  )
})

test('without feedback: an email stays sent, without events or error', async t => {
  const { sendTo, finish, clock, rows, email, events, counts, run, accountId } = await open(t, {
    region: 'eu-west-1',
  })
  const [a, b, c, d] = await sendTo('a', 'b', 'c', 'd')
  await finish(a!)
  await finish(b!, { ...endings.bounced(), suppress: true })
  await finish(c!, endings.deferred(clock.now()))
  await finish(d!)
  await run('complain', {
    accountId,
    emailId: d!.emailId,
    ordinal: d!.ordinal,
    at: clock.now(),
    data: {},
    suppress: true,
  })
  assert.equal(events(), ['email.sent'])
  assert.equal(email(), { status: 'sent', error: null })
  assert.equal(counts(), { 'emails.sent': 1 })
  assert.equal(rows('select status from deliveries order by ordinal'), [
    { status: 'delivered' },
    { status: 'bounced' },
    { status: 'delivery_delayed' },
    { status: 'complained' },
  ])
  assert.equal(rows('select email, reason from suppressions order by email'), [
    { email: 'b@there.test', reason: 'bounce' },
    { email: 'd@there.test', reason: 'complaint' },
  ])
})

test('without feedback: an expiry after transfer is hidden, a failure before it is visible', async t => {
  const { sendTo, finish, clock, rows, email, events } = await open(t, { region: 'eu-west-1' })
  const [a, b] = await sendTo('a', 'b')
  const handed = { signedAt: clock.now(), handedOverAt: clock.now() }
  await finish(a!, { ...endings.failed(), ...handed })
  assert.equal(events(), ['email.sent'])
  assert.equal(email(), { status: 'sent', error: null })
  assert.equal(rows('select status from deliveries where ordinal = 0'), [{ status: 'failed' }])
  await finish(b!, { ...endings.failed('the email is gone'), handedOverAt: null })
  assert.equal(events(), ['email.sent', 'email.failed b'])
  assert.equal(email(), { status: 'failed', error: 'the email is gone' })
})

test('without feedback: the expiry of the only recipient leaves the email sent', async t => {
  const { sendTo, finish, clock, email, events, counts } = await open(t, { region: 'eu-west-1' })
  const [a] = await sendTo('a')
  await finish(a!, { ...endings.failed(), signedAt: clock.now() })
  assert.equal(events(), ['email.sent'])
  assert.equal(email(), { status: 'sent', error: null })
  assert.equal(counts(), { 'emails.sent': 1 })
})

test('without feedback: a suppressed recipient has an event with the reason', async t => {
  const { sendTo, finish, suppress, accountId, send, claim, email, events } = await open(t, {
    region: 'eu-west-1',
  })
  const [a] = await sendTo('a')
  await finish(a!)
  suppress(accountId, 'x@there.test')
  await send(accountId, { to: ['x@there.test'] })
  await claim(accountId)
  assert.equal(events(), ['email.sent', 'email.suppressed x'])
  assert.equal(email(), { status: 'sent', error: null })
})

test('without feedback: mail to the simulator has feedback in any region', async t => {
  const { send, claim, accountId, finish, email, events } = await open(t, { region: 'eu-west-1' })
  await send(accountId, { to: ['bounced@simulator.test'] })
  const [a] = await claim(accountId, 'simulator.test')
  await finish(a!, endings.bounced('550 5.1.1 no such user'))
  assert.equal(events(), ['email.sent', 'email.bounced b'])
  assert.equal(email(), { status: 'bounced', error: '550 5.1.1 no such user' })
})

test.run()
