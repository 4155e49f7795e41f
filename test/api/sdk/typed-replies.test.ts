import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { assertReadable, faultsFor, type Language, type ReplyKind } from '../../kit/typed-readers.ts'

const test = suite('typed clients read')
const HOUR_MS = 3_600_000
let mailhorn: Mailhorn
/** Holds all mail back. */
let holding: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
  holding = await startMailhorn({ env: { MAILHORN_ROLES: 'api' } })
})
test.after(async () => {
  await mailhorn.close()
  await holding.close()
})

const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const FULL = {
  from: 'Ann Émile <ann@here.example>',
  to: ['Bob <delivered@simulator.test>', 'bounced@simulator.test'],
  cc: ['delivered+cc@simulator.test'],
  bcc: ['delayed@simulator.test'],
  reply_to: ['Replies <r@here.example>'],
  subject: 'Grüße',
  html: '<p>hello</p>',
  text: 'hello',
  headers: { 'X-A': 'a', 'In-Reply-To': '<1@there.example>' },
  tags: [{ name: 'kind', value: 'test' }],
  attachments: [
    { filename: 'a.txt', content: 'aGVsbG8=' },
    { filename: 'b.png', content: 'aGVsbG8=', content_id: 'b' },
  ],
}

/** Clients that want their ids bare are known by their name. */
const CALLERS = [
  { who: 'most', headers: { 'user-agent': 'resend-go/3.12.0' }, bareIds: false },
  { who: '.NET', headers: { 'user-agent': 'resend-sdk/0.11.0 dotnet/8.0.0' }, bareIds: true },
]

/** Asks as every caller does, and has all of them read the answer. */
async function readable(kind: ReplyKind, ask: (headers: Record<string, string>) => Promise<ApiAnswer>) {
  const answers: ApiAnswer[] = []
  for (const { headers, bareIds } of CALLERS) {
    const answer = await ask(headers)
    assertReadable(kind, answer, { bareIds })
    answers.push(answer)
  }
  return answers
}

const asker =
  (service: () => Mailhorn) =>
  (method: string, path: string, body?: unknown) =>
  (headers: Record<string, string>) =>
    service().call(method, path, { key: service().apiKey, headers, ...(body === undefined ? {} : { body }) })
const ask = asker(() => mailhorn)
const askHolding = asker(() => holding)

test('what sending answers', async () => {
  for (const email of [MAIL, FULL]) await readable('send', ask('POST', '/emails', email))
})

test('what batches answer, permissive or not', async () => {
  await readable('batch', ask('POST', '/emails/batch', [MAIL, FULL]))
  for (const emails of [[MAIL], [MAIL, { ...MAIL, to: 'nobody' }], [{}]])
    await readable('batch', headers =>
      ask('POST', '/emails/batch', emails)({ ...headers, 'x-batch-validation': 'permissive' }),
    )
})

for (const [to, status] of [
  ['delivered', 'delivered'],
  ['bounced', 'bounced'],
  ['soft-bounced', 'bounced'],
  ['complained', 'complained'],
  ['suppressed', 'suppressed'],
  ['failed', 'failed'],
  ['delayed', 'delivery_delayed'],
  ['opened', 'delivered'],
  ['clicked', 'delivered'],
] as const)
  test(`an email to ${to}`, async () => {
    const id = await mailhorn.send({ ...MAIL, to: `${to}@simulator.test` })
    await mailhorn.emailWhen(id, status)
    await readable('email', ask('GET', `/emails/${id}`))
  })

test('an email with everything, and one with next to nothing', async () => {
  for (const email of [FULL, { ...MAIL, html: '' }, { ...MAIL, text: '', html: '<p>' }]) {
    const id = await mailhorn.send(email)
    await mailhorn.emailWhen(id, 'delivered', 'bounced')
    await readable('email', ask('GET', `/emails/${id}`))
  }
})

test('emails that wait, are moved, and are canceled', async () => {
  const scheduledAt = new Date(holding.clock.now() + HOUR_MS).toISOString()
  for (const email of [MAIL, FULL]) {
    const queued = await holding.send(email)
    assert.is((await holding.email(queued)).status, 'queued')
    await readable('email', askHolding('GET', `/emails/${queued}`))
    const ids = await Promise.all(CALLERS.map(() => holding.send({ ...email, scheduled_at: scheduledAt })))
    await readable('email', askHolding('GET', `/emails/${ids[0]}`))
    await readable('changed', askHolding('PATCH', `/emails/${ids[0]}`, { scheduled_at: scheduledAt }))
    await readable('changed', headers => askHolding('POST', `/emails/${ids.pop()}/cancel`)(headers))
  }
  await readable('list', askHolding('GET', '/emails?limit=100'))
})

test('lists: full, empty, and of one page of many', async () => {
  for (const query of ['', '?limit=100', '?limit=1', '?q=nothing+has+this'])
    await readable('list', ask('GET', `/emails${query}`))
})

test('attachments, of a list and alone', async () => {
  const id = await mailhorn.send(FULL)
  const [list] = await readable('attachments', ask('GET', `/emails/${id}/attachments`))
  for (const { id: file } of list!.body.data)
    await readable('attachment', ask('GET', `/emails/${id}/attachments/${file}`))
  await readable('attachments', ask('GET', `/emails/${await mailhorn.send(MAIL)}/attachments`))
})

const ERRORS: [what: string, ask: (service: Mailhorn) => Promise<ApiAnswer>][] = [
  ['malformed', p => p.call('POST', '/emails', { key: p.apiKey, raw: '{' })],
  ['missing', p => p.call('POST', '/emails', { key: p.apiKey, body: {} })],
  ['invalid', p => p.call('POST', '/emails', { key: p.apiKey, body: { ...MAIL, to: [1, 'x'] } })],
  ['invalid in a batch', p => p.call('POST', '/emails/batch', { key: p.apiKey, body: [MAIL, {}, 5] })],
  ['a bad sender', p => p.call('POST', '/emails', { key: p.apiKey, body: { ...MAIL, from: 'x' } })],
  ['unverified', p => p.call('POST', '/emails', { key: p.apiKey, body: { ...MAIL, to: 'a@b.example' } })],
  ['no credential', p => p.call('GET', '/emails')],
  ['an unknown key', p => p.call('GET', '/emails', { key: 're_x' })],
  ['a dashboard path', p => p.call('GET', '/domains', { key: p.apiKey })],
  ['an unknown email', p => p.call('GET', '/emails/x', { key: p.apiKey })],
  ['an unknown path', p => p.call('GET', '/x', { key: p.apiKey })],
  ['a wrong method', p => p.call('DELETE', '/emails', { key: p.apiKey })],
  ['a wrong type', p => p.call('POST', '/emails', { raw: 'x', headers: { 'content-type': 'text/plain' } })],
  ['a bad page', p => p.call('GET', '/emails?limit=0', { key: p.apiKey })],
]
for (const [what, make] of ERRORS)
  test(`errors: ${what}`, async () => assertReadable('error', await make(mailhorn)))

test('errors of the rate limit, and its headers on every reply', async t => {
  const limited = await t.using(startMailhorn({ env: { MAILHORN_RATE_LIMIT_REQUESTS_PER_SECOND: '2' } }))
  const { apiKey: key } = addAccount(limited, 'hasty')
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => limited.call('POST', '/emails', { key, body: MAIL })),
  )
  for (const answer of answers) {
    assertReadable(answer.status === 200 ? 'send' : 'error', answer)
    for (const name of ['limit', 'remaining', 'reset']) assert.ok(answer.headers.has(`ratelimit-${name}`))
  }
  assert.equal([...new Set(answers.map(({ status }) => status))].sort(), [200, 429])
})

test('only what is of their types', async () => {
  const [plain, bare] = await readable('email', ask('GET', `/emails/${await mailhorn.send(FULL)}`))
  const row = (body: object) => ({ object: 'list', has_more: false, data: [body] })
  const SPOILT: [Language, ReplyKind, (email: Record<string, unknown>) => unknown][] = [
    ['go', 'email', email => ({ ...email, to: 'a@b.example' })],
    ['go', 'email', email => ({ ...email, headers: { 'X-A': ['a'] } })],
    ['go', 'email', email => ({ ...email, subject: 5 })],
    ['go', 'list', email => row({ ...email, bcc: 'a@b.example' })],
    ['go', 'batch', () => ({ data: [{ id: 5 }] })],
    ['go', 'error', () => ({ statusCode: '422' })],
    ['rust', 'email', ({ cc: _, ...email }) => email],
    ['rust', 'email', email => ({ ...email, subject: null })],
    ['rust', 'email', email => ({ ...email, last_event: 'email.sent' })],
    ['rust', 'list', ({ bcc: _, ...email }) => row(email)],
    ['rust', 'list', email => ({ data: [email] })],
    ['rust', 'send', () => ({})],
    ['rust', 'batch', () => ({ data: [], errors: null })],
    ['rust', 'error', () => ({ statusCode: 422, message: 'x' })],
    ['dotnet', 'email', () => plain!.body],
    ['dotnet', 'email', email => ({ ...email, created_at: 'yesterday' })],
    ['dotnet', 'send', () => ({ id: 'eml_1' })],
    ['dotnet', 'error', () => ({ statusCode: 422, name: 'too_bad', message: 'x' })],
    ['untyped', 'send', () => [{ id: 'x' }]],
    ['untyped', 'email', email => ({ ...email, statusCode: 200 })],
  ]
  for (const [language, kind, spoil] of SPOILT)
    assert.ok(faultsFor(language, kind, spoil(bare!.body)).length > 0, `${language} ${kind} ${spoil}`)
})

test.run()
