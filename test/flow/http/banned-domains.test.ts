import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('banned domains')
const ZONE = `there.example MX 10 mx.there.example
mx.there.example A 127.0.0.2`
const BANNED = 'bad.example'
const EMAIL = { from: `ann@${BANNED}`, to: ['ok@there.example'], subject: 'hi', text: 'hello' }
const GOOD = { ...EMAIL, from: 'ann@here.example' }

let mx: FakeMx
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  await mailhorn.verifiedDomain('here.example')
  await mailhorn.verifiedDomain(BANNED)
  session = await mailhorn.signIn()
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

function post(path: string, body: object, as = session) {
  return mailhorn.call('POST', path, { session: as, body })
}

/** The ban is lifted after the test. */
async function ban(t: TestContext, domain: string, reason?: string) {
  t.after(() => post('/installation/unban-domain', { domain }))
  return post('/installation/ban-domain', { domain, ...(reason && { reason }) })
}

/** @returns the status, the name of the error, its fields, and the message */
async function refusalOf(path: string, body: object, as = session) {
  const answer = await post(path, body, as)
  const fields = answer.body.errors?.map(({ path: field }: { path: string }) => field)
  return [answer.status, answer.body.name, fields, answer.body.message]
}

test('new email from a banned domain is refused by the field; queued and scheduled email is held until the ban is lifted', async t => {
  const deferred = await mailhorn.send({ ...EMAIL, to: ['grey-1@there.example'] })
  await mailhorn.emailWhen(deferred, 'delivery_delayed')
  const scheduled = await mailhorn.send({
    ...EMAIL,
    scheduled_at: new Date(mailhorn.clock.now() + 60_000).toISOString(),
  })
  const before = mx.messages.length

  const banned = await ban(t, 'BAD.example', 'phishing')
  assert.equal([banned.status, banned.body.domain, banned.body.reason], [201, BANNED, 'phishing'])
  assert.is((await ban(t, BANNED)).status, 200, 'the same ban')
  const message = `The ${BANNED} domain in \`from\` is banned by the operator of this service, so email from it is refused.`
  assert.equal(await refusalOf('/emails', EMAIL), [403, 'invalid_access', ['from'], message])
  const inBatch = [403, 'invalid_access', ['[1].from'], `[1]: ${message}`]
  assert.equal(await refusalOf('/emails/batch', [GOOD, EMAIL]), inBatch)
  const toSimulator = { ...EMAIL, from: `x@news.${BANNED}`, to: ['delivered@simulator.test'] }
  assert.equal((await refusalOf('/emails', toSimulator)).slice(0, 3), [403, 'invalid_access', ['from']])
  const { body: list } = await post('/audiences', { name: 'All' })
  const draft = { audience_id: list.id, from: EMAIL.from, subject: 'news', html: '<p>News</p>', send: true }
  assert.equal((await refusalOf('/broadcasts', draft)).slice(0, 3), [403, 'invalid_access', ['from']])

  mailhorn.clock.advance(120 * 3_600_000)
  session = await mailhorn.signIn() // the clock has ended the former one
  const good = await mailhorn.send(GOOD)
  await mailhorn.emailWhen(good, 'delivered')
  for (const id of [deferred, scheduled]) {
    const { body } = await mailhorn.call('GET', `/emails/${id}`, { session })
    assert.match(body.explanation.summary, /^Held by the operator: phishing/)
  }
  assert.is(mx.messages.length, before + 1)

  const { body: lifted } = await post('/installation/unban-domain', { domain: BANNED })
  assert.equal(lifted, { object: 'domain_unban', domain: BANNED, lifted: true })
  await mailhorn.emailWhen(deferred, 'delivered')
  await mailhorn.emailWhen(scheduled, 'delivered')
  await mailhorn.emailWhen(await mailhorn.send(EMAIL), 'delivered')
})

test('no account can add a banned domain or one below it, and the message says why', async t => {
  const { session: other } = addAccount(mailhorn, 'adding')
  await ban(t, 'evil.example')
  for (const name of ['evil.example', 'mail.evil.example']) {
    const message = `The domain ${name} is banned by the operator of this service, so it cannot be added.`
    assert.equal(await refusalOf('/domains', { name }, other), [422, 'validation_error', ['name'], message])
  }
  assert.is((await post('/domains', { name: 'notevil.example' }, other)).status, 201)
  await post('/installation/unban-domain', { domain: 'evil.example' })
  assert.is((await post('/domains', { name: 'evil.example' }, other)).status, 201)
})

test('only operators see, make and lift bans, of a domain name other than that of the service', async t => {
  const { session: other } = addAccount(mailhorn, 'other')
  await ban(t, 'evil.example', 'spam')
  const { body } = await mailhorn.call('GET', '/installation/banned-domains', { session })
  assert.equal(
    body.data.map(({ domain, reason }: Record<string, string>) => [domain, reason]),
    [['evil.example', 'spam']],
  )
  const paths = ['/installation/ban-domain', '/installation/unban-domain']
  for (const path of paths) assert.is((await post(path, { domain: BANNED }, other)).status, 403)
  const { status } = await mailhorn.call('GET', '/installation/banned-domains', { session: other })
  assert.is(status, 403)
  for (const path of paths)
    assert.equal((await refusalOf(path, { domain: 'no domain' })).slice(0, 3), [
      ...[422, 'validation_error', ['domain']],
    ])
  const { body: installation } = await mailhorn.call('GET', '/installation', { session })
  const own = await refusalOf('/installation/ban-domain', { domain: installation.mail_host })
  assert.equal(own.slice(0, 3), [422, 'validation_error', ['domain']])
  const { body: lifted } = await post('/installation/unban-domain', { domain: 'mail.evil.example' })
  assert.is(lifted.lifted, false)
})

test.run()
