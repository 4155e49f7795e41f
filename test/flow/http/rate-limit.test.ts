import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('rate limit')
const MAIL = { from: 'a@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' }
/** So many requests at once are more than one a second, however slow the machine. */
const MANY = 20

async function startWith(limit: string, t: { after(fn: () => unknown): void }): Promise<Mailhorn> {
  const mailhorn = await startMailhorn({ env: { MAILHORN_RATE_LIMIT_REQUESTS_PER_SECOND: limit } })
  t.after(() => mailhorn.close())
  return mailhorn
}

test('what goes beyond the setting is refused and stores nothing', async t => {
  const mailhorn = await startWith('1', t)
  const calls = Array.from({ length: MANY }, () =>
    mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body: MAIL }),
  )
  const answers = await Promise.all(calls)
  const refused = answers.filter(({ status }) => status !== 200)
  assert.ok(refused.length > 0 && refused.length < MANY)
  for (const answer of refused) {
    assertRefusal(answer, { status: 429, name: 'rate_limit_exceeded', says: /1 requests per second/ })
    assert.is(answer.headers.get('retry-after'), '1')
  }
  assert.equal(mailhorn.rows('select count(*) as count from emails'), [{ count: MANY - refused.length }])
})

test('keys and sessions of an account share it, other accounts do not', async t => {
  const mailhorn = await startWith('1', t)
  const other = addAccount(mailhorn, 'other')
  const session = await mailhorn.signIn()
  const { body } = await mailhorn.call('POST', '/api-keys', { session, body: { name: 'second' } })
  mailhorn.clock.advance(1_000)
  const credentials = [
    { key: mailhorn.apiKey },
    { key: body.token as string },
    { session },
    { key: other.apiKey },
  ]
  const [first, second, third, foreign] = await Promise.all(
    credentials.map(credential => mailhorn.call('POST', '/emails', { ...credential, body: MAIL })),
  )
  const own = [first!, second!, third!].map(({ status }) => status)
  assert.ok(own.includes(200) && own.includes(429), `${own}`)
  assert.is(foreign!.status, 200)
})

test('the resend package reads the refusal', async t => {
  const mailhorn = await startWith('1', t)
  const resend = new Resend(mailhorn.apiKey, { baseUrl: mailhorn.baseUrl })
  const results = await Promise.all(Array.from({ length: MANY }, () => resend.emails.send(MAIL)))
  const { error, headers } = results.find(result => result.error)!
  assert.equal([error?.name, error?.statusCode], ['rate_limit_exceeded', 429])
  assert.equal([headers?.['ratelimit-remaining'], headers?.['retry-after']], ['0', '1'])
})

test('0 means any number, and no word of a limit', async t => {
  const mailhorn = await startWith('0', t)
  const calls = Array.from({ length: 3 * MANY }, () =>
    mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body: MAIL }),
  )
  for (const { status, headers } of await Promise.all(calls)) {
    assert.is(status, 200)
    assert.not([...headers.keys()].some(name => name.startsWith('ratelimit')))
  }
})

test.run()
