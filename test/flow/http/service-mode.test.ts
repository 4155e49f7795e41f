import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('mode of the service')
const ZONE = `there.example MX 10 mx.there.example
mx.there.example A 127.0.0.2`
const EMAIL = { from: 'ann@here.example', to: ['ok@there.example'], subject: 'hi', text: 'hello' }
const PATH = '/installation/mode'

let mx: FakeMx
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: mx.port,
    env: { MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0', MAILHORN_METRICS_TOKEN: 'metrics' },
  })
  await mailhorn.verifiedDomain('here.example')
  session = await mailhorn.signIn()
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

/** The mode is normal again after the test. */
async function switchTo(t: TestContext, mode: string, reason?: string) {
  t.after(async () => {
    await mailhorn.call('PUT', PATH, { session, body: { mode: 'normal' } })
  })
  const { status, body } = await mailhorn.call('PUT', PATH, { session, body: { mode, reason } })
  assert.is(status, 200)
  return body
}

/** @returns the status, the name of the error, and the time after which to try again */
async function answerTo(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await mailhorn.call(method, path, { session, headers, ...(body && { body }) })
  return [answer.status, answer.body.name, answer.headers.get('retry-after')]
}

const CLOSED = [503, 'application_error', '60']

test('while draining, queued mail is delivered and new mail is refused on all ways', async t => {
  const key = { 'idempotency-key': 'drained' }
  const { body: draft } = await mailhorn.call('POST', '/audiences', { session, body: { name: 'All' } })
  assert.is((await mailhorn.call('POST', '/emails', { session, body: EMAIL, headers: key })).status, 200)
  const { since, ...mode } = await switchTo(t, 'draining', 'new machine')
  assert.match(since, /^\d{4}-.*Z$/)
  assert.equal([mode.object, mode.mode, mode.reason], ['service_mode', 'draining', 'new machine'])

  assert.equal(await answerTo('POST', '/emails', EMAIL), CLOSED)
  assert.equal(await answerTo('POST', '/emails/batch', [EMAIL]), CLOSED)
  const broadcast = { audience_id: draft.id, from: EMAIL.from, subject: 'news', html: '<p>News</p>' }
  assert.equal(await answerTo('POST', '/broadcasts', { ...broadcast, send: true }), CLOSED)
  assert.equal((await answerTo('POST', '/broadcasts', broadcast))[0], 201)
  assert.equal((await answerTo('POST', '/emails', EMAIL, key))[0], 200, 'a repeated request gets its answer')
  const client = await t.using(dialSmtp({ port: mailhorn.app.submission.submissionTls!.port }))
  await client.startTls()
  await client.reply()
  await client.say('EHLO client.example')
  assert.match(await client.say(`AUTH PLAIN ${btoa(`\0resend\0${mailhorn.apiKey}`)}`), /^235 /)
  assert.match(
    await client.say('MAIL FROM:<ann@here.example>'),
    /^451 4\.3\.2 The service delivers what is queued and accepts no new email/,
  )

  const left = await until(async () => {
    const { body } = await mailhorn.call('GET', PATH, { session })
    return body.left.queued + body.left.in_progress === 0 ? body.left : undefined
  })
  assert.equal(left, { queued: 0, deferred: 0, in_progress: 0, held: 0, scheduled_emails: 0, broadcasts: 0 })
  assert.is(mx.messages.length, 1)
})

test('the mode is shown by readiness, metrics, the installation and the doctor', async t => {
  await switchTo(t, 'draining')
  const [ready, metrics, installation, doctor] = await Promise.all(
    ['/readyz', '/metrics', '/installation', '/doctor'].map(path =>
      mailhorn.call('GET', path, path === '/metrics' ? { key: 'metrics' } : { session }),
    ),
  )
  assert.equal(ready!.body, { status: 'ready', mode: 'draining' })
  assert.match(metrics!.body, /^mailhorn_service_mode\{mode="draining"\} 1$/m)
  assert.match(metrics!.body, /^mailhorn_service_mode\{mode="normal"\} 0$/m)
  assert.is(installation!.body.mode, 'draining')
  const service = doctor!.body.findings.find(({ check }: { check: string }) => check === 'service')
  assert.is(service.status, 'warning')
})

test('while read-only, nothing is changed or sent, and reading goes on', async t => {
  const inSeconds = (seconds: number) => new Date(mailhorn.clock.now() + seconds * 1_000).toISOString()
  const { body: queued } = await mailhorn.call('POST', '/emails', {
    session,
    body: { ...EMAIL, scheduled_at: inSeconds(60) },
  })
  const sentBefore = mx.messages.length
  await switchTo(t, 'read-only')

  assert.equal(await answerTo('POST', '/emails', EMAIL), CLOSED)
  assert.equal(await answerTo('POST', '/audiences', { name: 'More' }), CLOSED)
  assert.equal(await answerTo('DELETE', `/emails/${queued.id}/share/none`), CLOSED)
  assert.equal((await answerTo('GET', `/emails/${queued.id}`))[0], 200)
  assert.is(await mailhorn.signIn().then(token => token.length > 0), true, 'signing in works')
  const client = await t.using(dialSmtp(mailhorn.app.inboundAddress!))
  await client.reply()
  await client.say('EHLO client.example')
  assert.match(await client.say('MAIL FROM:<bob@there.example>'), /^451 4\.3\.2 /)

  mailhorn.clock.advance(120_000)
  const { body: still } = await mailhorn.call('GET', `/emails/${queued.id}`, { session })
  assert.is(still.last_event, 'scheduled')
  await mailhorn.call('PUT', PATH, { session, body: { mode: 'normal' } })
  await mailhorn.emailWhen(queued.id, 'delivered')
  assert.is(mx.messages.length, sentBefore + 1)
})

test('a broadcast that was due while read-only is sent as soon as the mode is normal', async t => {
  const { body: audience } = await mailhorn.call('POST', '/audiences', { session, body: { name: 'Readers' } })
  const contact = { session, body: { email: 'delivered@simulator.test' } }
  assert.is((await mailhorn.call('POST', `/audiences/${audience.id}/contacts`, contact)).status, 201)
  const scheduled_at = new Date(mailhorn.clock.now() + 60_000).toISOString()
  const { status, body: broadcast } = await mailhorn.call('POST', '/broadcasts', {
    session,
    body: {
      ...{ audience_id: audience.id, from: EMAIL.from, subject: 'news', html: '<p>News</p>' },
      ...{ send: true, scheduled_at },
    },
  })
  assert.is(status, 201, JSON.stringify(broadcast))
  await switchTo(t, 'read-only')
  mailhorn.clock.advance(120_000)
  const state = async () =>
    (await mailhorn.call('GET', `/broadcasts/${broadcast.id}`, { session })).body.status
  assert.is(await state(), 'scheduled')

  await mailhorn.call('PUT', PATH, { session, body: { mode: 'normal' } })
  await until(async () => (await state()) === 'sent')
})

test('while read-only, questions that are asked by POST are answered', async t => {
  const { body: audience } = await mailhorn.call('POST', '/audiences', { session, body: { name: 'Asked' } })
  const { body: draft } = await mailhorn.call('POST', '/broadcasts', {
    session,
    body: { audience_id: audience.id, from: EMAIL.from, subject: 'news', html: '<p>News</p>' },
  })
  await switchTo(t, 'read-only')
  const answers = { mail_host: 'mail.here.example', addresses: ['203.0.113.7'], contact: 'ops@here.example' }
  for (const [path, body] of [
    [`/audiences/${audience.id}/segments/count`, { filters: [] }],
    [`/broadcasts/${draft.id}/lint`, {}],
    ['/setup/plan', answers],
  ] as const)
    assert.is((await answerTo('POST', path, body))[0], 200, path)
})

test('deferred mail is held while read-only, and the time does not count towards its expiry', async t => {
  const id = await mailhorn.send({ ...EMAIL, to: ['grey-1@there.example'] })
  await mailhorn.emailWhen(id, 'delivery_delayed')
  await switchTo(t, 'read-only')
  mailhorn.clock.advance(100 * 3_600_000)
  session = await mailhorn.signIn() // the clock has ended the former one
  assert.is((await mailhorn.call('GET', PATH, { session })).body.mode, 'read-only')
  await mailhorn.call('PUT', PATH, { session, body: { mode: 'normal' } })
  await mailhorn.emailWhen(id, 'delivered')
})

test('only operators may see and switch the mode, and only to a mode that exists', async () => {
  const { session: other } = addAccount(mailhorn, 'other')
  for (const method of ['GET', 'PUT']) {
    const { status } = await mailhorn.call(method, PATH, {
      session: other,
      ...(method === 'PUT' && { body: { mode: 'draining' } }),
    })
    assert.is(status, 403)
  }
  const { status, body } = await mailhorn.call('PUT', PATH, { session, body: { mode: 'off' } })
  assert.equal([status, body.errors[0].path], [422, 'mode'])
  assert.is((await mailhorn.call('GET', PATH, { session })).body.mode, 'normal')
})

test('the mode survives a restart', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const first = await startMailhorn({ dataDir })
  const body = { mode: 'read-only', reason: 'a check' }
  await first.call('PUT', PATH, { session: await first.signIn(), body })
  await first.close()
  const second = await t.using(startMailhorn({ dataDir }))
  const own = { session: await second.signIn() }
  const { body: mode } = await second.call('GET', PATH, own)
  assert.equal([mode.mode, mode.reason], ['read-only', 'a check'])
  assert.is((await second.call('POST', '/audiences', { ...own, body: { name: 'x' } })).status, 503)
})

test.run()
