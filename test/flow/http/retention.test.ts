import * as assert from 'uvu/assert'
import { largeBlobs } from '../../kit/large-blobs.ts'
import { startPosthorn } from '../../kit/posthorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('flow/retention')
const DAY_MS = 86_400_000
const SIMULATED = { from: 'me@nowhere.test', to: 'delivered@simulator.test', subject: 's' }
/** Larger than what lies in a row. */
const attachment = (fill: string) => ({
  filename: 'a.txt',
  content: Buffer.alloc(100_000, fill).toString('base64'),
})

test('mail goes when its time is over, with all that belongs to it, and what is scheduled stays', async t => {
  const posthorn = await t.using(startPosthorn({ env: { POSTHORN_PLANS_SCALE_RETENTION_DAYS: '7' } }))
  const { clock } = posthorn
  const old = await posthorn.send({ ...SIMULATED, text: 't', attachments: [attachment('old')] })
  await posthorn.emailWhen(old, 'delivered')
  const scheduledAt = new Date(clock.now() + 300 * DAY_MS).toISOString()
  const kept = { ...SIMULATED, subject: 'kept', text: 't', scheduled_at: scheduledAt }
  const scheduled = await posthorn.send({ ...kept, attachments: [attachment('kept')] })
  assert.is(largeBlobs(posthorn).length, 2)

  clock.advance(8 * DAY_MS)
  await until(() => posthorn.rows('select id from emails').length === 1 && largeBlobs(posthorn).length === 1)
  assert.is((await posthorn.call('GET', `/emails/${old}`, { key: posthorn.apiKey })).status, 404)
  assert.is((await posthorn.email(scheduled)).status, 'scheduled')
  const { body } = await posthorn.call('GET', '/emails', { key: posthorn.apiKey })
  assert.equal([body.total, body.data[0].id], [1, scheduled])
  for (const table of ['deliveries', 'contents', 'blobs', 'events', 'attempts'])
    assert.ok(posthorn.rows(`select * from ${table}`).length <= 1, table)
})

test('sessions that have ended leave the database', async t => {
  const posthorn = await t.using(startPosthorn())
  await posthorn.signIn()
  assert.ok(posthorn.rows('select id from sessions').length > 0)
  posthorn.clock.advance(15 * DAY_MS)
  await until(() => posthorn.rows('select id from sessions').length === 0)
})

test.run()
