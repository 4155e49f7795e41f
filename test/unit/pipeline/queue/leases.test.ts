import * as assert from 'uvu/assert'
import { idText } from '../../../../src/lib/ids.ts'
import type { LeaseRef } from '../../../../src/pipeline/queue/commands.ts'
import { listActiveHolds } from '../../../../src/pipeline/queue/hold-rows.ts'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { endings, finishFor, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const LEASE_MS = 15 * 60_000
const test = suite('queue/leases')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const states = () =>
    store.rows(
      'select address, state, attempts, next_at - ? as due from deliveries order by address',
      post.clock.now(),
    )
  return { ...store, ...post, accountId, states }
}

const leaseOf = ({ accountId, emailId, ordinal, attempt }: ClaimedDelivery): LeaseRef => ({
  accountId,
  emailId,
  ordinal,
  attempt,
})

test('leases: a returned lease leaves the delivery as it was before the claim', async t => {
  const { run, send, claim, accountId, rows, states } = await open(t)
  await send(accountId)
  const before = rows('select * from deliveries')
  const [claimed] = await claim(accountId)
  await run('release', leaseOf(claimed!))
  assert.equal(rows('select * from deliveries'), before)
  const [again] = await claim(accountId)
  assert.is(again!.attempt, 1)
  assert.equal(states(), [{ address: 'rcpt@there.test', state: 1, attempts: 1, due: 0 }])
})

test('leases: a returned retry keeps its class, due time and attempts', async t => {
  const { run, send, claim, accountId, clock, rows } = await open(t)
  await send(accountId)
  const [first] = await claim(accountId)
  await run('finish', finishFor(first!, clock.now(), endings.deferred(clock.now())))
  const before = rows('select * from deliveries')
  clock.advance(60_000)
  const [second] = await claim(accountId, 'there.test', { class: DELIVERY_CLASS.retry })
  await run('release', leaseOf(second!))
  assert.equal(rows('select * from deliveries'), before)
})

test('leases: only the current owner can return a lease', async t => {
  const { run, send, claim, accountId, clock, rows } = await open(t)
  await send(accountId)
  const [first] = await claim(accountId)
  await run('reclaimLeases', { owner: null, now: clock.now(), leaseMs: LEASE_MS })
  const [second] = await claim(accountId)
  const before = rows('select * from deliveries')
  await run('release', leaseOf(first!))
  await run('release', { ...leaseOf(second!), ordinal: 3 })
  assert.equal(rows('select * from deliveries'), before)
  await run('finish', finishFor(second!, clock.now()))
  const done = rows('select * from deliveries')
  await run('release', leaseOf(second!))
  assert.equal(rows('select * from deliveries'), done)
})

test('leases: one group can return many leases, some of them twice', async t => {
  const { group, send, claim, accountId, states } = await open(t)
  await send(accountId, { to: ['a@there.test', 'b@there.test', 'c@there.test'] })
  const claimed = await claim(accountId)
  const { replies } = await group(
    ...[...claimed.slice(0, 2), claimed[0]!].map(delivery => ({ name: 'release', input: leaseOf(delivery) })),
  )
  assert.ok(replies.every(({ ok }) => ok))
  assert.equal(states(), [
    { address: 'a@there.test', state: 0, attempts: 0, due: 0 },
    { address: 'b@there.test', state: 0, attempts: 0, due: 0 },
    { address: 'c@there.test', state: 1, attempts: 1, due: 0 },
  ])
})

test('leases: reclaiming an owner’s leases makes its deliveries due, with unknown attempts', async t => {
  const { run, send, claim, accountId, clock, rows, states, announced } = await open(t)
  await send(accountId, { to: ['a@there.test', 'b@there.test', 'c@there.test'] })
  const startedAt = clock.now()
  await claim(accountId, 'there.test', { owner: 'dead', limit: 2 })
  await claim(accountId, 'there.test', { owner: 'alive', limit: 1 })
  const before = announced('due').length
  clock.advance(20_000)
  assert.is(await run('reclaimLeases', { owner: 'dead', now: clock.now(), leaseMs: LEASE_MS }), 2)
  assert.equal(states(), [
    { address: 'a@there.test', state: 0, attempts: 1, due: 0 },
    { address: 'b@there.test', state: 0, attempts: 1, due: 0 },
    { address: 'c@there.test', state: 1, attempts: 1, due: -20_000 },
  ])
  assert.equal(rows('select ordinal, number, outcome, started_at, finished_at from attempts'), [
    { ordinal: 0, number: 1, outcome: 'unknown', started_at: startedAt, finished_at: null },
    { ordinal: 1, number: 1, outcome: 'unknown', started_at: startedAt, finished_at: null },
  ])
  const due = { domain: 'there.test', class: 0, accountId: Buffer.from(accountId), at: clock.now() }
  assert.equal(announced('due').slice(before), [due, due])
  assert.equal(rows('select lease_owner from deliveries where state = 0 and lease_owner is not null'), [])
})

test('leases: with the policy `hold`, each email that may have arrived gets its own hold', async t => {
  const { run, send, claim, accountId, clock, rows, states, announced, db } = await open(t)
  const both = await send(accountId, { to: ['a@there.test', 'b@there.test'] })
  const other = await send(accountId, { to: ['c@there.test'] })
  await send(accountId, { to: ['d@there.test'] })
  const words = { domain: null, accountId: null, broadcastId: null, emailId: other }
  const admin = createQueueAdmin({ db, run, clock, newId })
  await claim(accountId, 'there.test', { owner: 'dead', limit: 3 })
  await admin.hold(words, 'mine')
  const before = announced('due').length
  const input = { owner: null, now: clock.now(), leaseMs: LEASE_MS, onUnknown: 'hold' } as const
  assert.is(await run('reclaimLeases', input), 3)

  assert.equal(rows('select ordinal, outcome from attempts order by email_id, ordinal'), [
    { ordinal: 0, outcome: 'unknown' },
    { ordinal: 1, outcome: 'unknown' },
    { ordinal: 0, outcome: 'unknown' },
  ])
  const heldNow = (await listActiveHolds(db)).map(({ emailId, reason }) => [idText(emailId!), reason])
  const reason = 'the service ended in the middle of an attempt: it may have arrived'
  assert.equal(
    heldNow.sort(),
    [
      [idText(both), reason],
      [idText(other), 'mine'],
    ].sort(),
  )
  assert.is(announced('due').length, before)
  assert.equal(
    (await claim(accountId)).map(({ address }) => address),
    ['d@there.test'],
  )

  await admin.recover()
  assert.equal(
    rows<{ state: number }>('select state from deliveries order by address').map(({ state }) => state),
    [4, 4, 4, 1],
  )
  await admin.release({ ...words, emailId: both })
  assert.equal(states().slice(0, 3), [
    { address: 'a@there.test', state: 0, attempts: 1, due: 0 },
    { address: 'b@there.test', state: 0, attempts: 1, due: 0 },
    { address: 'c@there.test', state: 4, attempts: 1, due: 0 },
  ])
  assert.equal(await admin.cancel(words), { deliveries: 1, hasMore: false })
  assert.equal(
    (await claim(accountId)).map(({ attempt }) => attempt),
    [2, 2],
  )
})

test('leases: a start reclaims the leases of all owners', async t => {
  const { run, send, claim, accountId, clock } = await open(t)
  await send(accountId, { to: ['a@there.test', 'b@there.test', 'c@far.test'] })
  await claim(accountId, 'there.test', { owner: 'one', limit: 1 })
  await claim(accountId, 'there.test', { owner: 'two', limit: 1 })
  assert.is(await run('reclaimLeases', { owner: null, now: clock.now(), leaseMs: LEASE_MS }), 2)
  assert.is(await run('reclaimLeases', { owner: null, now: clock.now(), leaseMs: LEASE_MS }), 0)
  assert.equal(
    (await claim(accountId)).map(({ attempt }) => attempt),
    [2, 2],
  )
})

test('leases: a reclaimed delivery continues with the same class and status and the next attempt number', async t => {
  const { run, send, claim, accountId, clock, rows } = await open(t)
  await send(accountId)
  const [first] = await claim(accountId)
  await run('finish', finishFor(first!, clock.now(), endings.deferred(clock.now())))
  clock.advance(60_000)
  await claim(accountId, 'there.test', { class: DELIVERY_CLASS.retry })
  await run('reclaimLeases', { owner: null, now: clock.now(), leaseMs: LEASE_MS })
  const [third] = await claim(accountId, 'there.test', { class: DELIVERY_CLASS.retry })
  assert.is(third!.attempt, 3)
  await run('finish', finishFor(third!, clock.now()))
  assert.equal(rows('select number, outcome from attempts order by number'), [
    { number: 1, outcome: 'deferred' },
    { number: 2, outcome: 'unknown' },
    { number: 3, outcome: 'delivered' },
  ])
})

test('leases: an attempt that was returned and claimed again is recorded as unknown once lost', async t => {
  const { run, send, claim, accountId, clock, rows } = await open(t)
  await send(accountId)
  const [first] = await claim(accountId)
  await run('release', leaseOf(first!))
  await claim(accountId)
  await run('reclaimLeases', { owner: null, now: clock.now(), leaseMs: LEASE_MS })
  const [again] = await claim(accountId)
  assert.is(again!.attempt, 2)
  assert.equal(rows('select number, outcome from attempts'), [{ number: 1, outcome: 'unknown' }])
})

test.run()
