import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { sweepWebhookDeliveries } from '../../../../src/pipeline/webhooks/sweep.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { ACCOUNT, openTelling } from '../../../kit/webhooks.ts'

const test = suite('webhooks/sweep')
const DAY_MS = 86_400_000

async function open(t: TestContext) {
  const telling = await openTelling(t)
  const { db, run, clock, rows } = telling
  let servingSince = clock.monotonic()
  return {
    ...telling,
    /** @returns how many steps it took */
    async sweep() {
      let steps = 0
      for await (const _ of sweepWebhookDeliveries({ db, run, clock, servingSince })) steps++
      return steps
    },
    restarted() {
      servingSince = clock.monotonic()
    },
    countOf: (webhookId: Id) =>
      rows('select id from webhook_deliveries where webhook_id = ?', webhookId).length,
  }
}

test('sweep: all deliveries of a deleted webhook are deleted in steps, and no others', async t => {
  const { make, record, run, sweep, countOf } = await open(t)
  const [gone, remaining] = [await make(), await make('https://kept.example/')]
  await record(1_200)
  await run('deleteWebhook', { accountId: ACCOUNT, id: gone.id })
  assert.equal([countOf(gone.id), countOf(remaining.id)], [1_200, 1_200])
  // 500, 500 and 200 of the one, none of the other
  assert.is(await sweep(), 4)
  assert.equal([countOf(gone.id), countOf(remaining.id)], [0, 1_200])
})

test('sweep: deliveries that have waited for more than five days are deleted, and not before', async t => {
  const { make, record, sweep, countOf, clock } = await open(t)
  const { id } = await make()
  await record(2)
  clock.advance(1)
  await record(3)
  clock.advance(5 * DAY_MS - 1)
  await sweep()
  assert.is(countOf(id), 5)
  clock.advance(1)
  await sweep()
  assert.is(countOf(id), 3)
  clock.advance(1)
  await sweep()
  assert.is(countOf(id), 0)
})

test('sweep: deliveries that waited while the service was stopped are kept', async t => {
  const { make, record, run, start, sweep, countOf, all, restarted, clock } = await open(t)
  const [enabled, disabled] = [await make(), await make('https://disabled.example/')]
  await record(3)
  await run('changeWebhook', {
    accountId: ACCOUNT,
    id: disabled.id,
    changes: { enabled: 0 },
    at: clock.now(),
  })
  clock.advance(7 * DAY_MS)
  restarted()
  await sweep()
  assert.equal([countOf(enabled.id), countOf(disabled.id)], [3, 0])
  start(() => 200).note(enabled.id, clock.now())
  await until(() => all().every(({ success }) => success === 1))
})

test('sweep: a leased delivery is kept until its attempt has ended', async t => {
  const { make, record, run, sweep, countOf, clock } = await open(t)
  const { id: webhookId } = await make()
  await record(3)
  clock.advance(5 * DAY_MS + 1)
  const now = clock.now()
  const claims = await run('claimWebhookDeliveries', { webhookId, now, until: now + 40_000, limit: 2 })
  await sweep()
  assert.is(countOf(webhookId), 2)
  const leased = claims!.deliveries.map(({ id, attempt }) => ({ id, attempt, begun: true, nextAt: now }))
  await run('releaseWebhookDeliveries', { webhookId, leased })
  await sweep()
  assert.is(countOf(webhookId), 0)
})

test('sweep: a finished delivery stays in the log regardless of its age', async t => {
  const { make, record, start, sweep, all, clock } = await open(t)
  await make()
  start(() => 200)
  await record(3)
  await until(() => all().every(({ success }) => success === 1))
  clock.advance(30 * DAY_MS)
  await sweep()
  assert.is(all().length, 3)
})

test.run()
