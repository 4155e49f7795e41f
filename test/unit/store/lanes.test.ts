import * as assert from 'uvu/assert'
import { createIdSource } from '../../../src/lib/ids.ts'
import { type DueQueueKey, listDueQueueKeys } from '../../../src/pipeline/queue/queue-key-rows.ts'
import { DELIVERY_STATE } from '../../../src/store/model/schema.ts'
import { insertRows, planOf } from '../../kit/database.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/queueKeys')
const newId = createIdSource()
const accounts = [newId(1), newId(2)]

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const rowOf = (domain: string, deliveryClass: number, account: number, at: number, state = 0) => ({
    email_id: newId(at),
    ordinal: 0,
    account_id: accounts[account],
    address: 'x',
    domain,
    kind: 'to',
    class: deliveryClass,
    state,
    status: 'queued',
    attempts: 0,
    next_at: at,
    expires_at: 0,
  })
  const add = (...row: Parameters<typeof rowOf>) => insertRows(store, 'deliveries', [rowOf(...row)])
  return { ...store, rowOf, add }
}

const short = ({ domain, class: deliveryClass, accountId, at }: DueQueueKey) =>
  [domain, deliveryClass, accounts.findIndex(id => Buffer.from(id).equals(accountId)), at].join(' ')

test('queue keys: an empty queue has none', async t => {
  const store = await open(t)
  assert.equal(await listDueQueueKeys(store.db), [])
})

test('queue keys: each is listed once, with the time of its first delivery', async t => {
  const store = await open(t)
  for (const at of [30, 10, 20]) store.add('a.test', 0, 0, at)
  store.add('b.test', 0, 0, 7)
  assert.equal((await listDueQueueKeys(store.db)).map(short), ['a.test 0 0 10', 'b.test 0 0 7'])
})

test('queue keys: domain, class and account make a key', async t => {
  const store = await open(t)
  for (const domain of ['a.test', 'b.test'])
    for (const deliveryClass of [0, 2])
      for (const account of [0, 1]) store.add(domain, deliveryClass, account, deliveryClass + account)
  assert.equal((await listDueQueueKeys(store.db)).map(short), [
    'a.test 0 0 0',
    'a.test 0 1 1',
    'a.test 2 0 2',
    'a.test 2 1 3',
    'b.test 0 0 0',
    'b.test 0 1 1',
    'b.test 2 0 2',
    'b.test 2 1 3',
  ])
})

test('queue keys: only waiting deliveries count', async t => {
  const store = await open(t)
  store.add('leased.test', 0, 0, 1, DELIVERY_STATE.leased)
  store.add('done.test', 0, 0, 1, DELIVERY_STATE.done)
  store.add('both.test', 0, 0, 1, DELIVERY_STATE.done)
  store.add('both.test', 0, 0, 9)
  assert.equal((await listDueQueueKeys(store.db)).map(short), ['both.test 0 0 9'])
})

test('queue keys: each costs one step over the index, however many deliveries it has', async t => {
  const store = await open(t)
  insertRows(
    store,
    'deliveries',
    Array.from({ length: 5_000 }, (_, i) => store.rowOf('large.test', 0, 0, i)),
  )
  store.add('small.test', 0, 0, 1)
  assert.equal((await listDueQueueKeys(store.db)).map(short), ['large.test 0 0 0', 'small.test 0 0 1'])
  const plan = planOf(
    store,
    `select domain from deliveries where state = 0 and (domain, class, account_id) > (?, ?, ?)
     order by domain, class, account_id, next_at limit 1`,
    '',
    0,
    accounts[0]!,
  )
  assert.match(
    plan,
    /^SEARCH deliveries USING COVERING INDEX deliveries_due |Index Only Scan using deliveries_due /,
  )
})

test.run()
