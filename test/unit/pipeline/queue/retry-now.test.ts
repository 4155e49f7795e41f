import * as assert from 'uvu/assert'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/retry-now')

/**
 * Deliveries by their local part: `fresh`, `leased`, `done`, `due` (deferred, due already), anything else
 * deferred.
 */
async function open(t: TestContext, ...addresses: string[]) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  await post.send(accountId, { to: addresses })
  const now = post.clock.now()
  const later = now + 3_600_000
  const set = (values: string, like: string) =>
    store.change(`update deliveries set ${values} where address like ?`, like)
  set(`class = 2, attempts = 3, next_at = ${later}`, '%')
  set(`class = 0, attempts = 0`, 'fresh%')
  set('state = 1', 'leased%')
  set('state = 2', 'done%')
  set(`next_at = ${now - 5}`, 'due%')
  const admin = createQueueAdmin({ db: store.db, run: store.run, clock: post.clock, newId })
  const retry = async (domain: string) =>
    (await admin.retry({ domain, accountId: null, broadcastId: null, emailId: null })).deliveries
  const times = () =>
    Object.fromEntries(
      store
        .rows<{ address: string; next_at: number; attempts: number }>('select * from deliveries')
        .map(({ address, next_at: at }) => [address, at === now ? 'now' : at === later ? 'later' : 'before']),
    )
  return {
    ...store,
    accountId,
    now,
    retry,
    times,
    announcedAtFirst: store.announced('due').length,
  }
}

test('retry now: deferred deliveries of the domain are due now; others stay', async t => {
  const { retry, times, rows } = await open(
    t,
    ...['a@there.test', 'b@there.test', 'fresh@there.test', 'leased@there.test', 'done@there.test'],
    ...['due@there.test', 'a@far.test', 'a@sub.there.test'],
  )
  assert.is(await retry('there.test'), 2)
  assert.equal(times(), {
    'a@there.test': 'now',
    'b@there.test': 'now',
    'fresh@there.test': 'later',
    'leased@there.test': 'later',
    'done@there.test': 'later',
    'due@there.test': 'before',
    'a@far.test': 'later',
    'a@sub.there.test': 'later',
  })
  assert.equal(rows('select distinct attempts from deliveries where class = 2'), [{ attempts: 3 }])
})

test('retry now: each queue key is announced once', async t => {
  const { retry, announced, announcedAtFirst, accountId, now } = await open(t, 'a@there.test', 'b@there.test')
  await retry('there.test')
  assert.equal(announced('due').slice(announcedAtFirst), [
    { domain: 'there.test', class: 2, accountId: Buffer.from(accountId), at: now },
  ])
})

test('retry now: deliveries that are due already are not counted again', async t => {
  const { retry } = await open(t, ...['a', 'b', 'c', 'd', 'e'].map(name => `${name}@there.test`))
  assert.equal([await retry('there.test'), await retry('there.test')], [5, 0])
})

test('retry now: without deferred deliveries nothing changes', async t => {
  const { retry, announced, announcedAtFirst } = await open(t, 'a@there.test')
  assert.is(await retry('nowhere.test'), 0)
  assert.is(announced('due').length, announcedAtFirst)
})

test.run()
