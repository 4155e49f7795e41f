import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createAccounts } from '../../../../src/resources/accounts/accounts.ts'
import { createPlans } from '../../../../src/resources/accounts/plans.ts'
import { insertRows } from '../../../kit/database.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { quickPasswords } from '../../../kit/quick-passwords.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accounts/accounts')
const PLANS = {
  free: { retentionDays: 7, daily: 100, monthly: 3_000 },
  scale: { retentionDays: 90, daily: null, monthly: null },
}

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const { clock } = postOver(store)
  const passwords = quickPasswords()
  const plans = createPlans({ plans: PLANS, find: store.find, clock, onAccountChanged: () => {} })
  const accounts = createAccounts({ ...store, clock, newId, passwords, plans })
  const created = async (name: string, plan = 'free') => {
    const made = await accounts.create({ name, plan, ownerEmail: `${name}@here.test` })
    if (made === 'taken') throw new Error(made)
    return { ...made, id: made.account.id }
  }
  const shown = async (id: Id) => {
    const { name, plan, ownerEmail } = (await accounts.find(id))!
    return [name, plan, ownerEmail]
  }
  /** Whether the password is that of the user. */
  const opens = async (email: string, password: string) => {
    const user = await store.db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()
    return passwords.verify(password, user?.passwordHash)
  }
  return { ...store, clock, accounts, created, shown, opens }
}

test('accounts: one has an owner, whose address no other user may have', async t => {
  const { accounts, created, shown, opens, db } = await open(t)
  const ann = await created('ann')
  assert.equal(await shown(ann.id), ['ann', 'free', 'ann@here.test'])
  assert.is(await opens('ann@here.test', ann.password), true)
  const again = { name: 'Other', plan: 'scale', ownerEmail: 'ann@here.test' }
  assert.is(await accounts.create(again), 'taken')
  const { total, rows } = await accounts.list({ limit: 10, offset: 0 })
  assert.equal([total, rows.map(({ name }) => name)], [1, ['ann']])
  assert.equal(
    (await db.selectFrom('users').select('operator').execute()).map(({ operator }) => operator),
    [0],
  )
})

test('accounts: a change leaves other accounts, and the fields that it does not name', async t => {
  const { accounts, created, shown, announced } = await open(t)
  const [ann, bob] = [await created('ann'), await created('bob')]
  const change = async (set: Parameters<typeof accounts.change>[1], id = ann.id) => {
    const result = await accounts.change(id, set)
    return typeof result === 'string' ? result : shown(id)
  }
  assert.equal(await change({ name: 'Ann' }), ['Ann', 'free', 'ann@here.test'])
  assert.equal(await change({ plan: 'scale' }), ['Ann', 'scale', 'ann@here.test'])
  assert.is(await change({ ownerEmail: 'bob@here.test', name: 'Not this' }), 'taken')
  assert.equal(await change({ ownerEmail: 'ann@here.test' }), ['Ann', 'scale', 'ann@here.test'])
  assert.equal(await change({ ownerEmail: 'new@here.test' }), ['Ann', 'scale', 'new@here.test'])
  assert.equal(await shown(bob.id), ['bob', 'free', 'bob@here.test'])
  assert.is(await change({ name: 'Nobody' }, newId(0)), 'missing')
  assert.equal(announced('account'), [ann.id, ann.id, ann.id, ann.id])
})

test('accounts: a new password of the owner ends the sessions of this user alone', async t => {
  const store = await open(t)
  const { accounts, created, opens, db, clock } = store
  const [ann, bob] = [await created('ann'), await created('bob')]
  const users = await db.selectFrom('users').select(['id', 'email']).orderBy('email').execute()
  insertRows(
    store,
    'sessions',
    users.map(({ id }, i) => ({
      ...{ id: newId(clock.now()), user_id: id, token_hash: new Uint8Array(32).fill(i), kind: 'cookie' },
      ...{ created_at: clock.now(), last_seen_at: clock.now() },
    })),
  )
  const password = (await accounts.resetPassword(ann.id))!
  assert.equal(
    [await opens('ann@here.test', password), await opens('ann@here.test', ann.password)],
    [true, false],
  )
  assert.is(await opens('bob@here.test', bob.password), true)
  const left = await db.selectFrom('sessions').select('userId').execute()
  assert.equal(
    left.map(({ userId }) => userId),
    [users[1]!.id],
  )
  assert.is(await accounts.resetPassword(newId(0)), undefined)
})

test('accounts: the usage of a plan is that of the account, of this day and of this month', async t => {
  const store = await open(t)
  const { accounts, created, clock } = store
  const [ann, bob] = [await created('ann'), await created('bob', 'scale')]
  const [month, day] = [new Date(clock.now()).toISOString().slice(0, 7), 86_400_000]
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  const yesterday = new Date(clock.now() - day).toISOString().slice(0, 10)
  insertRows(
    store,
    'counters',
    Object.entries({ [today]: 4, [yesterday]: 50, [month]: 54 }).map(([period, count]) => ({
      ...{ account_id: ann.id, kind: 'recipients', period, count },
    })),
  )
  const usage = async (id: Id) => {
    const { planName, daily, monthly } = (await accounts.usage(id))!
    return [planName, daily.used, daily.limit, monthly.used, monthly.limit]
  }
  assert.equal(await usage(ann.id), ['free', 4, 100, 54, 3_000])
  assert.equal(await usage(bob.id), ['scale', 0, null, 0, null])
  assert.is(await accounts.usage(newId(0)), undefined)
})

test('accounts: pages, newest first', async t => {
  const { accounts, created } = await open(t)
  for (const name of ['ann', 'bob', 'cid']) await created(name)
  const page = async (limit: number, offset: number) => {
    const { total, rows } = await accounts.list({ limit, offset })
    return [total, ...rows.map(({ name }) => name)]
  }
  assert.equal(await page(2, 0), [3, 'cid', 'bob'])
  assert.equal(await page(2, 2), [3, 'ann'])
})

test.run()
