import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import type { MailSelector } from '../../../../src/store/model/schema/steering.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { endings, finishFor, HOUR_MS, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/holds')

const ALL_MAIL: MailSelector = { domain: null, accountId: null, broadcastId: null, emailId: null }

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const admin = createQueueAdmin({ db: store.db, run: store.run, clock: post.clock, newId })
  const send = (...to: string[]) => post.send(accountId, { to })
  const claim = (domain = 'there.test', deliveryClass: number = DELIVERY_CLASS.transactional) =>
    post.claim(accountId, domain, { class: deliveryClass })
  return {
    ...store,
    ...post,
    admin,
    accountId,
    send,
    claim,
    claimed: async (domain?: string) => (await claim(domain)).map(({ address }) => address),
    states: () =>
      Object.fromEntries(
        store
          .rows<{ address: string; state: number }>('select address, state from deliveries')
          .map(({ address, state }) => [address, state]),
      ),
    inBroadcast: (emailId: Id, broadcastId: Id) =>
      store.change('update emails set broadcast_id = ? where id = ?', broadcastId, emailId),
    heard: () => store.announced('due').length,
  }
}

test('holds: mail to a held domain is not claimed until the release, even when queued later', async t => {
  const { admin, send, claimed, states } = await open(t)
  await send('a@there.test', 'b@far.test')
  const { isNew } = await admin.hold({ ...ALL_MAIL, domain: 'there.test' }, 'they asked us to wait')
  assert.is(isNew, true)
  await send('c@there.test')
  assert.equal(await claimed(), [])
  assert.equal(await claimed('far.test'), ['b@far.test'])
  assert.equal(states(), { 'a@there.test': 0, 'b@far.test': 1, 'c@there.test': 0 })
  await admin.release({ ...ALL_MAIL, domain: 'there.test' })
  assert.equal(await claimed(), ['a@there.test', 'c@there.test'])
})

test('holds: one account can be held while others continue', async t => {
  const { admin, send, claimed, claim: _, accountId, ...rest } = await open(t)
  const other = rest.account('Other')
  rest.domain(other, 'other.test')
  await send('a@there.test')
  await admin.hold({ ...ALL_MAIL, accountId }, null)
  assert.equal(await claimed(), [])
  const { submit } = rest
  await submit(other, { from: 'x@other.test', to: ['z@there.test'] })
  const theirs = await rest.run('claim', {
    queueKeys: [
      { domain: 'there.test', class: 0, accountId, limit: 9 },
      { domain: 'there.test', class: 0, accountId: other, limit: 9 },
    ],
    owner: 'tester',
    now: rest.clock.now(),
    leaseUntil: rest.clock.now() + 1,
  })
  assert.equal(
    theirs.map(({ deliveries, nextAt }) => [deliveries.map(({ address }) => address), nextAt]),
    [
      [[], null],
      [['z@there.test'], null],
    ],
  )
})

test('holds: one email is held with its retries; the rest of its queue key continues', async t => {
  const { admin, send, claimed, claim, states, run, clock } = await open(t)
  const first = await send('a@there.test')
  await send('b@there.test')
  const [a, b] = await claim()
  await admin.hold({ ...ALL_MAIL, emailId: first }, null)
  const at = clock.now()
  for (const delivery of [a!, b!]) await run('finish', finishFor(delivery, at, endings.deferred(at)))
  clock.advance(60_000)
  assert.equal(
    (await claim('there.test', DELIVERY_CLASS.retry)).map(({ address, attempt }) => [address, attempt]),
    [['b@there.test', 2]],
  )
  assert.equal(states(), { 'a@there.test': 4, 'b@there.test': 1 })
  await admin.release({ ...ALL_MAIL, emailId: first })
  assert.equal(
    (await claim('there.test', DELIVERY_CLASS.retry)).map(({ address, attempt }) => [address, attempt]),
    [['a@there.test', 2]],
  )
  assert.equal(await claimed(), [])
})

test('holds: a held broadcast sends nothing and does not block its queue key', async t => {
  const { admin, send, claimed, inBroadcast, states, clock } = await open(t)
  const broadcastId = newId(clock.now())
  for (const name of ['a', 'b']) inBroadcast(await send(`${name}@there.test`), broadcastId)
  inBroadcast(await send('other@there.test'), newId(clock.now()))
  await send('none@there.test')
  await admin.hold({ ...ALL_MAIL, broadcastId, domain: 'there.test' }, null)
  assert.equal(await claimed(), ['other@there.test', 'none@there.test'])
  assert.equal([states()['a@there.test'], states()['b@there.test']], [4, 4])
  await admin.release({ ...ALL_MAIL, broadcastId, domain: 'there.test' })
  assert.equal(await claimed(), ['a@there.test', 'b@there.test'])
})

test('holds: mail of a sender domain and its subdomains is held, the rest of its queue key continues', async t => {
  const { admin, claimed, states, submit, domain, accountId, send } = await open(t)
  const from = async (name: string, to: string) => {
    domain(accountId, name)
    await submit(accountId, { from: `x@${name}`, to: [to] })
  }
  await send('a@there.test')
  await from('bad.test', 'b@there.test')
  await from('news.bad.test', 'c@there.test')
  await from('notbad.test', 'd@there.test')
  await admin.hold({ ...ALL_MAIL, senderDomain: 'bad.test' }, null)
  assert.equal(await claimed(), ['a@there.test', 'd@there.test'])
  assert.equal([states()['b@there.test'], states()['c@there.test']], [4, 4])
  assert.is(await admin.release({ ...ALL_MAIL, senderDomain: 'news.bad.test' }), undefined)
  await admin.release({ ...ALL_MAIL, senderDomain: 'bad.test' })
  assert.equal(await claimed(), ['b@there.test', 'c@there.test'])
})

test('holds: a banned domain is held until the ban is lifted, which takes neither a release nor a hold', async t => {
  const { admin, claimed, send } = await open(t)
  await send('a@there.test')
  const hold = { ...ALL_MAIL, senderDomain: 'here.test' }
  assert.is((await admin.ban('here.test', 'phishing')).isNew, true)
  const again = await admin.ban('here.test', 'other')
  assert.equal([again.isNew, again.ban.reason], [false, 'phishing'])
  assert.is(await admin.release(hold), undefined)
  assert.equal(await claimed(), [])
  await admin.hold(hold, null)
  assert.is(await admin.unban('here.test'), true)
  assert.equal(await claimed(), [], 'the hold of the operator is still in force')
  await admin.release(hold)
  assert.equal(await claimed(), ['a@there.test'])
  assert.is(await admin.unban('here.test'), false)
})

test('holds: mail under two holds waits for the release of both', async t => {
  const { admin, send, claimed } = await open(t)
  const emailId = await send('a@there.test')
  await admin.hold({ ...ALL_MAIL, emailId }, null)
  assert.equal(await claimed(), [])
  await admin.hold({ ...ALL_MAIL, domain: 'there.test' }, null)
  await admin.release({ ...ALL_MAIL, emailId })
  assert.equal(await claimed(), [])
  await admin.release({ ...ALL_MAIL, domain: 'there.test' })
  assert.equal(await claimed(), ['a@there.test'])
})

test('holds: a hold exists once and is released by the same selector', async t => {
  const { admin, rows } = await open(t)
  const first = await admin.hold({ ...ALL_MAIL, domain: 'there.test' }, 'one')
  const second = await admin.hold({ ...ALL_MAIL, domain: 'there.test' }, 'two')
  assert.equal([second.isNew, second.hold.reason], [false, 'one'])
  assert.equal(second.hold.id, Buffer.from(first.hold.id))
  assert.is(await admin.release({ ...ALL_MAIL, domain: 'far.test' }), undefined)
  assert.ok(await admin.release({ ...ALL_MAIL, domain: 'there.test' }))
  assert.is(await admin.release({ ...ALL_MAIL, domain: 'there.test' }), undefined)
  assert.is(rows('select 1 from queue_holds where released_at is null').length, 0)
})

test('holds: the lifetime of held mail is extended by the union of its holds', async t => {
  const { admin, send, claim, clock } = await open(t)
  await send('a@there.test')
  const expiresAt = clock.now() + 48 * HOUR_MS
  await admin.hold({ ...ALL_MAIL, domain: 'there.test' }, null)
  clock.advance(10 * HOUR_MS)
  await admin.hold({ ...ALL_MAIL, domain: 'far.test' }, null)
  const [before] = await claim('far.test')
  assert.is(before, undefined)
  clock.advance(50 * HOUR_MS)
  await admin.release({ ...ALL_MAIL, domain: 'there.test' })
  const [delivery] = await claim()
  assert.is(delivery!.expiresAt, expiresAt + 60 * HOUR_MS)
})

test('holds: mail queued during a hold is extended only by its own part of it', async t => {
  const { admin, send, claim, clock, accountId } = await open(t)
  await admin.hold({ ...ALL_MAIL, domain: 'there.test' }, null)
  clock.advance(HOUR_MS)
  await admin.hold({ ...ALL_MAIL, accountId }, null)
  clock.advance(HOUR_MS)
  await send('a@there.test')
  const expiresAt = clock.now() + 48 * HOUR_MS
  clock.advance(HOUR_MS)
  await admin.release({ ...ALL_MAIL, domain: 'there.test' })
  clock.advance(HOUR_MS)
  await admin.release({ ...ALL_MAIL, accountId })
  assert.is((await claim())[0]!.expiresAt, expiresAt + 2 * HOUR_MS)
})

test('holds: held mail does not expire while its destination is down', async t => {
  const { admin, send, run, rows, clock, accountId } = await open(t)
  const emailId = await send('a@there.test')
  await send('b@there.test')
  const queueKey = { domain: 'there.test', class: 0, accountId }
  const expire = () => run('expireWaiting', { queueKey, now: clock.now(), limit: 9, reason: 'down' })
  await admin.hold({ ...ALL_MAIL, emailId }, null)
  clock.advance(49 * HOUR_MS)
  assert.is(await expire(), 1)
  assert.equal(rows('select address, status from deliveries order by address'), [
    { address: 'a@there.test', status: 'queued' },
    { address: 'b@there.test', status: 'failed' },
  ])
  await admin.release({ ...ALL_MAIL, emailId })
  clock.advance(47 * HOUR_MS)
  assert.is(await expire(), 0)
  clock.advance(2 * HOUR_MS)
  assert.is(await expire(), 1)
})

test('holds: mail left behind by an interrupted release is resumed at the next start', async t => {
  const { admin, send, claimed, states, run, heard, clock } = await open(t)
  const emailId = await send('a@there.test')
  await admin.hold({ ...ALL_MAIL, emailId }, null)
  assert.equal(await claimed(), [])
  await run('releaseHold', { selector: { ...ALL_MAIL, emailId }, now: clock.now() })
  assert.equal(states(), { 'a@there.test': 4 })
  const before = heard()
  await admin.recover()
  assert.equal(states(), { 'a@there.test': 0 })
  assert.is(heard(), before + 1)
})

test('holds: holds are deleted 30 days after their release', async t => {
  const { admin, rows, clock } = await open(t)
  await admin.hold({ ...ALL_MAIL, domain: 'there.test' }, null)
  await admin.release({ ...ALL_MAIL, domain: 'there.test' })
  clock.advance(31 * 24 * HOUR_MS)
  await admin.hold({ ...ALL_MAIL, domain: 'far.test' }, null)
  await admin.release({ ...ALL_MAIL, domain: 'far.test' })
  assert.equal(rows('select domain from queue_holds'), [{ domain: 'far.test' }])
})

test('holds: a release announces the queue keys it affects, and no others', async t => {
  const { admin, send, announced, accountId, account } = await open(t)
  await send('a@there.test', 'b@far.test')
  await admin.hold({ ...ALL_MAIL, accountId }, null)
  const before = announced('due').length
  const other = account('Other')
  await admin.hold({ ...ALL_MAIL, accountId: other }, null)
  await admin.release({ ...ALL_MAIL, accountId: other })
  assert.is(announced('due').length, before)
  await admin.release({ ...ALL_MAIL, accountId })
  assert.equal(
    announced('due')
      .slice(before)
      .map(queueKey => (queueKey as { domain: string }).domain),
    ['far.test', 'there.test'],
  )
})

test.run()
