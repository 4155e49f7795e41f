import * as assert from 'uvu/assert'
import { endings, finishFor, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('events/recipients')

/** An email that has been delivered to a@ and b@. */
async function openDelivered(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const emailId = await post.send(accountId, { to: ['A@there.test', 'b@there.test'] })
  for (const delivery of await post.claim(accountId))
    await store.run('finish', finishFor(delivery, post.clock.now()))
  post.clock.advance(1_000)
  const ref = (ordinal: number) => ({ accountId, emailId, ordinal, at: post.clock.now() })
  const email = () =>
    store.rows(
      'select status, error, open_count, click_count, last_event_at from emails where id = ?',
      emailId,
    )[0]
  const events = () =>
    store.rows<{ type: string; recipient: string }>(
      'select type, recipient from events where created_at = ? order by id',
      post.clock.now(),
    )
  return { ...store, ...post, accountId, emailId, ref, email, events }
}

const details = { complaint: { type: 'abuse' } }

test('complaint: it sets the email to complained and suppresses the address', async t => {
  const { run, ref, email, events, rows, clock } = await openDelivered(t)
  assert.is(await run('complain', { ...ref(0), data: details, suppress: true }), true)
  assert.equal(email(), {
    status: 'complained',
    error: null,
    open_count: 0,
    click_count: 0,
    last_event_at: clock.now(),
  })
  assert.equal(events(), [{ type: 'email.complained', recipient: 'A@there.test' }])
  assert.equal(rows('select email, reason from suppressions'), [
    { email: 'a@there.test', reason: 'complaint' },
  ])
  assert.equal(rows('select status from deliveries order by ordinal'), [
    { status: 'complained' },
    { status: 'delivered' },
  ])
})

test('complaint: a second one of a recipient is ignored', async t => {
  const { run, ref, events } = await openDelivered(t)
  const complain = (ordinal: number) => run('complain', { ...ref(ordinal), data: details, suppress: false })
  assert.equal([await complain(0), await complain(0), await complain(1)], [true, false, true])
  assert.is(events().length, 2)
})

test('complaint: one about an unknown delivery is ignored', async t => {
  const { run, ref, events, rows } = await openDelivered(t)
  assert.is(await run('complain', { ...ref(9), data: details, suppress: true }), false)
  const unknown = { ...ref(0), emailId: new Uint8Array(16) }
  assert.is(await run('complain', { ...unknown, data: details, suppress: true }), false)
  assert.equal(events(), [])
  assert.equal(rows('select * from suppressions'), [])
})

test('complaint: one about a delivery without attempt is ignored', async t => {
  const { run, send, claim, suppress, accountId, clock, rows } = await openDelivered(t)
  suppress(accountId, 'x@there.test')
  const emailId = await send(accountId, { to: ['x@there.test', 'y@there.test'] })
  const complain = (ordinal: number) =>
    run('complain', { accountId, emailId, ordinal, at: clock.now(), data: details, suppress: true })
  assert.equal([await complain(0), await complain(1)], [false, false])
  await claim(accountId)
  assert.equal([await complain(0), await complain(1)], [false, true])
  assert.equal(rows('select status from deliveries where email_id = ? order by ordinal', emailId), [
    { status: 'suppressed' },
    { status: 'complained' },
  ])
})

test('complaint: one with another account changes nothing', async t => {
  const { run, ref, account, email, rows } = await openDelivered(t)
  const foreign = { ...ref(0), accountId: account('Other') }
  assert.is(await run('complain', { ...foreign, data: details, suppress: true }), false)
  assert.is((email() as { status: string }).status, 'delivered')
  assert.equal(rows('select distinct status from deliveries'), [{ status: 'delivered' }])
  assert.equal(rows('select * from suppressions'), [])
})

test('complaint: it is recorded for an address that is suppressed already', async t => {
  const { run, ref, suppress, accountId, rows } = await openDelivered(t)
  suppress(accountId, 'a@there.test')
  await run('complain', { ...ref(0), data: details, suppress: true })
  assert.equal(rows('select reason from suppressions'), [{ reason: 'manual' }])
})

test('complaint: it ends a delivery that is being retried', async t => {
  const { run, send, claim, accountId, clock, rows } = await openDelivered(t)
  const emailId = await send(accountId, { to: ['x@there.test'] })
  const [delivery] = await claim(accountId)
  await run('finish', finishFor(delivery!, clock.now(), endings.deferred(clock.now())))
  await run('complain', { accountId, emailId, ordinal: 0, at: clock.now(), data: details, suppress: false })
  clock.advance(60_000)
  assert.equal(await claim(accountId, 'there.test', { class: 2 }), [])
  assert.equal(rows('select status, state from deliveries where address = ?', 'x@there.test'), [
    { status: 'complained', state: 2 },
  ])
})

test('opens and clicks: they are counted and recorded, and change no status', async t => {
  const { run, ref, email, events, rows, clock } = await openDelivered(t)
  const click = { link: 'https://there.test/', ip_address: '192.0.2.1' }
  await run('opened', { ...ref(0), data: { open: {} } })
  await run('opened', { ...ref(1), data: { open: {} } })
  await run('clicked', { ...ref(1), data: { click } })
  assert.equal(email(), {
    status: 'delivered',
    error: null,
    open_count: 2,
    click_count: 1,
    last_event_at: clock.now(),
  })
  assert.equal(events(), [
    { type: 'email.opened', recipient: 'A@there.test' },
    { type: 'email.opened', recipient: 'b@there.test' },
    { type: 'email.clicked', recipient: 'b@there.test' },
  ])
  const [stored] = rows<{ data: string }>("select data from events where type = 'email.clicked'")
  assert.equal(JSON.parse(stored!.data), { click })
})

test('opens and clicks: the other emails of the account keep their counts and times', async t => {
  const { run, ref, send, accountId, account, domain, emailId, rows } = await openDelivered(t)
  const other = account('Other')
  domain(other, 'other.test')
  await send(accountId)
  await send(other, { from: 'a@other.test' })
  const others = () =>
    rows('select open_count, click_count, last_event_at from emails where id <> ? order by id', emailId)
  const before = others()
  for (const command of ['opened', 'clicked'] as const) await run(command, { ...ref(0), data: {} })
  assert.is(before.length, 2)
  assert.equal(others(), before)
})

test('opens and clicks: those with another account or unknown delivery are ignored', async t => {
  const { run, ref, account, email, events } = await openDelivered(t)
  const foreign = { ...ref(0), accountId: account('Other') }
  for (const command of ['opened', 'clicked'] as const) {
    await run(command, { ...foreign, data: {} })
    await run(command, { ...ref(7), data: {} })
  }
  assert.equal(events(), [])
  const { open_count, click_count } = email() as { open_count: number; click_count: number }
  assert.equal([open_count, click_count], [0, 0])
})

test.run()
