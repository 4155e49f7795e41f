import * as assert from 'uvu/assert'
import { POSTGRES_ONLY } from '../../kit/database.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, contentsOf, type ExpectedRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('API keys')
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  mailhorn = await startMailhorn({ env: { MAILHORN_API_KEYS_PREFIX: 'own_' } })
  session = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

async function list() {
  const { body } = await mailhorn.call('GET', '/api-keys', { session })
  return body
}

async function create(name: string) {
  const { status, body } = await mailhorn.call('POST', '/api-keys', { session, body: { name } })
  assert.is(status, 201, JSON.stringify(body))
  return body
}

test('a new one shows its token, this once', async () => {
  const key = await create('Shop')
  assert.equal(Object.keys(key).sort(), ['domain_id', 'id', 'name', 'object', 'permission', 'token'])
  assert.match(key.id, /^key_[0-9a-f-]{36}$/)
  assert.match(key.token, /^own_[0-9A-Za-z]{40}$/)
  const listed = await list()
  assert.not(JSON.stringify(listed).includes(key.token))
  const shown = listed.data.find(({ id }: { id: string }) => id === key.id)
  assert.is(shown.token_start, key.token.slice(0, 8))
  assert.equal(
    [shown.object, shown.name, shown.domain_id, shown.last_used_at],
    ['api_key', 'Shop', null, null],
  )
  assert.match(shown.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('the first one works like any other and is in the list', async () => {
  assert.match(mailhorn.apiKey, /^own_/)
  const { data, total, has_more: more, object } = await list()
  assert.equal([object, total, more], ['list', data.length, false])
  assert.ok(data.some(({ token_start: start }: { token_start: string }) => mailhorn.apiKey.startsWith(start)))
})

test('two may have the same name, and never the same token', async () => {
  const [a, b] = [await create('twin'), await create('twin')]
  assert.is.not(a.token, b.token)
  assert.is.not(a.id, b.id)
})

test('a deleted one is unknown from then on, and the others are not', async () => {
  const [gone, remaining] = [await create('gone'), await create('kept')]
  const ask = (key: string) => mailhorn.call('POST', '/emails', { key, body: {} })
  assert.is((await ask(gone.token)).status, 422)
  const { status, body } = await mailhorn.call('DELETE', `/api-keys/${gone.id}`, { session })
  assert.equal([status, body], [200, { object: 'api_key', id: gone.id, deleted: true }])
  assertRefusal(await ask(gone.token), { status: 401, name: 'invalid_api_key' })
  assert.is((await ask(remaining.token)).status, 422)
  const again = await mailhorn.call('DELETE', `/api-keys/${gone.id}`, { session })
  assertRefusal(again, { status: 404, name: 'not_found' })
  assert.not((await list()).data.some(({ id }: { id: string }) => id === gone.id))
})

test('mail sent with a key that is deleted meanwhile is still delivered and seen', async () => {
  const key = await create('short-lived')
  const body = { from: 'a@here.example', to: 'delayed@simulator.test', subject: 's', text: 't' }
  const sent = await mailhorn.call('POST', '/emails', { key: key.token, body })
  await mailhorn.call('DELETE', `/api-keys/${key.id}`, { session })
  await mailhorn.emailWhen(sent.body.id, 'delivery_delayed')
  mailhorn.clock.advance(5_000)
  assert.is((await mailhorn.emailWhen(sent.body.id, 'delivered')).status, 'delivered')
})

for (const [what, fields, expected] of [
  ['no name', { name: undefined }, { status: 422, name: 'missing_required_field', path: 'name' }],
  ['null as name', { name: null }, { status: 422, name: 'missing_required_field', path: 'name' }],
  ['an empty name', { name: '' }, { status: 422, name: 'missing_required_field', path: 'name' }],
  ['a number as name', { name: 5 }, { status: 422, name: 'validation_error', path: 'name' }],
  ['an object as name', { name: { a: 1 } }, { status: 422, name: 'validation_error', path: 'name' }],
  ['a list as name', { name: ['a'] }, { status: 422, name: 'validation_error', path: 'name' }],
  [
    'a name of 51 characters',
    { name: 'x'.repeat(51) },
    { status: 422, name: 'validation_error', path: 'name' },
  ],
  ['CR in the name', { name: 'a\rb' }, { status: 422, name: 'validation_error', path: 'name' }],
  ['LF in the name', { name: 'a\nb' }, { status: 422, name: 'validation_error', path: 'name' }],
  ['NUL in the name', { name: 'a\0b' }, { status: 422, name: 'validation_error', path: 'name' }],
  [
    'a domain_id that nothing has',
    { domain_id: 'dom_01990000-0000-7000-8000-000000000000' },
    { status: 404, name: 'not_found', path: 'domain_id' },
  ],
  [
    'an id of another kind as domain_id',
    { domain_id: 'key_01990000-0000-7000-8000-000000000000' },
    { status: 404, name: 'not_found', path: 'domain_id' },
  ],
  [
    'a domain_id that is no id',
    { domain_id: 'here.example' },
    { status: 404, name: 'not_found', path: 'domain_id' },
  ],
  ['an empty domain_id', { domain_id: '' }, { status: 422, name: 'validation_error', path: 'domain_id' }],
  [
    'an empty list as domain_id',
    { domain_id: [] },
    { status: 422, name: 'validation_error', path: 'domain_id' },
  ],
  ['a number as domain_id', { domain_id: 5 }, { status: 422, name: 'validation_error', path: 'domain_id' }],
] as const)
  test(`refuse ${what}`, async () => {
    const body = { name: 'refused', ...fields }
    await refuses(mailhorn, ['POST', '/api-keys', { session, body }], expected)
  })

test('take null for domain_id, and names in any script', async () => {
  for (const name of ['Grüße 😀', 'x'.repeat(50), "'; drop table api_keys; --", '__proto__']) {
    const { status, body } = await mailhorn.call('POST', '/api-keys', {
      session,
      body: { name, domain_id: null },
    })
    assert.equal([status, body.name], [201, name])
  }
})

async function createFull(name: string, options: object = { session }) {
  const body = { name, permission: 'full_access' }
  const answer = await mailhorn.call('POST', '/api-keys', { ...options, body })
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

test('one with full access is an access token, listed and deleted with the keys', async () => {
  const full = await createFull('Everything')
  assert.match(full.token, /^mh_[0-9A-Za-z]{46}$/)
  assert.match(full.id, /^tok_/)
  assert.equal([full.object, full.permission, full.domain_id], ['api_key', 'full_access', null])
  const shown = (await list()).data.find(({ id }: { id: string }) => id === full.id)
  assert.equal([shown.permission, shown.token_start], ['full_access', full.token.slice(0, 8)])
  const ask = () => mailhorn.call('GET', '/domains', { key: full.token })
  assert.is((await ask()).status, 200)
  const { status, body } = await mailhorn.call('DELETE', `/api-keys/${full.id}`, { session })
  assert.equal([status, body], [200, { object: 'api_key', id: full.id, deleted: true }])
  assertRefusal(await ask(), { status: 401, name: 'invalid_api_key' })
})

test('permission is sending_access by default, and shown', async () => {
  for (const fields of [{}, { permission: null }, { permission: 'sending_access' }]) {
    const body = { name: 'sender', ...fields }
    const made = await mailhorn.call('POST', '/api-keys', { session, body })
    assert.equal([made.status, made.body.permission], [201, 'sending_access'])
  }
  for (const { id, permission } of (await list()).data)
    assert.is(permission, id.startsWith('tok_') ? 'full_access' : 'sending_access')
})

for (const [what, fields, path] of [
  ['an unknown permission', { permission: 'read_access' }, 'permission'],
  ['an empty permission', { permission: '' }, 'permission'],
  ['full access to a domain', { permission: 'full_access', domain_id: 'dom_x' }, 'domain_id'],
  ['full access to an empty domain_id', { permission: 'full_access', domain_id: '' }, 'domain_id'],
] as const)
  test(`refuse ${what}`, async () => {
    await refuses(mailhorn, ['POST', '/api-keys', { session, body: { name: 'refused', ...fields } }], {
      ...{ status: 422, name: 'validation_error', path },
    })
  })

test('a key and a full access are renamed, other access tokens are not found', async () => {
  const rename = (id: string, body: object) => mailhorn.call('PATCH', `/api-keys/${id}`, { session, body })
  for (const { id, permission } of [await create('old'), await createFull('old')]) {
    const { status, body } = await rename(id, { name: 'new' })
    assert.equal([status, body.object, body.id, body.name], [200, 'api_key', id, 'new'])
    assert.is(body.permission, permission)
    assert.is((await list()).data.find((key: { id: string }) => key.id === id).name, 'new')
    assertRefusal(await rename(id, {}), { status: 422, name: 'missing_required_field', path: 'name' })
  }
  const scoped = await mailhorn.call('POST', '/access-tokens', {
    ...{ session, body: { name: 'scoped', scopes: ['domains:read'] } },
  })
  const { id } = scoped.body
  assertRefusal(await rename(id, { name: 'new' }), { status: 404, name: 'not_found' })
  const deleted = await mailhorn.call('DELETE', `/api-keys/${id}`, { session })
  assertRefusal(deleted, { status: 404, name: 'not_found' })
  assert.not((await list()).data.some((key: { id: string }) => key.id === id))
})

test('a program with full access passes on its limits', async () => {
  const limits = { networks: ['127.0.0.0/8'], expires_at: '2030-01-01T00:00:00.000Z' }
  const { body: parent } = await mailhorn.call('POST', '/access-tokens', {
    ...{ session, body: { name: 'parent', scopes: 'full', ...limits } },
  })
  const { id } = await createFull('child', { key: parent.token })
  const { body: child } = await mailhorn.call('GET', `/access-tokens/${id}`, { session })
  assert.equal({ networks: child.networks, expires_at: child.expires_at }, limits)
  assert.equal([child.scopes, child.operator, child.created_by], [['full'], false, null])
})

test('a program with the scope for keys makes keys for sending, and no full access', async () => {
  const { body: scoped } = await mailhorn.call('POST', '/access-tokens', {
    ...{ session, body: { name: 'keys', scopes: ['api-keys:write'] } },
  })
  const key = scoped.token
  const made = await mailhorn.call('POST', '/api-keys', { key, body: { name: 'shop' } })
  assert.is(made.status, 201)
  const full = await createFull('target')
  const expected = { status: 403, name: 'invalid_access', says: /lacks the scope `full`/ }
  for (const [method, path, body] of [
    ['POST', '/api-keys', { name: 'wider', permission: 'full_access' }],
    ['PATCH', `/api-keys/${full.id}`, { name: 'renamed' }],
    ['DELETE', `/api-keys/${full.id}`, undefined],
  ] as const)
    await refuses(mailhorn, [method, path, { key, body }], expected)
  assert.is((await mailhorn.call('DELETE', `/api-keys/${made.body.id}`, { key })).status, 200)
})

test('the list is paged as the SDKs page', async () => {
  const all = (await list()).data.map(({ id }: { id: string }) => id)
  assert.ok(all.length > 5)
  const page = async (query: string) => {
    const { body } = await mailhorn.call('GET', `/api-keys?${query}`, { session })
    return { ids: body.data.map(({ id }: { id: string }) => id), more: body.has_more, total: body.total }
  }
  const total = all.length
  assert.equal(await page('limit=2'), { ids: all.slice(0, 2), more: true, total })
  assert.equal(await page(`limit=2&after=${all[1]}`), { ids: all.slice(2, 4), more: true, total })
  assert.equal(await page(`limit=2&before=${all[3]}`), { ids: all.slice(1, 3), more: true, total })
  assert.equal(await page(`after=${all[1]}`), { ids: all.slice(2), more: false, total })
  const wrong = async (query: string, expected: ExpectedRefusal) =>
    assertRefusal(await mailhorn.call('GET', `/api-keys?${query}`, { session }), expected)
  await wrong('limit=0', { status: 422, name: 'validation_error', path: 'limit' })
  await wrong('after=x', { status: 422, name: 'validation_error', path: 'after' })
  await wrong(`after=${all[0]}&before=${all[1]}`, { status: 422, name: 'validation_error', path: 'before' })
  await wrong('after=key_01990000-0000-7000-8000-000000000000', { status: 404, name: 'not_found' })
})

test('API keys: the limits of access tokens are refused by name', async () => {
  const before = contentsOf(mailhorn)
  for (const permission of ['full_access', 'sending_access'])
    for (const [key, value] of Object.entries({
      scopes: ['emails:read'],
      networks: [],
      expires_at: '2030-01-01T00:00:00Z',
      expires_in: 1,
    })) {
      const body = { name: 'n', permission, [key]: value }
      assertRefusal(await mailhorn.call('POST', '/api-keys', { session, body }), {
        ...{ status: 422, name: 'validation_error', path: key },
      })
    }
  assert.equal(contentsOf(mailhorn).api_keys, before.api_keys)
})

test(
  'one that another process deletes while announcements are lost is unknown after that',
  async () => {
    const gone = await create('deleted elsewhere')
    const ask = () => mailhorn.call('POST', '/emails', { key: gone.token, body: {} })
    assert.is((await ask()).status, 422)
    mailhorn.change('delete from api_keys where name = ?', 'deleted elsewhere')
    assert.is((await ask()).status, 422, 'it is cached')
    mailhorn.rows(
      "select pg_terminate_backend(pid) from pg_stat_activity where query ~ '^(listen|select pg_notify)'",
    )
    await until(async () => (await ask()).status === 401)
  },
  POSTGRES_ONLY,
)

test.run()
