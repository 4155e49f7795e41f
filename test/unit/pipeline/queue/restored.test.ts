import * as assert from 'uvu/assert'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import type { MailSelector } from '../../../../src/store/model/schema/steering.ts'
import { HOUR_MS, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/restored')

const ANY_MAIL: MailSelector = { domain: null, accountId: null, broadcastId: null, emailId: null }

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  return {
    ...store,
    ...post,
    admin: createQueueAdmin({ db: store.db, run: store.run, clock: post.clock, newId }),
    send: (to: string, scheduledAt: number | null = null) => post.send(accountId, { to: [to], scheduledAt }),
    claimed: async () => (await post.claim(accountId, 'there.test')).map(({ address }) => address),
  }
}

test('mail that was due is held, and mail that comes later is not', async t => {
  const { run, send, claimed, clock, admin } = await open(t)
  await send('a@there.test')
  await send('b@there.test')
  await send('later@there.test', clock.now() + 2 * HOUR_MS)
  clock.advance(HOUR_MS)
  const now = clock.now()
  const held = await run('holdRestored', { reason: 'restored', now })
  assert.equal(held, { deliveries: 2, emails: 2, enteredBefore: now, broadcastIds: [] })
  clock.advance(1)
  await send('c@there.test')
  assert.equal(await claimed(), ['c@there.test'])
  assert.is(
    await admin.release({ ...ANY_MAIL, enteredBefore: now + 1 }),
    undefined,
    'another time is another hold',
  )
  const released = await admin.release({ ...ANY_MAIL, enteredBefore: now })
  assert.equal([released?.origin, released?.reason], ['automatic', 'restored'])
  assert.equal((await claimed()).sort(), ['a@there.test', 'b@there.test'])
})

test('a clock that is behind does not send mail of the backup', async t => {
  const { run, send, claimed, clock } = await open(t)
  await send('a@there.test')
  const acceptedAt = clock.now()
  const { enteredBefore } = await run('holdRestored', { reason: 'restored', now: acceptedAt - HOUR_MS })
  assert.is(enteredBefore, acceptedAt + 1)
  assert.equal(await claimed(), [])
})

test('without mail that is due, there is no hold', async t => {
  const { run, rows, clock } = await open(t)
  assert.equal(await run('holdRestored', { reason: 'restored', now: clock.now() }), {
    ...{ deliveries: 0, emails: 0, enteredBefore: null, broadcastIds: [] },
  })
  assert.equal(rows('select * from queue_holds'), [])
})

test('mail is held, retried and canceled by the time at which it entered the queue', async t => {
  const { send, claimed, clock, admin } = await open(t)
  await send('a@there.test')
  clock.advance(HOUR_MS)
  const selector = { ...ANY_MAIL, domain: 'there.test', enteredBefore: clock.now() }
  await send('b@there.test')
  await admin.hold(selector, null)
  assert.equal(await claimed(), ['b@there.test'])
  assert.equal((await admin.cancel(selector)).deliveries, 1)
})

test.run()
