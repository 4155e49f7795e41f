import * as assert from 'uvu/assert'
import { sweepKeys } from '../../../../src/pipeline/accept/key-sweeper.ts'
import type { IdempotencyToken } from '../../../../src/pipeline/accept/submission.ts'
import { insertRows } from '../../../kit/database.ts'
import { HOUR_MS, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accept/key-sweeper')
const DAY_MS = 24 * HOUR_MS
const token = (key: string): IdempotencyToken => ({ endpoint: '/emails', key, bodyHash: new Uint8Array(32) })

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const keys = () =>
    store.rows<{ key: string }>('select key from idempotency_keys order by key').map(({ key }) => key)
  const use = (key: string) => post.submit(accountId, {}, token(key))
  const forget = (limit = 100) => store.run('forgetKeys', { before: post.clock.now() - DAY_MS, limit })
  return { ...store, ...post, keys, use, forget }
}

test('key sweeper: keys are deleted after 24 h', async t => {
  const { use, forget, keys, clock } = await open(t)
  await use('old')
  clock.advance(1)
  await use('young')
  clock.advance(DAY_MS - 2)
  assert.equal([await forget(), keys()], [0, ['old', 'young']])
  clock.advance(1)
  assert.equal([await forget(), keys()], [1, ['young']])
})

test('key sweeper: the oldest keys are deleted first, up to the limit', async t => {
  const { use, forget, keys, clock } = await open(t)
  for (const key of ['c', 'a', 'b']) {
    await use(key)
    clock.advance(1)
  }
  clock.advance(2 * DAY_MS)
  assert.equal([await forget(2), keys()], [2, ['b']])
})

test('key sweeper: deleting a key keeps its emails', async t => {
  const { use, forget, rows, clock } = await open(t)
  await use('k')
  clock.advance(DAY_MS)
  await forget()
  assert.is(rows('select id from emails').length, 1)
})

test('key sweeper: expired keys are deleted in steps of 500', async t => {
  const store = await open(t)
  const row = (key: string) => ({
    account_id: new Uint8Array([1]),
    endpoint: '/emails',
    key,
    body_hash: new Uint8Array([2]),
    response: '{}',
    created_at: store.clock.now(),
  })
  insertRows(
    store,
    'idempotency_keys',
    Array.from({ length: 1_200 }, (_, i) => row(`old ${i}`)),
  )
  store.clock.advance(DAY_MS)
  insertRows(store, 'idempotency_keys', [row('young')])
  const left: number[] = []
  for await (const _ of sweepKeys(store)) left.push(store.keys().length)
  assert.equal([left, store.keys()], [[701, 201, 1], ['young']])
})

test.run()
