import * as assert from 'uvu/assert'
import { addAccount, openSession } from '../../kit/accounts.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { allRoutes } from '../../kit/routes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('access tokens')
const DAY_MS = 86_400_000
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  mailhorn = await startMailhorn({
    env: { MAILHORN_ACCESS_TOKENS_PREFIX: 'own_token_', MAILHORN_HTTP_TRUSTED_PROXIES: '127.0.0.1' },
  })
  session = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

async function create(fields: object = {}): Promise<ApiAnswer['body']> {
  const body = { name: 'Deployment', scopes: ['domains:read'], ...fields }
  const answer = await mailhorn.call('POST', '/access-tokens', { session, body })
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

async function listed(id: string) {
  const { body } = await mailhorn.call('GET', '/access-tokens', { session })
  assert.equal([body.object, body.total, body.has_more], ['list', body.data.length, false])
  return body.data.find((token: { id: string }) => token.id === id)
}

const get = (path: string, key: string, headers = {}) => mailhorn.call('GET', path, { key, headers })

test('a new token is shown once, and listed with its limits', async () => {
  const expiresAt = new Date(mailhorn.clock.now() + DAY_MS).toISOString()
  const limits = {
    scopes: ['domains:write', 'emails:send'],
    networks: ['192.0.2.0/24'],
    expires_at: expiresAt,
  }
  const { token, ...view } = await create(limits)
  assert.match(token, /^own_token_[0-9A-Za-z]{46}$/)
  assert.match(view.id, /^tok_[0-9a-f-]{36}$/)
  const { name, operator, scopes, networks, expires_at, last_used_at, token_start, created_by } = view
  assert.equal({ scopes, networks, expires_at }, limits)
  assert.equal([name, operator, last_used_at], ['Deployment', false, null])
  assert.is(token_start, token.slice(0, 15))
  assert.match(created_by, /^usr_/)
  assert.equal(await listed(view.id), view)
  const { body } = await mailhorn.call('GET', `/access-tokens/${view.id}`, { session })
  assert.equal(body, view)
})

for (const [what, fields, expected] of [
  ['one scope as text', { scopes: 'full' }, { scopes: ['full'] }],
  ['the same scope twice', { scopes: ['domains:read', 'domains:read'] }, { scopes: ['domains:read'] }],
  ['null for what is optional', { networks: null, expires_at: null, operator: null }, { networks: null }],
  [
    'addresses of both families',
    { networks: ['192.0.2.1', '::1/128'] },
    { networks: ['192.0.2.1', '::1/128'] },
  ],
  ['camelCase keys', { expiresIn: '30 days' }, {}],
  ['a name in any script', { name: 'Grüße 😀' }, { name: 'Grüße 😀' }],
] as const)
  test(`takes ${what}`, async () => {
    const made = await create(fields)
    for (const [key, value] of Object.entries(expected)) assert.equal(made[key], value, key)
    if ('expiresIn' in fields)
      assert.ok(Math.abs(Date.parse(made.expires_at) - Date.parse(made.created_at) - 30 * DAY_MS) < 60_000)
  })

const INVALID = (path: string) => ({ status: 422, name: 'validation_error', path })
const MISSING = (path: string) => ({ status: 422, name: 'missing_required_field', path })

for (const [what, fields, expected] of [
  ['no name', { name: undefined }, MISSING('name')],
  ['an empty name', { name: '' }, MISSING('name')],
  ['a control character in the name', { name: 'a\nb' }, INVALID('name')],
  ['a name that shows another text', { name: 'ci \u202elmth.daer' }, INVALID('name')],
  ['an isolate in the name', { name: '\u2067deploy\u2069' }, INVALID('name')],
  ['no scopes', { scopes: undefined }, MISSING('scopes')],
  ['null as scopes', { scopes: null }, MISSING('scopes')],
  ['an empty list of scopes', { scopes: [] }, MISSING('scopes')],
  ['an empty text as scopes', { scopes: '' }, INVALID('scopes')],
  ['an unknown scope', { scopes: ['domains:read', 'domains:delete'] }, INVALID('scopes')],
  ['operator as a scope', { scopes: ['operator'] }, INVALID('scopes')],
  ['full beside another scope', { scopes: ['full', 'domains:read'] }, INVALID('scopes')],
  ['a number as scopes', { scopes: 5 }, INVALID('scopes')],
  ['an empty list of networks', { networks: [] }, INVALID('networks')],
  ['an empty text as networks', { networks: '' }, INVALID('networks')],
  ['an empty text in networks', { networks: [''] }, INVALID('networks')],
  ['a host name in networks', { networks: ['192.0.2.1', 'there.example'] }, INVALID('networks')],
  ['too long a prefix in networks', { networks: ['192.0.2.0/33'] }, INVALID('networks')],
  ['an address with a zone in networks', { networks: ['fe80::1%eth0'] }, INVALID('networks')],
  ['an empty expires_at', { expires_at: '' }, INVALID('expires_at')],
  ['an empty list as expires_at', { expires_at: [] }, INVALID('expires_at')],
  ['an empty expiresAt', { expiresAt: '' }, INVALID('expires_at')],
  ['an expires_at without offset', { expires_at: '2099-01-01T00:00:00' }, INVALID('expires_at')],
  ['an expires_at in the past', { expires_at: '2020-01-01T00:00:00Z' }, INVALID('expires_at')],
  ['an expires_at in the far future', { expires_at: '9999-01-01T00:00:00Z' }, INVALID('expires_at')],
  ['an empty expires_in', { expires_in: '' }, INVALID('expires_in')],
  ['an expires_in of 0', { expires_in: 0 }, INVALID('expires_in')],
  ['a word as expires_in', { expires_in: 'soon' }, INVALID('expires_in')],
  ['an expires_in without end', { expires_in: '999999999 days' }, INVALID('expires_in')],
  ['a domain', { domain_id: 'dom_01990000-0000-7000-8000-000000000000' }, INVALID('domain_id')],
  ['an empty domain', { domainId: '' }, INVALID('domain_id')],
  ['two expiries', { expires_in: 60, expires_at: '2030-01-01T00:00:00Z' }, INVALID('expires_in')],
  ['a text as operator', { operator: 'true' }, INVALID('operator')],
] as const)
  test(`refuses ${what}`, async () => {
    const body = { name: 'refused', scopes: ['domains:read'], ...fields }
    await refuses(mailhorn, ['POST', '/access-tokens', { session, body }], expected)
  })

test('a token does what its scopes say, and nothing else', async () => {
  const { token } = await create({ scopes: ['domains:write'] })
  const made = await mailhorn.call('POST', '/domains', { key: token, body: { name: 'scoped.example' } })
  assert.is(made.status, 201)
  assert.is((await get('/domains', token)).status, 200)
  const says = /lacks the scope `contacts:read`/
  assertRefusal(await get('/audiences', token), { status: 403, name: 'invalid_access', says })
  const email = { from: 'a@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' }
  await refuses(mailhorn, ['POST', '/emails', { key: token, body: email }], {
    ...{ status: 403, name: 'invalid_access', says: /lacks the scope `emails:send`/ },
  })
})

test('an email that a token sends is found by the id of the token', async () => {
  const { id, token } = await create({ scopes: ['emails:send'] })
  const email = { from: 'a@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' }
  const sent = await mailhorn.call('POST', '/emails', { key: token, body: email })
  assert.is(sent.status, 200)
  const { body } = await mailhorn.call('GET', `/emails?api_key_id=${id}&source=api`, { session })
  assert.equal(
    body.data.map((row: { id: string }) => row.id),
    [sent.body.id],
  )
})

test('a reply to received mail needs the scope to read it and the scope to send', async () => {
  const path = '/inbound/01990000-0000-7000-8000-000000000000/reply'
  const body = { from: 'a@here.example', text: 'hello' }
  for (const [scopes, says] of [
    [['emails:send'], /lacks the scope `inbound:read`,/],
    [['inbound:write'], /lacks the scope `emails:send`,/],
    [['domains:read'], /lacks the scope `inbound:read` and `emails:send`,/],
  ] as const) {
    const { token } = await create({ scopes })
    const answer = await mailhorn.call('POST', path, { key: token, body })
    assertRefusal(answer, { status: 403, name: 'invalid_access', says })
  }
  const { token } = await create({ scopes: ['inbound:read', 'emails:send'] })
  assert.is((await mailhorn.call('POST', path, { key: token, body })).status, 404)
})

const bodyOf = (method: string, body: object) => (method === 'GET' ? {} : { body })

test('what is about a person needs a session', async () => {
  const { token } = await create({ scopes: ['full'], operator: true })
  for (const [method, path] of [
    ['GET', '/auth/session'],
    ['GET', '/auth/sessions'],
    ['POST', '/auth/logout'],
    ['POST', '/auth/password'],
    ['GET', '/access-tokens'],
    ['POST', '/access-tokens'],
    ['POST', '/dashboard/preview'],
  ] as const)
    await refuses(
      mailhorn,
      [method, path, { key: token, ...bodyOf(method, { name: 'wider', scopes: 'full' }) }],
      {
        ...{ status: 403, name: 'invalid_access', says: /requires the session of a person/ },
      },
    )
})

test('a token is refused from its expiry on', async () => {
  const { token } = await create({ expires_in: '1 hour' })
  assert.is((await get('/domains', token)).status, 200)
  mailhorn.clock.advance(3_600_000)
  const expected = { status: 401, name: 'invalid_api_key', says: /expired at 2\d{3}-/ }
  assertRefusal(await get('/domains', token), expected)
})

test('a token is accepted from its networks only', async () => {
  const { token } = await create({ networks: ['192.0.2.0/24', '2001:db8::/32'] })
  for (const address of ['192.0.2.1', '192.0.2.255', '2001:db8:7::1'])
    assert.is((await get('/domains', token, { 'x-forwarded-for': address })).status, 200, address)
  for (const address of ['192.0.3.1', '2001:db9::1', '192.0.2.1, 198.51.100.7']) {
    const answer = await get('/domains', token, { 'x-forwarded-for': address })
    const says = new RegExp(`may not be used from ${address.split(', ').at(-1)}`)
    assertRefusal(answer, { status: 403, name: 'invalid_access', says })
  }
})

test('a misspelled token is told from an unknown one', async () => {
  const { id, token } = await create()
  const misspelled = token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')
  const bad = { status: 401, name: 'invalid_api_key' }
  assertRefusal(await get('/domains', misspelled), { ...bad, says: /checksum is wrong/ })
  assertRefusal(await get('/domains', token.slice(0, -1)), { ...bad, says: /checksum is wrong/ })
  await mailhorn.call('DELETE', `/access-tokens/${id}`, { session })
  assertRefusal(await get('/domains', token), { ...bad, says: /unknown or revoked/ })
})

test('a revoked token is refused at once, and again not found', async () => {
  const { id, token } = await create()
  assert.is((await get('/domains', token)).status, 200)
  const { status, body } = await mailhorn.call('DELETE', `/access-tokens/${id}`, { session })
  assert.equal([status, body], [200, { object: 'access_token', id, deleted: true }])
  assertRefusal(await get('/domains', token), { status: 401, name: 'invalid_api_key' })
  const again = await mailhorn.call('DELETE', `/access-tokens/${id}`, { session })
  assertRefusal(again, { status: 404, name: 'not_found' })
  assert.is(await listed(id), undefined)
})

test('a token is renamed, and nothing else of it is changed', async () => {
  const { id, token, ...made } = await create()
  const rename = (body: object) => mailhorn.call('PATCH', `/access-tokens/${id}`, { session, body })
  const { status, body } = await rename({ name: 'Nightly job' })
  assert.equal([status, body], [200, { ...made, id, name: 'Nightly job' }])
  for (const fields of [{ scopes: ['full'] }, { operator: true }, { networks: null }, { expiresAt: '' }]) {
    const answer = await rename({ name: 'wider', ...fields })
    if (Object.values(fields)[0] === null) assert.is(answer.status, 200)
    else assert.is(answer.status, 422, JSON.stringify(answer.body))
  }
  assertRefusal(await rename({}), MISSING('name'))
  assert.equal((await listed(id)).scopes, ['domains:read'])
  assert.is((await get('/domains', token)).status, 200)
})

test('only an operator grants operator rights', async () => {
  const { token } = await create({ scopes: ['domains:read'], operator: true })
  assert.is((await get('/accounts', token)).status, 200)
  const plain = await create({ scopes: ['full'] })
  const expected = { status: 403, name: 'invalid_access', says: /rights of an operator/ }
  for (const path of ['/accounts', '/queue', '/doctor', '/alerts', '/sources', '/destinations'])
    assertRefusal(await get(path, plain.token), expected)
  const other = addAccount(mailhorn, 'other')
  const body = { name: 'wider', scopes: ['full'], operator: true }
  await refuses(mailhorn, ['POST', '/access-tokens', { session: other.session, body }], {
    ...{ status: 403, name: 'invalid_access', path: 'operator' },
  })
})

test('tokens of another account are not there', async () => {
  const { id, token } = await create({ scopes: ['full'] })
  const other = addAccount(mailhorn, 'stranger')
  for (const [method, path] of [
    ['GET', `/access-tokens/${id}`],
    ['PATCH', `/access-tokens/${id}`],
    ['DELETE', `/access-tokens/${id}`],
    ['PATCH', `/api-keys/${id}`],
    ['DELETE', `/api-keys/${id}`],
  ] as const)
    await refuses(mailhorn, [method, path, { session: other.session, ...bodyOf(method, { name: 'mine' }) }], {
      ...{ status: 404, name: 'not_found' },
    })
  assert.is((await get('/domains', token)).status, 200)
})

test('a token outlives the sessions and the password of its creator', async () => {
  const { token } = await create()
  mailhorn.clock.advance(20 * DAY_MS)
  for (let i = 0; i < 31; i++) openSession(mailhorn, 'bearer')
  assert.is((await get('/domains', token)).status, 200)
  session = await mailhorn
    .call('POST', '/auth/login', { body: mailhorn.admin })
    .then(({ body }) => body.token as string)
})

test('the stream of events ends when its token is revoked', async () => {
  const { id, token } = await create({ scopes: ['activity:read'] })
  const { path } = (await allRoutes()).find(route => route.path.endsWith('/stream'))!
  const response = await fetch(mailhorn.baseUrl + path, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.is(response.status, 200)
  const reader = response.body!.getReader()
  await reader.read()
  await mailhorn.call('DELETE', `/access-tokens/${id}`, { session })
  for (;;) {
    mailhorn.clock.advance(15_000)
    if ((await reader.read()).done) return
  }
})

test('the stream of events ends when its token expires', async () => {
  const expires_at = new Date(mailhorn.clock.now() + 60_000).toISOString()
  const { token } = await create({ scopes: ['activity:read'], expires_at })
  const response = await fetch(`${mailhorn.baseUrl}/activity/stream`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const reader = response.body!.getReader()
  await reader.read()
  mailhorn.clock.advance(60_000)
  // comments of the minute that has passed may come before the end
  while (!(await reader.read()).done);
})

test.run()
