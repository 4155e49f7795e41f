import * as assert from 'uvu/assert'
import { parseWireId } from '../../../src/lib/ids.ts'
import { periodOf, quarterOf } from '../../../src/resources/events/metrics.ts'
import { insertRows } from '../../kit/database.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('usage')
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  mailhorn = await startMailhorn({ env: { MAILHORN_RATE_LIMIT_REQUESTS_PER_SECOND: '1000' } })
  session = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

async function usage() {
  const { status, body } = await mailhorn.call('GET', '/usage', { session })
  assert.is(status, 200, JSON.stringify(body))
  return body
}

async function make(path: string, body: object) {
  const answer = await mailhorn.call('POST', path, { session, body })
  assert.ok(answer.status < 300, JSON.stringify(answer.body))
  return answer.body
}

test('usage counts recipients, received mail, contacts, segments, broadcasts and domains', async () => {
  const before = await usage()
  const to = ['delivered@simulator.test', 'bounced@simulator.test']
  await mailhorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hello' })
  const audience = await make('/audiences', { name: 'all' })
  await make(`/audiences/${audience.id}/contacts`, { email: 'ann@there.example' })
  const words = { from: 'ann@here.example', subject: 'hi', text: 'hello' }
  await make('/broadcasts', { audience_id: audience.id, ...words })
  await make('/domains', { name: 'here.example' })
  const after = await usage()
  const used = ({ contacts, segments, broadcasts, domains, emails }: typeof after) =>
    [contacts, segments, broadcasts, domains, emails.daily, emails.monthly].map(({ used }) => used)
  assert.equal(
    used(after).map((count, i) => count - used(before)[i]!),
    [1, 1, 1, 1, 2, 2],
  )
  assert.equal(after.rate_limit, { limit: 1000, duration: '1s' })
})

test('received mail of the day and of the month is counted', async () => {
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const now = mailhorn.clock.now()
  insertRows(
    mailhorn,
    'counters',
    [0, 40 * 86_400_000].map(age => ({
      account_id: parseWireId('acc', account.id)!,
      kind: 'metrics.received',
      period: periodOf(quarterOf(now - age)),
      count: 3,
    })),
  )
  const { emails } = await usage()
  assert.equal([emails.daily.received, emails.monthly.received], [3, 3])
})

test.run()
