import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { addAccount, openSession } from '../../kit/accounts.ts'
import { type CallOptions, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('request log')
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

const MAIL = { from: 'Ann <ann@here.example>', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }

async function call(method: string, path: string, options: CallOptions = {}) {
  return mailhorn.call(method, path, { key: mailhorn.apiKey, ...options })
}

async function list(query = '') {
  const { status, body } = await mailhorn.call('GET', `/logs${query}`, { session })
  assert.is(status, 200, JSON.stringify(body))
  return body
}

/** The log entry of a reply, by its `x-request-id`. */
async function entryOf({ headers }: { headers: Headers }) {
  const id = headers.get('x-request-id')!
  const { status, body } = await mailhorn.call('GET', `/logs/log_${id}`, { session })
  assert.is(status, 200, JSON.stringify(body))
  return body
}

test('a send is listed as soon as it is answered, with its bodies', async () => {
  const sent = await call('POST', '/emails', { body: MAIL, headers: { 'user-agent': 'resend-node:6.38.0' } })
  const [newest] = (await list('?limit=1')).data
  const entry = await entryOf(sent)
  assert.equal(
    [newest.id, newest.endpoint, newest.method, newest.response_status, newest.user_agent],
    [entry.id, '/emails', 'POST', 200, 'resend-node:6.38.0'],
  )
  assert.equal(
    [entry.object, entry.error_name, entry.query, entry.credential.kind, entry.client_address],
    ['log', null, null, 'key', '127.0.0.1'],
  )
  assert.equal([entry.request_body, entry.response_body], [MAIL, sent.body])
  assert.equal([entry.bodies_stored, entry.request_body_truncated], [true, false])
  assert.is(entry.resource_id, sent.body.id)
  assert.match(entry.created_at, /^\d{4}-.*Z$/)
})

test('a refused request is listed with its error', async () => {
  const refused = await call('POST', '/emails', { body: { ...MAIL, to: [] } })
  const { error_name, response_status, response_body, request_body, resource_id } = await entryOf(refused)
  assert.equal([error_name, response_status], ['missing_required_field', 422])
  assert.equal([response_body, request_body.subject, resource_id], [refused.body, 'hi', null])
})

for (const [what, method, path, status, name] of [
  ['an unknown path', 'GET', '/inboxes', 404, 'not_found'],
  ['a wrong method', 'PUT', '/emails', 405, 'method_not_allowed'],
  ['a route that the key may not use', 'GET', '/domains', 401, 'restricted_api_key'],
] as const)
  test(`a request for ${what} is listed under the key`, async () => {
    const entry = await entryOf(await call(method, path))
    assert.equal(
      [entry.method, entry.endpoint, entry.response_status, entry.error_name, entry.credential.kind],
      [method, path, status, name, 'key'],
    )
  })

test('the query of a request is shown', async () => {
  const entry = await entryOf(await call('GET', '/emails?limit=1&status=sent'))
  assert.equal([entry.endpoint, entry.query], ['/emails', 'limit=1&status=sent'])
})

test('secrets are neither stored nor shown', async () => {
  const made = await mailhorn.call('POST', '/api-keys', { session, body: { name: 'logged' } })
  const hook = await mailhorn.call('POST', '/webhooks', {
    session,
    body: { url: 'https://hooks.invalid/', events: ['email.sent'] },
  })
  assert.is((await entryOf(made)).response_body.token, '[redacted]')
  assert.is((await entryOf(hook)).response_body.signing_secret, '[redacted]')
  const attachments = [{ filename: 'a.txt', content: Buffer.from('x'.repeat(40_000)).toString('base64') }]
  const sent = await call('POST', '/emails', { body: { ...MAIL, attachments } })
  const entry = await entryOf(sent)
  assert.is(entry.request_body_truncated, true)
  assert.match(entry.request_body.attachments[0].content, /^\[more than \d+ bytes\]$/)
})

test('secrets in the query, the path and the user agent are neither stored nor shown', async () => {
  const secret = `re_${'Ab1'.repeat(13)}x`
  const headers = { 'user-agent': `cron ${secret}` }
  for (const [path, endpoint, query] of [
    [`/emails?api_key=${secret}&limit=1`, '/emails', 'api_key=[redacted]&limit=1'],
    [`/emails?${'a'.repeat(470)}=1&q=${secret}`, '/emails', `${'a'.repeat(470)}=1&q=re_[redacted]`],
    [`/nope/${secret}`, '/nope/re_[redacted]', null],
  ]) {
    const entry = await entryOf(await call('GET', path!, { headers }))
    assert.equal([entry.endpoint, entry.query, entry.user_agent], [endpoint, query, 'cron re_[redacted]'])
  }
  assert.not(
    JSON.stringify(mailhorn.rows('select path, query, user_agent from logged_requests')).includes(secret),
  )
})

test('a large body is logged by its beginning', async () => {
  const html = `<p>${'y'.repeat(300_000)}</p>`
  const entry = await entryOf(await call('POST', '/emails', { body: { ...MAIL, html } }))
  assert.is(entry.request_body_truncated, true)
  assert.is(entry.request_body.subject, 'hi')
  assert.ok(JSON.stringify(entry.request_body).length < 17_000)
})

test('requests of a browser are listed if they write', async () => {
  const cookie = `mailhorn_session=${openSession(mailhorn, 'cookie')}`
  const headers = { cookie, origin: mailhorn.baseUrl, 'user-agent': 'browser' }
  await mailhorn.call('GET', '/topics', { headers })
  await mailhorn.call('POST', '/topics', { headers, body: { name: 'weekly' } })
  const seen = (await list()).data.filter(
    ({ user_agent }: { user_agent: string }) => user_agent === 'browser',
  )
  assert.equal(
    seen.map(({ method, credential }: { method: string; credential: { kind: string } }) => [
      ...[method, credential.kind],
    ]),
    [['POST', 'session']],
  )
})

test('requests without a credential and public requests are not listed', async () => {
  const before = (await list('?limit=1')).data[0].id
  await mailhorn.call('GET', '/emails')
  await mailhorn.call('GET', '/emails', { key: 're_unknown' })
  await call('GET', '/healthz')
  const since = (await list(`?before=${before}`)).data
  assert.ok(since.every(({ endpoint }: { endpoint: string }) => endpoint === '/logs'))
})

test('filters narrow the list, and wrong ones are refused', async () => {
  const answer = await call('POST', '/emails/batch', { body: [{ ...MAIL, from: 'no' }] })
  const id = `log_${answer.headers.get('x-request-id')}`
  const { credential } = await entryOf(answer)
  for (const query of [
    '?path=/emails/batch&status=422',
    '?path=/emails/*&status=4xx&method=post',
    `?api_key_id=${credential.id}&path=/emails/batch`,
    `?credential=${credential.id}&path=/emails/batch`,
    '?path=/emails/batch&created_after=2020-01-01',
  ])
    assert.equal(
      (await list(query)).data.map((entry: { id: string }) => entry.id),
      [id],
      query,
    )
  assert.equal((await list('?path=/emails/batch&created_before=2020-01-01')).data, [])
  for (const query of [
    'status=9',
    'method=X',
    'path=emails',
    'credential=dom_1',
    'created_after=x',
    'after=x',
  ])
    assertRefusal(await mailhorn.call('GET', `/logs?${query}`, { session }), {
      status: 422,
      name: 'validation_error',
    })
})

test('requests are found by their id, the id of an email and a part of their path', async () => {
  const sent = await call('POST', '/emails', { body: MAIL })
  const batch = await call('POST', '/emails/batch', { body: [MAIL] })
  const read = await call('GET', `/emails/${sent.body.id}`)
  const requestId = (answer: { headers: Headers }) => answer.headers.get('x-request-id')!
  for (const [q, found] of [
    [requestId(sent), [sent]],
    [`log_${requestId(batch)}`, [batch]],
    [sent.body.id, [read, sent]],
    [batch.body.data[0].id, [batch]],
    [`/${sent.body.id.toUpperCase().slice(4, 20)}`, []],
    [sent.body.id.toUpperCase().slice(4, 30), [read]],
  ] as [string, { headers: Headers }[]][])
    assert.equal(
      (await list(`?q=${encodeURIComponent(q)}`)).data.map((entry: { id: string }) => entry.id),
      found.map(answer => `log_${requestId(answer)}`),
      q,
    )
})

test('a request has the name of its API key until the key is deleted', async () => {
  const body = { name: 'Web shop' }
  const { body: key } = await mailhorn.call('POST', '/api-keys', { session, body })
  const answer = await mailhorn.call('GET', '/emails', { key: key.token })
  const name = async () => [
    (await list(`?credential=${key.id}`)).data[0].credential.name,
    (await entryOf(answer)).credential.name,
  ]
  assert.equal(await name(), ['Web shop', 'Web shop'])
  await mailhorn.call('DELETE', `/api-keys/${key.id}`, { session })
  assert.equal(await name(), [null, null])
})

test('pages are read by the cursors of the SDKs', async () => {
  for (let i = 0; i < 3; i++) await call('GET', `/suppressions?offset=${i}`)
  const first = await list('?path=/suppressions&limit=2')
  const next = await list(`?path=/suppressions&limit=2&after=${first.data[1].id}`)
  const back = await list(`?path=/suppressions&limit=2&before=${next.data[0].id}`)
  assert.equal([first.has_more, first.data.length, next.has_more, next.data.length], [true, 2, false, 1])
  assert.equal(back.data, first.data)
})

test('an account sees its own requests only', async () => {
  const other = addAccount(mailhorn, 'other')
  const answer = await call('GET', '/emails')
  const id = answer.headers.get('x-request-id')
  const requests = await mailhorn.call('GET', `/logs/${id}`, { session: other.session })
  assertRefusal(requests, { status: 404, name: 'not_found' })
  const { body } = await mailhorn.call('GET', '/logs?path=/emails', { session: other.session })
  assert.equal(body.data, [])
})

test('requests are kept when the service is stopped, and end with the retention of the log', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-logs-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const first = await startMailhorn({ dataDir })
  const sent = await first.call('POST', '/emails', { key: first.apiKey, body: MAIL })
  const id = sent.headers.get('x-request-id')
  await first.close()
  const second = await t.using(startMailhorn({ dataDir }))
  const own = await second.signIn()
  assert.is((await second.call('GET', `/logs/${id}`, { session: own })).body.response_status, 200)
  second.clock.advance(31 * 86_400_000)
  const later = openSession(second, 'bearer')
  assert.is((await second.call('GET', `/logs/${id}`, { session: later })).status, 404)
})

for (const [setting, expected] of [
  [{ MAILHORN_LOGS_RETENTION_DAYS: '0' }, []],
  [{ MAILHORN_LOGS_BODIES: 'false' }, [[false, null]]],
] as const)
  test(`${Object.keys(setting)[0]} limits what is logged`, async t => {
    const limited = await t.using(startMailhorn({ env: setting }))
    const own = await limited.signIn()
    const { headers } = await limited.call('POST', '/emails', { key: limited.apiKey, body: MAIL })
    const { body } = await limited.call('GET', '/logs?path=/emails', { session: own })
    assert.is(body.data.length, expected.length)
    const detail = await limited.call('GET', `/logs/${headers.get('x-request-id')}`, { session: own })
    if (expected.length > 0) assert.equal([[detail.body.bodies_stored, detail.body.request_body]], expected)
  })

test.run()
