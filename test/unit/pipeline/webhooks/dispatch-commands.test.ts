import * as assert from 'uvu/assert'
import type {
  ClaimedWebhookDelivery,
  WebhookAttempt,
} from '../../../../src/pipeline/webhooks/dispatch-commands.ts'
import { countWaitingDeliveries } from '../../../../src/pipeline/webhooks/webhook-rows.ts'
import { isOnPostgres, planOf } from '../../../kit/database.ts'
import { STORE_EPOCH } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { ACCOUNT, openTelling } from '../../../kit/webhooks.ts'

const test = suite('webhooks/dispatch commands')
const FIVE_DAYS_MS = 5 * 86_400_000
const LEASE_MS = 40_000

/** A webhook with waiting deliveries. */
async function open(t: TestContext, count = 1) {
  const telling = await openTelling(t)
  const { run, clock, make, record, rows } = telling
  const { id: webhookId } = await make()
  await record(count)
  const claim = (limit = 10) =>
    run('claimWebhookDeliveries', { webhookId, now: clock.now(), until: clock.now() + LEASE_MS, limit })
  /** A failed attempt that is due again at once, unless told otherwise. */
  const finish = (
    { id, attempt }: Pick<ClaimedWebhookDelivery, 'id' | 'attempt'>,
    over: Partial<WebhookAttempt> = {},
  ) =>
    run('finishWebhookAttempt', {
      ...{ webhookId, id, attempt, startedAt: clock.now(), durationMs: 10, url: 'https://hooks.example/' },
      ...{ success: false, responseStatus: 500, responseBody: 'no', error: null, nextAt: clock.now() },
      ...over,
    })
  const one = async () => (await claim(1))!.deliveries[0]!
  const since = () =>
    rows<{ failing_since: number | null }>('select failing_since from webhooks')[0]!.failing_since
  const log = () => {
    const [row] = rows<{ attempt_log: string | null }>(
      'select attempt_log from webhook_deliveries order by id',
    )
    return row!.attempt_log === null ? null : (JSON.parse(row!.attempt_log) as object[])
  }
  return { ...telling, webhookId, claim, finish, one, since, log }
}

test('claim: as many as asked for, and the time of the next one', async t => {
  const { claim, clock } = await open(t, 3)
  const first = (await claim(2))!
  assert.equal(
    first.deliveries.map(({ attempt, dueAt }) => [attempt, dueAt]),
    [
      [1, STORE_EPOCH],
      [1, STORE_EPOCH],
    ],
  )
  assert.is(first.nextAt, STORE_EPOCH, 'one more is due')
  const last = (await claim(2))!
  assert.equal([last.deliveries.length, last.nextAt], [1, clock.now() + LEASE_MS])
})

test('claim: a disabled webhook and one that is gone have none', async t => {
  const { claim, webhooks, webhookId } = await open(t)
  await webhooks.change(ACCOUNT, webhookId, { enabled: false })
  assert.is(await claim(), undefined)
  await webhooks.delete(ACCOUNT, webhookId)
  assert.is(await claim(), undefined)
})

test('finish: a webhook is failing when its attempts have failed for five days', async t => {
  const { finish, one, clock, since } = await open(t)
  assert.is(await finish(await one()), 'recorded')
  clock.advance(FIVE_DAYS_MS - 11)
  assert.is(await finish(await one()), 'recorded')
  clock.advance(1)
  assert.is(await finish(await one()), 'failing')
  assert.is(since(), STORE_EPOCH)
  assert.is(await finish(await one(), { success: true, nextAt: null }), 'recorded')
  assert.is(since(), null)
})

test('a test that fails is no failure of the webhook, and neither is the same sent again', async t => {
  const { claim, finish, one, webhooks, webhookId, since, tests } = await open(t)
  await finish(await one(), { success: true, nextAt: null })
  tests.answer = () => 500
  const sent = await webhooks.test(ACCOUNT, webhookId, undefined)
  assert.ok(typeof sent !== 'string' && sent.success === 0)
  assert.is(since(), null)
  await webhooks.replay(ACCOUNT, webhookId, sent.id)
  const [delivery] = (await claim())!.deliveries
  assert.is(await finish(delivery!, { nextAt: null }), 'recorded')
  assert.equal([delivery!.isTest, since()], [1, null])
})

test('a test that succeeds ends the failures of a webhook', async t => {
  const { finish, one, webhooks, webhookId, since, clock, tests } = await open(t)
  await finish(await one(), { nextAt: clock.now() + 60_000 })
  assert.is(since(), STORE_EPOCH)
  tests.answer = () => 200
  await webhooks.test(ACCOUNT, webhookId, undefined)
  assert.is(since(), null)
})

test('finish: the result for a webhook that was deleted meanwhile is recorded', async t => {
  const { finish, one, webhooks, webhookId } = await open(t)
  const delivery = await one()
  await webhooks.delete(ACCOUNT, webhookId)
  assert.is(await finish(delivery), 'recorded')
})

test('finish: the attempts of a delivery are logged unless the first one ends it', async t => {
  const { finish, one, log, clock } = await open(t)
  await finish(await one())
  const attempt = { status: 500, response: 'no' }
  assert.equal(log(), [{ attempt: 1, startedAt: STORE_EPOCH, ...attempt }])
  clock.advance(1_000)
  await finish(await one(), { nextAt: null, responseStatus: null, responseBody: null, error: 'timed out' })
  assert.equal(log(), [
    { attempt: 1, startedAt: STORE_EPOCH, ...attempt },
    { attempt: 2, startedAt: STORE_EPOCH + 1_000, status: null, response: 'timed out' },
  ])
  for (const success of [true, false]) {
    const only = await open(t)
    await only.finish(await only.one(), { success, nextAt: null })
    assert.is(only.log(), null)
  }
})

test('release: a lease of an earlier attempt is not released', async t => {
  const { run, one, webhookId, all, clock } = await open(t)
  const { id, attempt } = await one()
  const release = (number: number) =>
    run('releaseWebhookDeliveries', {
      webhookId,
      leased: [{ id, attempt: number, begun: false, nextAt: clock.now() }],
    })
  const row = () => all().map(({ attempts, lease_until }) => [attempts, lease_until])[0]
  await release(attempt + 1)
  assert.equal(row(), [1, clock.now() + LEASE_MS])
  await release(attempt)
  assert.equal(row(), [0, null])
  await release(0)
  assert.equal(row(), [0, null])
})

test('the backlog is counted from an index, until deliveries have ended', async t => {
  const telling = await openTelling(t)
  await telling.make()
  await telling.record(3)
  assert.is(await countWaitingDeliveries(telling.db), 3)
  telling.change(
    'update webhook_deliveries set state = 1 where id = (select min(id) from webhook_deliveries)',
  )
  assert.is(await countWaitingDeliveries(telling.db), 2)
  // PostgreSQL reads small tables whole
  if (!isOnPostgres)
    assert.match(planOf(telling, 'select 1 from webhook_deliveries where state = 0 limit 10'), /index/i)
})

test.run()
