import * as assert from 'uvu/assert'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import type { MailSelector } from '../../../../src/store/model/schema/steering.ts'
import { newId } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { openWorker } from './open-worker.ts'

const test = suite('holds in the worker')
const MINE: MailSelector = { domain: null, accountId: null, broadcastId: null, emailId: null }
const names = (count: number) => Array.from({ length: count }, (_, i) => `ok+${i}`)

/** Attempts begin, and get no further before the test opens the gate. */
async function open(t: TestContext) {
  const gate = Promise.withResolvers<void>()
  t.after(() => gate.resolve())
  const worker = await openWorker(t, {
    make:
      ({ make }) =>
      async (ref, now) => {
        await gate.promise
        return make(ref, now)
      },
  })
  const { db, run, clock, rows } = worker
  return {
    ...worker,
    gate,
    hands: createQueueAdmin({ db, run, clock, newId }),
    count: (state: number) => rows('select 1 from deliveries where state = ?', state).length,
    delivered: () => rows("select 1 from deliveries where status = 'delivered'").length,
  }
}

test('a hold returns claimed deliveries; those in progress end; a release resumes the rest', async t => {
  const { send, hands, gate, count, delivered, rows } = await open(t)
  await send(...names(20))
  await until(() => count(1) >= 15)
  await hands.hold({ ...MINE, domain: 'there.test' }, null)
  await until(() => count(1) === 5)
  gate.resolve()
  await until(() => delivered() === 5)
  assert.is(count(0), 15)
  assert.equal(rows('select distinct attempts from deliveries where state = 0'), [{ attempts: 0 }])
  await hands.release({ ...MINE, domain: 'there.test' })
  await until(() => delivered() === 20)
})

test('claimed mail of a held broadcast is set aside, and the rest is claimed again', async t => {
  const { send, hands, gate, count, delivered, change, clock } = await open(t)
  const broadcastId = newId(clock.now())
  const emailId = await send(...names(20))
  await until(() => count(1) >= 15)
  change('update emails set broadcast_id = ? where id = ?', broadcastId, emailId)
  await hands.hold({ ...MINE, broadcastId }, null)
  await until(() => count(4) >= 10)
  await send('other')
  gate.resolve()
  await until(() => delivered() === 6 && count(4) === 15)
  await hands.release({ ...MINE, broadcastId })
  await until(() => delivered() === 21)
})

test('mail is claimed again after a hold of other mail', async t => {
  const { send, hands, gate, delivered } = await open(t)
  await send(...names(20))
  await hands.hold({ ...MINE, domain: 'far.test' }, null)
  gate.resolve()
  await until(() => delivered() === 20)
})

test.run()
