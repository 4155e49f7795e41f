import type { ErrorResponse, Resend } from 'resend'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { storedIn } from '../../kit/refusals.ts'
import {
  assertTold,
  MODERN_VERSIONS,
  openResend,
  RESEND_VERSIONS,
  requireData,
} from '../../kit/resend-versions.ts'
import { holdDatabase, refuseWrites } from '../../kit/stuck-database.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('resend packages are told of')
const MIB = 1024 * 1024
let mailhorn: Mailhorn
/** API key of the first account, bound to `bound.example`. */
let boundKey = ''
/** Neither is the caller's. */
let foreign = { email: '', template: '' }
test.before(async () => {
  mailhorn = await startMailhorn()
  const session = await mailhorn.signIn()
  await mailhorn.call('POST', '/domains', { session, body: { name: 'pending.example' } })
  const { body: domain } = await mailhorn.call('POST', '/domains', {
    session,
    body: { name: 'bound.example' },
  })
  const named = { name: 'bound', domain_id: domain.id }
  boundKey = (await mailhorn.call('POST', '/api-keys', { session, body: named })).body.token
  const stranger = addAccount(mailhorn, 'stranger')
  const theirs = (path: string, body: object) =>
    mailhorn.call('POST', path, { session: stranger.session, body })
  foreign = {
    email: (await theirs('/emails', MAIL)).body.id,
    template: (await theirs('/templates', { name: 'theirs' })).body.id,
  }
})
test.after(() => mailhorn.close())

const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const UNKNOWN = 'eml_01990000-0000-7000-8000-000000000000'
type Answer = { data: unknown; error: ErrorResponse | null }
/** The older ones have the same methods, though their types hide them. */
type Client = Pick<Resend, 'emails' | 'batch' | 'domains' | 'templates' | 'get' | 'put' | 'post'>
interface Row {
  what: string
  name: string
  status: number
  /** Returns the key of the caller; the first account's when absent. */
  key?(): string
  ask(client: Client): Promise<Answer>
  says?: RegExp
  /** So large that one version must do. */
  large?: boolean
}

const send =
  (fields: object, options: object = {}) =>
  ({ emails }: Client): Promise<Answer> =>
    emails.send({ ...MAIL, ...fields }, options)
const attached = (attachment: object) => send({ attachments: [attachment] })
const many = (count: number) => Array.from({ length: count }, (_, i) => `delivered+${i}@simulator.test`)

const ROWS: Row[] = [
  ...['from', 'to', 'subject'].map(field => ({
    ...{ what: `no ${field}`, name: 'missing_required_field', status: 422 },
    ask: send({ [field]: undefined }),
    says: new RegExp(`\`${field}\``),
  })),
  {
    ...{ what: 'an empty subject', name: 'missing_required_field', status: 422, says: /`subject`/ },
    ask: send({ subject: '' }),
  },
  {
    ...{ what: 'neither html nor text', name: 'missing_required_field', status: 422, says: /`html`/ },
    ask: send({ text: undefined }),
  },
  {
    ...{ what: 'a bad recipient', name: 'validation_error', status: 422, says: /`to`/ },
    ask: send({ to: 'nobody' }),
  },
  {
    ...{ what: 'a field of a wrong type', name: 'validation_error', status: 422, says: /`html`/ },
    ask: send({ html: 5 }),
  },
  {
    ...{ what: 'a header of the platform', name: 'validation_error', status: 422, says: /Bcc/i },
    ask: send({ headers: { Bcc: 'x@there.example' } }),
  },
  {
    ...{ what: '51 recipients', name: 'validation_error', status: 422, says: /50/ },
    ask: send({ to: many(40), cc: many(10), bcc: many(1) }),
  },
  {
    ...{ what: '101 emails', name: 'validation_error', status: 422, says: /100/ },
    ask: ({ batch }) => batch.send(Array(101).fill(MAIL)),
  },
  {
    ...{ what: 'a bad sender', name: 'invalid_from_address', status: 422, says: /`from`/ },
    ask: send({ from: 'ann' }),
  },
  {
    ...{ what: 'an attachment of nothing', name: 'invalid_attachment', status: 422, says: /content/ },
    ask: attached({ filename: 'a' }),
  },
  {
    ...{ what: 'an attachment that is no base64', name: 'invalid_attachment', status: 422, says: /base64/ },
    ask: attached({ filename: 'a.bin', content: 'not base64!' }),
  },
  {
    ...{ what: 'an attachment by path', name: 'invalid_attachment', status: 422, says: /path/ },
    ask: attached({ filename: 'a', path: 'https://files.example/a' }),
  },
  {
    ...{ what: 'a message beyond 40 MB', name: 'invalid_attachment', status: 422, says: /40 MB/ },
    ask: client => attached({ filename: 'a.bin', content: 'AAAA'.repeat(10.5 * MIB) })(client),
    large: true,
  },
  {
    ...{ what: 'a body beyond the limit', name: 'validation_error', status: 413, says: /larger/ },
    ask: client => send({ text: 'a'.repeat(57 * MIB) })(client),
    large: true,
  },
  {
    ...{ what: 'an unknown domain', name: 'validation_error', status: 403, says: /nowhere\.example/ },
    ask: send({ from: 'ann@nowhere.example', to: 'ok@there.example' }),
  },
  {
    ...{ what: 'an unverified domain', name: 'validation_error', status: 403, says: /pending\.example/ },
    ask: send({ from: 'ann@pending.example', to: 'ok@there.example' }),
  },
  {
    ...{ what: 'a key for another domain', name: 'invalid_access', status: 403, says: /bound\.example/ },
    ...{ ask: send({}), key: () => boundKey },
  },
  {
    ...{ what: 'a long idempotency key', name: 'invalid_idempotency_key', status: 400, says: /256/ },
    ask: send({}, { idempotencyKey: 'k'.repeat(257) }),
  },
  {
    ...{ what: 'an empty idempotency key', name: 'invalid_idempotency_key', status: 400, says: /256/ },
    ask: send({}, { idempotencyKey: ' ' }),
  },
  {
    ...{ what: 'an idempotency key with two bodies', name: 'invalid_idempotent_request', status: 409 },
    async ask(client) {
      requireData((await send({}, { idempotencyKey: 'twice' })(client)) as { data: object; error: null })
      return send({ subject: 'other' }, { idempotencyKey: 'twice' })(client)
    },
  },
  ...[UNKNOWN, UNKNOWN.slice(4), UNKNOWN.replace('eml', 'dom'), 'nonsense', '%2e%2e%2f', ' '].flatMap(id => [
    {
      ...{ what: `no email ${id}`, name: 'not_found', status: 404 },
      ask: ({ emails }: Client) => emails.get(encodeURIComponent(id)),
    },
    {
      ...{ what: `no email ${id} to cancel`, name: 'not_found', status: 404 },
      ask: ({ emails }: Client) => emails.cancel(encodeURIComponent(id)),
    },
    {
      ...{ what: `no email ${id} to move`, name: 'not_found', status: 404 },
      ask: ({ emails }: Client) =>
        emails.update({ id: encodeURIComponent(id), scheduledAt: '2099-01-01T00:00Z' }),
    },
  ]),
  {
    ...{ what: "no email of another's", name: 'not_found', status: 404 },
    ask: ({ emails }) => emails.get(foreign.email),
  },
  {
    ...{ what: "no email of another's to cancel", name: 'not_found', status: 404 },
    ask: ({ emails }) => emails.cancel(foreign.email),
  },
  {
    ...{ what: 'an email that is not scheduled', name: 'validation_error', status: 422, says: /scheduled/ },
    async ask(client) {
      const { data } = (await send({})(client)) as { data: { id: string } }
      return client.emails.cancel(data.id)
    },
  },
  {
    ...{ what: 'a missing key', name: 'missing_api_key', status: 401, says: /Authorization/ },
    ...{ ask: send({}), key: () => ' ' },
  },
  {
    ...{ what: 'an unknown key', name: 'invalid_api_key', status: 401 },
    ...{ ask: send({}), key: () => 're_unknown' },
  },
  {
    ...{ what: 'a place for sessions', name: 'restricted_api_key', status: 401 },
    ask: ({ domains }) => domains.list(),
  },
  {
    ...{ what: 'an unknown region', name: 'invalid_region', status: 422, says: /us-west-2/ },
    key: () => session,
    ask: ({ domains }) => domains.create({ name: 'new.example', region: 'ap-northeast-1' }),
  },
  {
    ...{ what: 'an unknown path', name: 'not_found', status: 404 },
    ask: client => client.get('/nowhere'),
  },
  {
    ...{ what: 'a wrong method', name: 'method_not_allowed', status: 405 },
    ask: client => client.put('/emails', MAIL),
  },
  {
    ...{ what: 'a body that is no JSON object', name: 'validation_error', status: 400 },
    ask: client => client.post('/emails', 'text'),
  },
  {
    ...{ what: 'a body of another type', name: 'validation_error', status: 415 },
    ask: ({ emails }) =>
      emails.send(MAIL, {
        headers: { authorization: `Bearer ${mailhorn.apiKey}`, 'content-type': 'text/plain' },
      }),
  },
]

let session = ''
test.before(async () => {
  session = await mailhorn.signIn()
})

for (const release of RESEND_VERSIONS)
  for (const { what, name, status, key, ask, says = /./, large = false } of ROWS) {
    if (large && release !== RESEND_VERSIONS[0]) continue
    test(`${what}, as ${name}: ${release.version}`, async () => {
      const client = await openResend(release, { ...mailhorn, apiKey: key?.() ?? mailhorn.apiKey })
      const answer = await ask(client)
      assertTold(answer, name, status)
      assert.match(answer.error!.message, says)
    })
  }

for (const release of MODERN_VERSIONS) {
  const template = (id: string): Row['ask'] => send({ template: { id } })

  test(`an unknown template, as not_found: ${release.version}`, async () => {
    const client = await openResend(release, mailhorn)
    for (const id of [UNKNOWN.replace('eml', 'tpl'), foreign.template, 'nonsense'])
      assertTold(await template(id)(client), 'not_found', 404)
  })

  test(`missing variables of a template, as validation_error: ${release.version}`, async () => {
    const body = { name: 'needs', subject: '{{a}}', text: '{{b.c}}' }
    const { body: made } = await mailhorn.call('POST', '/templates', { session, body })
    const client = await openResend(release, mailhorn)
    const answer = await client.emails.send({ from: MAIL.from, to: MAIL.to, template: { id: made.id } })
    assertTold(answer, 'validation_error', 422)
    assert.match(answer.error!.message, /`a`, `b\.c`/)
  })

  test(`topics that are not there, as not_found: ${release.version}`, async () => {
    const client = await openResend(release, mailhorn)
    assertTold(await send({ topicId: 'top_x' })(client), 'not_found', 404)
  })
}

test('quotas and the rate, each by its name', async t => {
  const limits = { MAILHORN_PLANS_FREE_DAILY: '2', MAILHORN_PLANS_PRO_MONTHLY: '2' }
  const limited = await t.using(startMailhorn({ env: limits }))
  const slow = await t.using(startMailhorn({ env: { MAILHORN_RATE_LIMIT_REQUESTS_PER_SECOND: '1' } }))
  for (const release of RESEND_VERSIONS) {
    for (const [plan, name] of [
      ['free', 'daily_quota_exceeded'],
      ['pro', 'monthly_quota_exceeded'],
    ] as const) {
      const { apiKey } = await onPlan(limited, plan, `${plan}-${release.name}`)
      const { emails, batch } = await openResend(release, { ...limited, apiKey })
      requireData(await emails.send(MAIL))
      assertTold(await batch.send([MAIL, MAIL]), name, 429)
      requireData(await emails.send(MAIL))
      assertTold(await emails.send(MAIL), name, 429)
    }
    const { emails } = await openResend(release, { ...slow, ...addAccount(slow, release.name) })
    const answers = await Promise.all(Array.from({ length: 20 }, () => emails.send(MAIL)))
    const refused = answers.filter(({ error }) => error !== null)
    assert.ok(refused.length > 0 && refused.length < answers.length)
    for (const answer of refused) {
      assertTold(answer, 'rate_limit_exceeded', 429)
      const { headers } = answer as { headers?: Record<string, string> }
      if (!release.modern) continue
      assert.equal([headers!['retry-after'], headers!['ratelimit-limit']], ['1', '1'])
      assert.equal([headers!['ratelimit-remaining'], headers!['ratelimit-reset']], ['0', '1'])
    }
  }
})

async function onPlan(service: Mailhorn, plan: string, name: string) {
  const account = addAccount(service, name)
  const { body } = await service.call('GET', '/account', { session: account.session })
  const operator = await service.signIn()
  await service.call('PATCH', `/accounts/${body.id}`, { session: operator, body: { plan } })
  return account
}

test('a first request that does not end', async t => {
  const stuck = await t.using(startMailhorn())
  for (const release of RESEND_VERSIONS) {
    const { emails } = await openResend(release, stuck)
    const letGo = holdDatabase(stuck)
    const calls = [1, 2].map(() => emails.send(MAIL, { idempotencyKey: `slow-${release.name}` }))
    let impatient: Answer | undefined
    for (const call of calls) void call.then(answer => (impatient ??= answer))
    while (!impatient) {
      await stuck.call('GET', '/healthz')
      // in steps, so that a connection whose request is still on its way is not taken for a silent one
      stuck.clock.advance(2_000)
    }
    letGo()
    assertTold(impatient, 'concurrent_idempotent_requests', 409)
    await Promise.all(calls)
  }
})

test('a database that takes nothing', async t => {
  const full = await t.using(startMailhorn())
  const clients: Resend[] = []
  for (const release of RESEND_VERSIONS) clients.push(await openResend(release, full))
  const before = storedIn(full)
  const letGo = refuseWrites(full)
  const answers = await Promise.all(clients.map(({ emails }) => emails.send(MAIL)))
  letGo()
  for (const answer of answers) assertTold(answer, 'application_error', 503)
  assert.equal(storedIn(full), before)
  await until(async () => (await clients[0]!.emails.send(MAIL)).error === null)
  for (const { emails } of clients) requireData(await emails.send(MAIL))
})

test('our own fault, without a word about it', async t => {
  const broken = await t.using(startMailhorn())
  const id = await broken.send(MAIL)
  await broken.emailWhen(id, 'delivered')
  broken.change("update emails set to_list = '[{'")
  for (const release of RESEND_VERSIONS) {
    const { emails } = await openResend(release, broken)
    const answer = await emails.get(id)
    assertTold(answer, 'internal_server_error', 500)
    assert.is(answer.error!.message, 'An internal error occurred.')
  }
})

test.run()
