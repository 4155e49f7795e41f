import * as assert from 'uvu/assert'
import { createQueueStatsCache } from '../../../../src/pipeline/queue/queue-stats-cache.ts'
import { postOver } from '../../../kit/mail.ts'
import { settled } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('queue/queue-stats-cache')

async function open(t: TestContext, longFrom: number) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const errors: unknown[] = []
  const { clock } = post
  const view = createQueueStatsCache({
    db: store.db,
    clock,
    longFrom,
    onError: error => void errors.push(error),
  })
  const question = { by: 'domain', domain: null, accountId: null, class: null, limit: 20, offset: 0 } as const
  return {
    ...store,
    clock,
    errors,
    send: (...to: string[]) => post.send(accountId, { to }),
    async counts(over: { domain?: string } = {}) {
      const { at, totals, entries } = await view({ ...question, ...over, now: clock.now() })
      return { ageMs: clock.now() - at, count: totals.neverTried, domains: entries.map(({ name }) => name) }
    },
  }
}

test('queue stats cache: a short queue is read for each request', async t => {
  const { send, counts } = await open(t, 3)
  await send('a@there.test')
  assert.equal(await counts(), { ageMs: 0, count: 1, domains: ['there.test'] })
  await send('b@there.test')
  assert.is((await counts()).count, 2)
})

test('queue stats cache: a snapshot of a long queue serves all questions for ten seconds, then it is read in the background', async t => {
  const { send, counts, clock } = await open(t, 3)
  await send('a@there.test', 'b@there.test', 'c@far.test')
  assert.is((await counts()).count, 3)
  await send('d@there.test')
  clock.advance(10_000)
  assert.equal(await counts(), { ageMs: 10_000, count: 3, domains: ['there.test', 'far.test'] })
  assert.equal(await counts({ domain: 'far.test' }), { ageMs: 10_000, count: 1, domains: ['far.test'] })
  clock.advance(1)
  assert.is((await counts()).count, 3)
  await until(async () => (await counts()).count === 4)
})

test('queue stats cache: a snapshot older than a minute is not returned', async t => {
  const { send, counts, clock } = await open(t, 1)
  await send('a@there.test')
  await counts()
  await send('b@there.test')
  clock.advance(60_001)
  assert.equal(await counts(), { ageMs: 0, count: 2, domains: ['there.test'] })
})

test('queue stats cache: a queue that has become short is read for each request again', async t => {
  const { send, counts, clock, change } = await open(t, 2)
  await send('a@there.test', 'b@there.test')
  await counts()
  change('delete from deliveries')
  clock.advance(60_001)
  assert.is((await counts()).count, 0)
  await send('c@there.test')
  assert.is((await counts()).count, 1)
})

test('queue stats cache: a failed background read is reported, and the next one is tried', async t => {
  const { send, counts, clock, change, errors } = await open(t, 1)
  await send('a@there.test')
  await counts()
  clock.advance(20_000)
  change('alter table deliveries rename to hidden')
  assert.is((await counts().catch(() => ({ count: 1 }))).count, 1)
  await until(() => errors.length === 1)
  change('alter table hidden rename to deliveries')
  await settled()
  await send('b@there.test')
  await until(async () => (await counts()).count === 2)
})

test.run()
