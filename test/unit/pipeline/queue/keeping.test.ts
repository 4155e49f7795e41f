import * as assert from 'uvu/assert'
import type { UnknownPolicy } from '../../../../src/pipeline/queue/commands.ts'
import {
  leaseTerms,
  startLeaseKeeper,
  startLeaseWatch,
  trackLeases,
} from '../../../../src/pipeline/queue/leases.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { finishFor, postOver } from '../../../kit/mail.ts'
import { settled } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('queue/lease-keeping')
const { leaseMs } = leaseTerms(true, 'retry')

/** One delivery, leased by `holder`, and a store that can be made to fail. */
async function open(t: TestContext, { onUnknown = 'retry' }: { onUnknown?: UnknownPolicy } = {}) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const { clock } = post
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  await post.send(accountId, { to: ['a@there.test'] })
  const queueKey = { domain: 'there.test', class: 0, accountId, limit: 1 }
  const claim = async (owner: string) => {
    const input = { queueKeys: [queueKey], owner, now: clock.now(), leaseUntil: clock.now() + leaseMs }
    return (await store.run('claim', input))[0]!.deliveries[0]
  }
  const lease = (await claim('holder'))!
  const held = () => [lease]
  const state = { isDown: false, pendingCount: 0 }
  const run = (async (name: 'renewLeases', input: never) => {
    if (state.isDown) throw new StorageUnavailable('down')
    state.pendingCount++
    try {
      return await store.run(name, input)
    } finally {
      state.pendingCount--
    }
  }) as typeof store.run
  const errors: unknown[] = []
  const voided: number[] = []
  const watch = startLeaseWatch({
    onUnknown,
    run,
    clock,
    leaseMs,
    onReclaimed: count => void voided.push(count),
    onError: error => void errors.push(error),
  })
  t.after(watch.stop)
  /** Time passes in steps in which everybody gets a turn. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000)
      await until(() => state.pendingCount === 0)
      await settled()
    }
  }
  const leaseUntil = () =>
    store.rows<{ lease_until: number | null }>('select lease_until from deliveries')[0]!
  return { ...store, run, clock, accountId, claim, lease, held, state, errors, voided, pass, leaseUntil }
}

test('leases: a renewed lease is kept, however long the attempt takes', async t => {
  const { run, clock, held, pass, voided, claim, leaseUntil } = await open(t)
  const keeper = startLeaseKeeper({ run, clock, held, leaseMs, onError: assert.unreachable })
  await pass(10 * leaseMs)
  assert.equal(voided, [])
  assert.ok(leaseUntil().lease_until! > clock.now())
  assert.is(await claim('other'), undefined)
  await keeper.stop()
})

test('leases: an expired lease is reclaimed, and its holder cannot finish', async t => {
  const { pass, voided, claim, lease, run } = await open(t)
  await pass(leaseMs - 6_000)
  assert.equal(voided, [])
  await pass(12_000)
  await until(() => voided.length > 0)
  assert.equal(voided, [1])
  const again = await claim('other')
  assert.is(again!.attempt, lease.attempt + 1)
  const { accountId, emailId, ordinal, attempt } = lease
  await run('release', { accountId, emailId, ordinal, attempt })
  assert.is(await claim('third'), undefined)
})

test('leases: with the policy `hold`, a delivery with a reclaimed lease is held', async t => {
  const { pass, voided, claim, rows } = await open(t, { onUnknown: 'hold' })
  await pass(leaseMs + 6_000)
  await until(() => voided.length > 0)
  assert.is(await claim('other'), undefined)
  assert.equal(rows('select state from deliveries'), [{ state: 4 }])
})

test('leases: no lease is reclaimed after a database outage before all holders could renew', async t => {
  const { run, clock, held, pass, voided, state, errors, leaseUntil } = await open(t)
  const missed: unknown[] = []
  const keeper = startLeaseKeeper({
    run,
    clock,
    held,
    leaseMs,
    onError: error => void missed.push(error),
  })
  state.isDown = true
  await pass(3 * leaseMs)
  assert.ok(errors.length > 0 && missed.length > 0)
  assert.ok(leaseUntil().lease_until! < clock.now(), 'it has run out')
  state.isDown = false
  await pass(2 * leaseMs)
  assert.equal(voided, [])
  assert.ok(leaseUntil().lease_until! > clock.now(), 'it has been renewed')
  await keeper.stop()
})

test('leases: a lease that expired during a suspension is renewed, even if the watch runs first', async t => {
  const { run, clock, held, pass, voided, state, leaseUntil } = await open(t)
  const keeper = startLeaseKeeper({ run, clock, held, leaseMs, onError: assert.unreachable })
  await pass(2 * leaseMs)
  clock.advance(2 * leaseMs)
  await until(() => state.pendingCount === 0)
  await settled()
  await pass(10_000)
  assert.equal(voided, [])
  assert.ok(leaseUntil().lease_until! > clock.now())
  await keeper.stop()
})

test('leases: a lease that expired by a clock change is renewed, however soon the watch runs again', async t => {
  const { run, clock, held, pass, voided, leaseUntil } = await open(t)
  clock.advance(500)
  const keeper = startLeaseKeeper({ run, clock, held, leaseMs, onError: assert.unreachable })
  await pass(2 * leaseMs + 1_000)
  clock.jump(2 * leaseMs)
  await pass(20_000)
  assert.equal(voided, [])
  assert.ok(leaseUntil().lease_until! > clock.now())
  await keeper.stop()
})

test('leases: a worker holds a lease until it is finished or returned', async t => {
  const store = await open(t)
  const { run, accountId, clock } = store
  const leases = trackLeases(run)
  const post = postOver(store, { clock })
  await post.send(accountId, { to: ['b@there.test', 'c@there.test', 'd@there.test'] })
  const queueKey = { domain: 'there.test', class: 0, accountId, limit: 10 }
  const [claim] = await leases.run('claim', {
    queueKeys: [queueKey],
    owner: 'holder',
    now: clock.now(),
    leaseUntil: clock.now() + leaseMs,
  })
  const [finished, returned] = claim!.deliveries
  assert.is(leases.all().length, 3)
  await leases.run('finish', finishFor(finished!, clock.now()))
  const { emailId, ordinal, attempt } = returned!
  await leases.run('release', { accountId, emailId, ordinal, attempt })
  assert.equal(
    leases.all().map(lease => lease.ordinal),
    [claim!.deliveries[2]!.ordinal],
  )
})

test.run()
