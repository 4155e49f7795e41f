import * as assert from 'uvu/assert'
import { type ApiAnswer, type CallOptions, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('batches')
const HOUR_MS = 3_600_000
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const ID = /^eml_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const mail = (over: object = {}) => ({
  from: 'ann@here.example',
  to: 'delivered@simulator.test',
  subject: 'hi',
  text: 'hello',
  ...over,
})
const many = (count: number, over: object = {}) =>
  Array.from({ length: count }, (_, i) => mail({ subject: `email ${i}`, ...over }))

function send(body: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer> {
  return mailhorn.call('POST', '/emails/batch', { key: mailhorn.apiKey, body, headers })
}

const permissively = (body: unknown, headers: Record<string, string> = {}) =>
  send(body, { 'x-batch-validation': 'permissive', ...headers })

function requireOk({ status, body }: ApiAnswer) {
  assert.is(status, 200, JSON.stringify(body).slice(0, 500))
  return body
}

const refused = (body: unknown, expected: Parameters<typeof refuses>[2], over: CallOptions = {}) =>
  refuses(mailhorn, ['POST', '/emails/batch', { key: mailhorn.apiKey, body, ...over }], expected)

const emailCount = () => mailhorn.rows<{ count: number }>('select count(*) as count from emails')[0]!.count

test('all emails are sent and the ids are in their order', async () => {
  const body = requireOk(await send(many(5)))
  assert.equal(Object.keys(body), ['data'])
  assert.is(body.data.length, 5)
  for (const [i, { id, ...rest }] of body.data.entries()) {
    assert.match(id, ID)
    assert.equal(rest, {})
    assert.is((await mailhorn.emailWhen(id, 'delivered')).subject, `email ${i}`)
  }
})

test('each email may use all fields of a single email', async () => {
  const content = Buffer.from('file').toString('base64')
  const scheduledAt = new Date(mailhorn.clock.now() + HOUR_MS).toISOString()
  const { data } = requireOk(
    await send([
      mail({ html: '<p>one</p>', headers: { 'X-One': '1' }, tags: [{ name: 'n', value: 'v' }] }),
      mail({ cc: 'delivered+cc@simulator.test', reply_to: ['r@here.example'], text: 'zwei' }),
      mail({ attachments: [{ filename: 'a.txt', content }] }),
      mail({ scheduled_at: scheduledAt }),
    ]),
  )
  const [one, two, three, four] = await Promise.all(
    data.map(({ id }: { id: string }) => mailhorn.emailWhen(id, 'delivered', 'scheduled')),
  )
  assert.equal(
    [one.html, one.headers, one.tags],
    ['<p>one</p>', { 'X-One': '1' }, [{ name: 'n', value: 'v' }]],
  )
  assert.equal(
    [two.cc, two.reply_to, two.text],
    [['delivered+cc@simulator.test'], ['r@here.example'], 'zwei'],
  )
  assert.equal([three.attachments[0].filename, three.attachments[0].size], ['a.txt', 4])
  assert.equal([four.status, four.scheduled_at], ['scheduled', scheduledAt])
})

test('1 to 100 emails are accepted', async () => {
  assert.is(requireOk(await send(many(100))).data.length, 100)
  const expected = { status: 422, name: 'validation_error', says: /1 to 100 emails/ }
  await refused(many(101), expected)
  await refused([], expected)
  await refused(many(101), expected, { headers: { 'x-batch-validation': 'permissive' } })
})

for (const [what, raw] of [
  ['one email', JSON.stringify(mail())],
  ['nothing', ''],
  ['an object with a list', JSON.stringify({ emails: [mail()] })],
])
  test(`${what} is refused as a batch`, async () => {
    await refuses(mailhorn, ['POST', '/emails/batch', { key: mailhorn.apiKey, raw: raw! }], {
      status: 400,
      name: 'validation_error',
      says: /array of emails/,
    })
  })

test('strict: one invalid email refuses the batch, with all faults by index and field', async () => {
  const { body } = await refused(
    [mail(), mail({ to: 'nobody' }), mail(), mail({ from: undefined, subject: undefined })],
    { status: 422, name: 'validation_error', path: '[1].to', says: /^\[1\]: .*`to`/ },
  )
  assert.equal(
    body.errors.map(({ path }: { path: string }) => path),
    ['[1].to', '[3].from', '[3].subject'],
  )
})

for (const [what, email, status, name, path] of [
  ['a missing field', { subject: undefined }, 422, 'missing_required_field', '[1].subject'],
  ['a bad sender', { from: 'ann' }, 422, 'invalid_from_address', '[1].from'],
  [
    'a bad attachment',
    { attachments: [{ content: '!' }] },
    422,
    'invalid_attachment',
    '[1].attachments[0].content',
  ],
  ['a bad header', { headers: { Bcc: 'x' } }, 422, 'validation_error', '[1].headers.Bcc'],
  ['a time that is none', { scheduled_at: 'soon' }, 422, 'validation_error', '[1].scheduled_at'],
  [
    'a time that is past',
    { scheduled_at: '2020-01-01T00:00:00Z' },
    422,
    'validation_error',
    '[1].scheduled_at',
  ],
  ['an unverified domain', { to: 'ok@there.example' }, 403, 'validation_error', '[1].from'],
  [
    'too many recipients',
    { to: Array.from({ length: 51 }, (_, i) => `delivered+${i}@simulator.test`) },
    422,
    'validation_error',
    '[1].to',
  ],
  [
    'a file to be fetched',
    { attachments: [{ path: 'https://x.example/a' }] },
    422,
    'invalid_attachment',
    '[1].attachments[0].path',
  ],
] as const)
  test(`${what} is refused as in a single email, with its index`, async () => {
    const { body } = await refused([mail(), mail(email), mail()], { status, name, path, says: /^\[1\]: / })
    assert.is(body.errors.length, 1)
    const { body: permissive } = await permissively([mail(), mail(email), mail()])
    assert.is(permissive.data.length, 2)
    assert.equal(permissive.errors, [{ index: 1, message: body.message.slice('[1]: '.length) }])
  })

for (const [what, item] of [
  ['null', null],
  ['a text', 'hello'],
  ['a number', 7],
  ['a list', [mail()]],
] as const)
  test(`${what} is refused as an email`, async () => {
    await refused([mail(), item], { status: 422, name: 'validation_error', path: '[1]', says: /JSON object/ })
    const { data, errors } = requireOk(await permissively([item, mail()]))
    assert.equal(
      [data.length, errors],
      [1, [{ index: 0, message: 'Each email of a batch must be a JSON object.' }]],
    )
  })

test('permissive: valid emails are sent and invalid ones reported by index', async () => {
  const { data, errors } = requireOk(
    await permissively([
      mail({ to: 'nobody' }),
      mail({ subject: 'first' }),
      mail({ to: 'ok@there.example' }),
      mail({ scheduled_at: '2020-01-01T00:00:00Z' }),
      mail({ subject: 'second' }),
      mail({ html: undefined, text: undefined }),
    ]),
  )
  assert.equal(
    errors.map(({ index, message }: { index: number; message: string }) => [index, typeof message]),
    [0, 2, 3, 5].map(index => [index, 'string']),
  )
  const emails = await Promise.all(data.map(({ id }: { id: string }) => mailhorn.emailWhen(id, 'delivered')))
  assert.equal(
    emails.map(({ subject }) => subject),
    ['first', 'second'],
  )
})

test('permissive: the reply has no errors if all emails are valid, and no ids if none is', async () => {
  assert.equal(requireOk(await permissively([mail()])).errors, [])
  const before = emailCount()
  const { data, errors } = requireOk(
    await permissively([mail({ to: 'x' }), mail({ to: 'ok@there.example' })]),
  )
  assert.equal([data, errors.length, emailCount()], [[], 2, before])
})

test('the mode is strict or permissive in any letter case', async () => {
  requireOk(await send([mail()], { 'x-batch-validation': 'STRICT' }))
  assert.ok(requireOk(await send([mail({ to: 'x' })], { 'x-batch-validation': 'Permissive' })).errors)
  await refused(
    [mail()],
    { status: 422, name: 'validation_error', says: /x-batch-validation/ },
    { headers: { 'x-batch-validation': 'lenient' } },
  )
})

test('the number of reported errors is limited', async () => {
  const attachments = Array.from({ length: 500 }, () => 7)
  const { status, body } = await send(many(100, { attachments }))
  assert.is(status, 422)
  assert.is(body.errors.length, 100)
})

test('content that all emails share is stored once', async () => {
  const { data } = requireOk(
    await send([
      ...many(3, { text: 'the same words' }),
      ...many(2, { text: 'other words' }),
      mail({ text: 'the same words' }),
    ]),
  )
  const refs = mailhorn.rows<{ refs: number; uses: number }>(
    `select refs, (select count(*) from emails where content_id = c.id) as uses from contents c
     where id in (select content_id from emails where id >= ?) order by id`,
    Buffer.from(data[0].id.slice(4).replaceAll('-', ''), 'hex'),
  )
  assert.equal(refs, [
    { refs: 3, uses: 3 },
    { refs: 2, uses: 2 },
    { refs: 1, uses: 1 },
  ])
})

test('a suppressed recipient does not affect other emails', async () => {
  mailhorn.change(
    `insert into suppressions (account_id, email, id, reason, created_at)
     select id, 'delivered+no@simulator.test', id, 'manual', 0 from accounts`,
  )
  const { data } = requireOk(await send([mail(), mail({ to: 'delivered+no@simulator.test' })]))
  await mailhorn.emailWhen(data[0].id, 'delivered')
  await mailhorn.emailWhen(data[1].id, 'suppressed')
})

test('a repeated request with its key gets the same answer and sends nothing', async () => {
  const headers = { 'idempotency-key': 'batch-1' }
  const first = requireOk(await send(many(10), headers))
  const before = emailCount()
  assert.equal(requireOk(await send(many(10), headers)), first)
  assert.is(emailCount(), before)
  assertRefusal(await send(many(9), headers), { status: 409, name: 'invalid_idempotent_request' })
  assertRefusal(await send(many(10).toReversed(), headers), {
    status: 409,
    name: 'invalid_idempotent_request',
  })
})

test('a repeated permissive request with its key gets the same errors', async () => {
  const headers = { 'idempotency-key': 'batch-2' }
  const batch = [mail({ to: 'x' }), mail(), mail({ to: 'ok@there.example' })]
  const first = requireOk(await permissively(batch, headers))
  assert.equal([first.data.length, first.errors.length], [1, 2])
  assert.equal(requireOk(await permissively(batch, headers)), first)
  await mailhorn.verifiedDomain('here.example')
  assert.equal(requireOk(await permissively(batch, headers)), first)
})

test('a batch and a single email with the same key are independent', async () => {
  const headers = { 'idempotency-key': 'shared' }
  const { data } = requireOk(await send([mail()], headers))
  const { body } = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body: mail(), headers })
  assert.match(body.id, ID)
  assert.is.not(body.id, data[0].id)
})

test('50 concurrent requests with one key are one batch', async () => {
  const before = emailCount()
  const headers = { 'idempotency-key': 'fifty' }
  const answers = await Promise.all(Array.from({ length: 50 }, () => send(many(3), headers)))
  for (const answer of answers) assert.equal(requireOk(answer), answers[0]!.body)
  assert.is(emailCount(), before + 3)
})

test('a refused batch leaves its key to the next request', async () => {
  const headers = { 'idempotency-key': 'refused' }
  assert.is((await send([mail({ to: 'x' })], headers)).status, 422)
  assert.is((await send([mail({ from: 'a@nowhere.example', to: 'ok@there.example' })], headers)).status, 403)
  assert.is(requireOk(await permissively([mail({ to: 'x' })], headers)).data.length, 0)
  assert.is(requireOk(await send([mail()], headers)).data.length, 1)
})

test('an API key bound to a domain sends from this domain only', async () => {
  const session = await mailhorn.signIn()
  const { id: domain_id } = await mailhorn.verifiedDomain('bound.example')
  const { body: key } = await mailhorn.call('POST', '/api-keys', { session, body: { name: 'b', domain_id } })
  const options = { key: key.token, body: [mail({ from: 'a@bound.example' }), mail()] }
  assertRefusal(await mailhorn.call('POST', '/emails/batch', options), {
    status: 403,
    name: 'invalid_access',
    path: '[1].from',
    says: /bound\.example/,
  })
  const permissive = { ...options, headers: { 'x-batch-validation': 'permissive' } }
  assertRefusal(await mailhorn.call('POST', '/emails/batch', permissive), {
    status: 403,
    name: 'invalid_access',
    path: '[1].from',
    says: /bound\.example/,
  })
})

test('an API key bound to a domain does not get the stored answer of another credential', async () => {
  const session = await mailhorn.signIn()
  const { id: domain_id } = await mailhorn.verifiedDomain('curious.example')
  const { body: key } = await mailhorn.call('POST', '/api-keys', { session, body: { name: 'c', domain_id } })
  for (const mode of ['strict', 'permissive']) {
    const headers = { 'idempotency-key': `secret-${mode}`, 'x-batch-validation': mode }
    const body = [mail(), mail({ from: 'a@curious.example' })]
    requireOk(await send(body, headers))
    assertRefusal(await mailhorn.call('POST', '/emails/batch', { key: key.token, body, headers }), {
      status: 403,
      name: 'invalid_access',
      path: '[0].from',
      says: /curious\.example/,
    })
  }
})

test('ids have no prefix for the client that needs it', async () => {
  const { data } = requireOk(await send([mail()], { 'user-agent': 'resend-sdk/0.11.0 dotnet/8' }))
  assert.match(data[0].id, /^[0-9a-f]{8}-/)
})

test('the quota accepts the whole batch or none of it', async t => {
  const small = await t.using(
    startMailhorn({ env: { MAILHORN_PLANS_SCALE_DAILY: '10', MAILHORN_PLANS_SCALE_MONTHLY: '100' } }),
  )
  const call = (body: unknown, headers = {}) =>
    small.call('POST', '/emails/batch', { key: small.apiKey, body, headers })
  requireOk(await call(many(6)))
  assertRefusal(await call(many(5)), { status: 429, name: 'daily_quota_exceeded' })
  const permissive = { 'x-batch-validation': 'permissive' }
  assertRefusal(await call(many(5), permissive), { status: 429, name: 'daily_quota_exceeded' })
  requireOk(await call([...many(4), mail({ to: 'x' })], permissive))
  assertRefusal(await call([mail()]), { status: 429, name: 'daily_quota_exceeded' })
  assert.is(small.rows('select id from emails').length, 10)
})

test.run()
