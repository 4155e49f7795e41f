import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createPlans } from '../../../../src/resources/accounts/plans.ts'
import type { Find } from '../../../../src/store/reading/read.ts'
import { postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accounts/plans')
const DAY_MS = 86_400_000
const PLANS = {
  free: { retentionDays: 7, daily: 100, monthly: 3_000 },
  pro: { retentionDays: 30, daily: null, monthly: 50_000 },
  scale: { retentionDays: 90, daily: null, monthly: null },
}

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  let changed = (_: Id) => {}
  let lookUps = 0
  const find: Find = (...query) => {
    lookUps++
    return store.find(...query)
  }
  const plans = createPlans({
    plans: PLANS,
    find,
    clock: post.clock,
    onAccountChanged: listener => {
      changed = listener
    },
  })
  const move = (accountId: Id, plan: string) =>
    store.change('update accounts set plan = ? where id = ?', plan, accountId)
  const suspend = (accountId: Id, since: number | null) =>
    store.change('update accounts set suspended_at = ? where id = ?', since, accountId)
  return { ...post, plans, move, suspend, changed: (id: Id) => changed(id), lookUps: () => lookUps }
}

test('plans: quota and retention are those of the plan', async t => {
  const { plans, account, move, clock } = await open(t)
  const id = account()
  assert.equal([await plans.quotaOf(id), await plans.horizonOf(id)], [null, clock.now() - 90 * DAY_MS])
  const other = account()
  move(other, 'free')
  assert.equal(
    [await plans.quotaOf(other), await plans.horizonOf(other)],
    [{ daily: 100, monthly: 3_000 }, clock.now() - 7 * DAY_MS],
  )
})

test('plans: the plan is cached until the account changes', async t => {
  const { plans, account, move, changed, lookUps } = await open(t)
  const id = account()
  for (let i = 0; i < 5; i++) await plans.quotaOf(id)
  assert.is(lookUps(), 1)
  move(id, 'pro')
  changed(id)
  assert.equal(await plans.quotaOf(id), { daily: null, monthly: 50_000 })
  assert.is(lookUps(), 2)
})

test('plans: a suspended account is known as such until it changes', async t => {
  const { plans, account, suspend, changed } = await open(t)
  const id = account()
  assert.is(await plans.isSuspended(id), false)
  suspend(id, 1)
  changed(id)
  assert.is(await plans.isSuspended(id), true)
  suspend(id, null)
  changed(id)
  assert.is(await plans.isSuspended(id), false)
})

test('plans: a removed plan has no limits', async t => {
  const { plans, account, move } = await open(t)
  const id = account()
  move(id, 'gone')
  assert.equal([await plans.quotaOf(id), await plans.horizonOf(id)], [null, 0])
})

test('plans: a failed lookup is not cached', async t => {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const id = post.account()
  let broken = true
  const find: Find = (...query) => (broken ? Promise.reject(new Error('broken')) : store.find(...query))
  const plans = createPlans({ plans: PLANS, find, clock: post.clock, onAccountChanged: () => {} })
  const failed = await plans.horizonOf(id).catch(({ message }) => message)
  broken = false
  assert.equal([failed, await plans.quotaOf(id)], ['broken', null])
})

test.run()
