import * as assert from 'uvu/assert'
import { idText } from '../../../../src/lib/ids.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { planOf } from '../../../kit/database.ts'
import { endings, finishFor, HOUR_MS, postOver, SIMULATOR } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/claim')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  return { ...store, ...post, accountId }
}

const deliveries =
  'select address, state, status, attempts, lease_owner as owner from deliveries order by address'

test('claim: a claimed delivery is leased to the owner, with the number of its attempt', async t => {
  const { send, claim, accountId, rows, clock } = await open(t)
  const emailId = await send(accountId, { to: ['a@there.test'] })
  const [claimed] = await claim(accountId, 'there.test', { owner: 'me' })
  const { source, ...delivery } = claimed!
  assert.equal(idText(delivery.emailId), idText(emailId))
  assert.equal([source?.subject, source?.content], ['Hello', { html: null, text: 'Hello there.' }])
  assert.equal(
    { ...delivery, emailId: 0, accountId: 0 },
    {
      emailId: 0,
      ordinal: 0,
      accountId: 0,
      address: 'a@there.test',
      domain: 'there.test',
      class: DELIVERY_CLASS.transactional,
      simulated: 0,
      attempt: 1,
      expiresAt: clock.now() + 48 * HOUR_MS,
    },
  )
  assert.equal(rows(deliveries), [
    { address: 'a@there.test', state: 1, status: 'queued', attempts: 1, owner: 'me' },
  ])
  assert.equal(rows('select lease_until from deliveries'), [{ lease_until: clock.now() + 900_000 }])
})

test('claim: a claimed delivery tells whether it goes to the simulator', async t => {
  const { send, claim, accountId } = await open(t)
  await send(accountId, { to: ['a@there.test', `a@${SIMULATOR}`] })
  const [real] = await claim(accountId, 'there.test')
  const [simulated] = await claim(accountId, SIMULATOR)
  assert.equal([real!.simulated, simulated!.simulated], [0, 1])
})

test('claim: a leased delivery is not claimed by another owner', async t => {
  const { send, claim, accountId } = await open(t)
  for (let i = 0; i < 10; i++) await send(accountId, { to: [`a${i}@there.test`] })
  const claims = await Promise.all(
    Array.from({ length: 5 }, (_, i) => claim(accountId, 'there.test', { owner: `owner ${i}`, limit: 3 })),
  )
  const addresses = claims.flat().map(({ address }) => address)
  assert.is(addresses.length, 10)
  assert.is(new Set(addresses).size, 10)
})

test('claim: the oldest due deliveries come first, up to the limit', async t => {
  const { send, claim, accountId, change, clock } = await open(t)
  for (const name of ['a', 'b', 'c', 'd']) await send(accountId, { to: [`${name}@there.test`] })
  for (const [name, ms] of [
    ['a', -10],
    ['b', -30],
    ['c', -20],
    ['d', 1],
  ] as const)
    change('update deliveries set next_at = ? where address = ?', clock.now() + ms, `${name}@there.test`)
  const names = async (limit: number) =>
    (await claim(accountId, 'there.test', { limit })).map(({ address }) => address[0]).sort()
  assert.equal(await names(2), ['b', 'c'])
  assert.equal(await names(5), ['a'])
  clock.advance(1)
  assert.equal(await names(5), ['d'])
})

test('claim: the result contains the next due time of the queue key', async t => {
  const { run, send, accountId, clock } = await open(t)
  const dueAt = clock.now()
  await send(accountId, { to: ['a@there.test', 'b@there.test'] })
  const queueKey = { domain: 'there.test', class: 0, accountId }
  const claim = (limit: number) =>
    run('claim', {
      queueKeys: [{ ...queueKey, limit }],
      owner: 'me',
      now: clock.now(),
      leaseUntil: clock.now() + 1,
    })
  const [first] = await claim(1)
  assert.equal([first!.deliveries.length, first!.nextAt], [1, dueAt])
  const [second] = await claim(5)
  assert.equal([second!.deliveries.length, second!.nextAt], [1, null])
  const at = clock.now() + 1_000
  await run('finish', finishFor(second!.deliveries[0]!, clock.now(), endings.deferred(clock.now(), 1_000)))
  const [third] = await run('claim', {
    queueKeys: [{ ...queueKey, class: DELIVERY_CLASS.retry, limit: 5 }],
    owner: 'me',
    now: clock.now(),
    leaseUntil: clock.now() + 1,
  })
  assert.equal([third!.deliveries.length, third!.nextAt], [0, at])
})

test('claim: results are in the order of the queue keys; domain, class and account separate them', async t => {
  const { run, send, accountId, account, domain, clock } = await open(t)
  const other = account('Other')
  domain(other, 'elsewhere.test')
  await send(accountId, { to: ['a@there.test', 'b@far.test'] })
  await send(other, { from: 'x@elsewhere.test', to: ['c@there.test'] })
  const queueKey = (name: string, id: Uint8Array, deliveryClass = 0) => ({
    domain: name,
    class: deliveryClass,
    accountId: id,
    limit: 10,
  })
  const claims = await run('claim', {
    queueKeys: [
      queueKey('far.test', accountId),
      queueKey('there.test', other),
      queueKey('there.test', accountId, 2),
      queueKey('nowhere.test', accountId),
      queueKey('there.test', accountId),
    ],
    owner: 'me',
    now: clock.now(),
    leaseUntil: clock.now() + 1,
  })
  assert.equal(
    claims.map(claim => claim.deliveries.map(({ address }) => address)),
    [['b@far.test'], ['c@there.test'], [], [], ['a@there.test']],
  )
})

test('claim: a delivery to a meanwhile suppressed address is finished instead of leased', async t => {
  const { send, claim, suppress, accountId, rows } = await open(t)
  await send(accountId, { to: ['A@there.test', 'b@there.test'] })
  suppress(accountId, 'a@there.test')
  const claimed = await claim(accountId)
  assert.equal(
    claimed.map(({ address }) => address),
    ['b@there.test'],
  )
  assert.equal(rows(deliveries), [
    { address: 'A@there.test', state: 2, status: 'suppressed', attempts: 0, owner: null },
    { address: 'b@there.test', state: 1, status: 'queued', attempts: 1, owner: 'tester' },
  ])
  assert.equal(rows('select type, recipient from events'), [
    { type: 'email.suppressed', recipient: 'A@there.test' },
  ])
  assert.equal(rows('select status, error from emails'), [
    { status: 'queued', error: 'The address is on the suppression list.' },
  ])
  assert.equal(rows('select * from attempts'), [])
})

test('claim: an email is suppressed when all recipients are suppressed before the first attempt', async t => {
  const { send, claim, suppress, accountId, rows } = await open(t)
  await send(accountId, { to: ['a@there.test', 'b@there.test'] })
  suppress(accountId, 'a@there.test')
  suppress(accountId, 'b@there.test')
  assert.equal(await claim(accountId), [])
  assert.equal(rows('select status, sent_at from emails'), [{ status: 'suppressed', sent_at: null }])
  assert.equal(rows("select kind, count from counters where kind like 'emails.%' and count <> 0"), [
    { kind: 'emails.suppressed', count: 1 },
  ])
})

test('claim: a suppression of another account has no effect', async t => {
  const { send, claim, suppress, account, accountId } = await open(t)
  await send(accountId, { to: ['a@there.test'] })
  suppress(account('Other'), 'a@there.test')
  assert.is((await claim(accountId)).length, 1)
})

test('claim: a deferred delivery that is then suppressed keeps its number of attempts', async t => {
  const { run, send, claim, suppress, accountId, rows, clock } = await open(t)
  await send(accountId, { to: ['a@there.test'] })
  const [first] = await claim(accountId)
  await run('finish', finishFor(first!, clock.now(), endings.deferred(clock.now())))
  suppress(accountId, 'a@there.test')
  clock.advance(60_000)
  assert.equal(await claim(accountId, 'there.test', { class: DELIVERY_CLASS.retry }), [])
  assert.equal(rows('select status, attempts from deliveries'), [{ status: 'suppressed', attempts: 1 }])
  assert.equal(rows('select status from emails'), [{ status: 'suppressed' }])
})

test('claim: a failed claim leases nothing', async t => {
  const { group, send, accountId, rows, clock } = await open(t)
  await send(accountId, { to: ['a@there.test'] })
  const queueKey = { domain: 'there.test', class: 0, accountId, limit: 5 }
  const claim = { owner: 'me', now: clock.now(), leaseUntil: clock.now() + 1 }
  const { replies } = await group({
    name: 'claim',
    input: { ...claim, queueKeys: [queueKey, { ...queueKey, limit: {} }] },
  })
  assert.is(replies[0]!.ok, false)
  assert.equal(rows('select state, attempts from deliveries'), [{ state: 0, attempts: 0 }])
})

test('claim: claiming 100 of 20,000 deliveries reads only the claimed rows', async t => {
  const store = await open(t)
  const plan = planOf(
    store,
    `select email_id, ordinal from deliveries
     where state = 0 and domain = ? and class = ? and account_id = ? and next_at <= ? order by next_at limit ?`,
    'there.test',
    0,
    store.accountId,
    store.clock.now(),
    100,
  )
  assert.match(
    plan,
    /^SEARCH deliveries USING COVERING INDEX deliveries_due \(domain=\? AND class=\? AND account_id=\? AND next_at<\?\)$|^Limit .* Index Scan using deliveries_due .*Index Cond: .*domain = .*class = .*account_id = .*next_at <= /,
  )
})

test.run()
