import * as assert from 'uvu/assert'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { openWorker } from './open-worker.ts'

const test = suite('missing domain')
const MINUTE_MS = 60_000
const ADDRESS = 'ok@there.test'
const GONE = 'there.test NXDOMAIN'
const BACK = 'there.test MX 10 mx.there.test\nmx.there.test A 127.0.0.2'

/** An email to a domain that was missing at its first attempt. */
async function missingOnce(t: TestContext) {
  const worker = await openWorker(t, { zone: GONE })
  const { rows, clock, run } = worker
  const told = () => rows<{ status: string; attempts: number }>('select status, attempts from deliveries')[0]!
  const tried = (times: number) =>
    until(() => rows('select 1 from attempts where finished_at is not null').length === times)
  const isSuppressed = () => rows('select 1 from suppressions where email = ?', ADDRESS).length > 0
  const retry = async () => {
    const place = {
      kind: 'queueKey',
      queueKey: { domain: 'there.test', class: 2, accountId: worker.accountId },
    } as const
    const selector = { domain: 'there.test', accountId: null, broadcastId: null, emailId: null }
    await run('retryWaiting', { place, selector, after: null, limit: 10, now: clock.now() })
  }
  await worker.sendTo([ADDRESS])
  await tried(1)
  assert.equal([told(), isSuppressed()], [{ status: 'delivery_delayed', attempts: 1 }, false])
  return { ...worker, told, tried, isSuppressed, retry }
}

test('a domain that is still missing after five minutes bounces, and the address is suppressed', async t => {
  const { clock, told, tried, isSuppressed } = await missingOnce(t)
  clock.advance(6 * MINUTE_MS)
  await tried(2)
  assert.equal([told(), isSuppressed()], [{ status: 'bounced', attempts: 2 }, true])
})

test('a domain that was missing for a moment gets its mail', async t => {
  const { clock, zone, told, tried, isSuppressed } = await missingOnce(t)
  zone.remove('there.test')
  zone.add(BACK)
  clock.advance(6 * MINUTE_MS)
  await tried(2)
  assert.equal([told(), isSuppressed()], [{ status: 'delivered', attempts: 2 }, false])
})

test('a retry within five minutes, by the operator, does not confirm that the domain is missing', async t => {
  const { clock, told, tried, isSuppressed, retry } = await missingOnce(t)
  clock.advance(4 * MINUTE_MS)
  await retry()
  await tried(2)
  assert.equal([told(), isSuppressed()], [{ status: 'delivery_delayed', attempts: 2 }, false])
})

test('a previous reply about another fault does not confirm that the domain is missing', async t => {
  const { clock, zone, told, tried } = await missingOnce(t)
  zone.remove('there.test')
  zone.add('there.test SERVFAIL')
  clock.advance(6 * MINUTE_MS)
  await tried(2)
  zone.remove('there.test')
  zone.add(GONE)
  clock.advance(6 * MINUTE_MS)
  await tried(3)
  assert.equal(told(), { status: 'delivery_delayed', attempts: 3 })
})

test.run()
