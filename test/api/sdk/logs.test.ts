import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { requireData } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend package reads logs and usage')
let mailhorn: Mailhorn
let resend: Resend
test.before(async () => {
  mailhorn = await startMailhorn()
  resend = new Resend(await mailhorn.signIn(), { baseUrl: mailhorn.baseUrl })
})
test.after(() => mailhorn.close())

const MAIL = { from: 'Ann <ann@here.example>', to: 'delivered@simulator.test', subject: 'hi', text: 'text' }

test('a request is listed, and retrieved with its bodies', async () => {
  const { id } = requireData(await resend.emails.send(MAIL))
  const { data, has_more: hasMore } = requireData(await resend.logs.list({ limit: 1 }))
  assert.equal([data.length, hasMore], [1, false])
  const [{ endpoint, method, response_status: status, user_agent: agent }] = data as [(typeof data)[0]]
  assert.equal([endpoint, method, status], ['/emails', 'POST', 200])
  assert.match(agent!, /^resend-node/)
  const log = requireData(await resend.logs.get(data[0]!.id))
  assert.equal([log.object, log.request_body, log.response_body], ['log', MAIL, { id }])
})

test('pages are read by the cursors', async () => {
  const { data } = requireData(await resend.logs.list({ limit: 2 }))
  const older = requireData(await resend.logs.list({ limit: 1, after: data[0]!.id }))
  assert.is(older.data[0]!.id, data[1]!.id)
  const newer = requireData(await resend.logs.list({ limit: 1, before: data[1]!.id }))
  assert.is(newer.data[0]!.id, data[0]!.id)
})

test('the usage of the account', async () => {
  const usage = requireData(await resend.usage.get())
  assert.equal([usage.object, usage.emails.daily.used, usage.emails.daily.limit], ['usage', 1, null])
  assert.equal([usage.emails.monthly.sent, usage.emails.monthly.received], [1, 0])
  assert.type(usage.emails.monthly.limit, 'number')
  assert.match(usage.emails.daily.resets_at, /T00:00:00\.000Z$/)
  assert.equal([usage.segments.limit, usage.domains.limit, usage.broadcasts.limit], [null, null, null])
  assert.equal(usage.rate_limit, { limit: 2_147_483_647, duration: '1s' })
})

test.run()
