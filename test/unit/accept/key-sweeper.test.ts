import * as assert from 'uvu/assert'
import { startKeySweeper } from '../../../src/accept/key-sweeper.ts'
import type { IdempotencyToken } from '../../../src/accept/submission.ts'
import { HOUR_MS, postOver } from '../../kit/mail.ts'
import { createManualClock, settled } from '../../kit/manual-clock.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

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

test('keys go when they are a day old, and not before', async t => {
  const { use, forget, keys, clock } = await open(t)
  await use('old')
  clock.advance(1)
  await use('young')
  clock.advance(DAY_MS - 2)
  assert.equal([await forget(), keys()], [0, ['old', 'young']])
  clock.advance(1)
  assert.equal([await forget(), keys()], [1, ['young']])
})

test('the oldest go first, and no more than asked for', async t => {
  const { use, forget, keys, clock } = await open(t)
  for (const key of ['c', 'a', 'b']) {
    await use(key)
    clock.advance(1)
  }
  clock.advance(2 * DAY_MS)
  assert.equal([await forget(2), keys()], [2, ['b']])
})

test('emails stay when their keys go', async t => {
  const { use, forget, rows, clock } = await open(t)
  await use('k')
  clock.advance(DAY_MS)
  await forget()
  assert.is(rows('select id from emails').length, 1)
})

test('it sweeps in steps until nothing old is left, and again every hour', async t => {
  const clock = createManualClock()
  let old = 1_200
  const asked: number[] = []
  const run = async (_: string, { before, limit }: { before: number; limit: number }) => {
    asked.push(before)
    const deleted = Math.min(old, limit)
    old -= deleted
    return deleted
  }
  const onError = (error: unknown) => assert.unreachable(String(error))
  const sweeper = startKeySweeper({ run: run as never, clock, onError })
  t.after(sweeper.stop)
  await settled()
  assert.equal([old, asked.length, asked[0]], [0, 3, clock.now() - DAY_MS])
  old = 1
  clock.advance(HOUR_MS - 1)
  await settled()
  assert.is(old, 1)
  clock.advance(1)
  await settled()
  assert.is(old, 0)
})

test('a failure is told of and the next hour tries again; once stopped there is no timer', async () => {
  const clock = createManualClock()
  const errors: unknown[] = []
  const run = async () => {
    throw new Error('the disk is full')
  }
  const sweeper = startKeySweeper({ run: run as never, clock, onError: error => errors.push(error) })
  await settled()
  clock.advance(HOUR_MS)
  await settled()
  assert.is(errors.length, 2)
  await sweeper.stop()
  assert.is(clock.timerCount, 0)
})

test.run()
