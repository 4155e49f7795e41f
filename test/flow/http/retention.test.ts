import * as assert from 'uvu/assert'
import { largeBlobs } from '../../kit/large-blobs.ts'
import { startMailhorn } from '../../kit/mailhorn.ts'
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

test('expired mail is deleted with all its data, scheduled mail is kept', async t => {
  const mailhorn = await t.using(startMailhorn({ env: { MAILHORN_PLANS_SCALE_RETENTION_DAYS: '7' } }))
  const { clock } = mailhorn
  const old = await mailhorn.send({ ...SIMULATED, text: 't', attachments: [attachment('old')] })
  await mailhorn.emailWhen(old, 'delivered')
  const scheduledAt = new Date(clock.now() + 300 * DAY_MS).toISOString()
  const remaining = { ...SIMULATED, subject: 'kept', text: 't', scheduled_at: scheduledAt }
  const scheduled = await mailhorn.send({ ...remaining, attachments: [attachment('kept')] })
  assert.is(largeBlobs(mailhorn).length, 2)

  clock.advance(8 * DAY_MS)
  await until(() => mailhorn.rows('select id from emails').length === 1 && largeBlobs(mailhorn).length === 1)
  assert.is((await mailhorn.call('GET', `/emails/${old}`, { key: mailhorn.apiKey })).status, 404)
  assert.is((await mailhorn.email(scheduled)).status, 'scheduled')
  const { body } = await mailhorn.call('GET', '/emails', { key: mailhorn.apiKey })
  assert.equal([body.total, body.data[0].id], [1, scheduled])
  for (const table of ['deliveries', 'contents', 'blobs', 'events', 'attempts'])
    assert.ok(mailhorn.rows(`select * from ${table}`).length <= 1, table)
})

test('expired sessions are deleted', async t => {
  const mailhorn = await t.using(startMailhorn())
  await mailhorn.signIn()
  assert.ok(mailhorn.rows('select id from sessions').length > 0)
  mailhorn.clock.advance(15 * DAY_MS)
  await until(() => mailhorn.rows('select id from sessions').length === 0)
})

test.run()
