import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

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
  assert.equal(Object.keys(key).sort(), ['domain_id', 'id', 'name', 'object', 'token'])
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
  const [gone, kept] = [await create('gone'), await create('kept')]
  const ask = (key: string) => mailhorn.call('POST', '/emails', { key, body: {} })
  assert.is((await ask(gone.token)).status, 422)
  const { status, body } = await mailhorn.call('DELETE', `/api-keys/${gone.id}`, { session })
  assert.equal([status, body], [200, { object: 'api_key', id: gone.id, deleted: true }])
  assertRefusal(await ask(gone.token), { status: 401, name: 'invalid_api_key' })
  assert.is((await ask(kept.token)).status, 422)
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

test.run()
