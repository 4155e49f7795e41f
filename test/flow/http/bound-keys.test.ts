import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { allRoutes, pathOf } from '../../kit/routes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('API keys bound to a domain')
const routes = await allRoutes()
const THERE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
const FOREIGN = {
  status: 403,
  name: 'invalid_access',
  path: 'from',
  says: /restricted to the domain shop\.example/,
}
const UNKNOWN_KEY = { status: 401, name: 'invalid_api_key' }

let mx: FakeMx
let mailhorn: Mailhorn
let session = ''
let bound = ''
const domains = new Map<string, string>()

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: THERE, mxPort: mx.port })
  session = await mailhorn.signIn()
  for (const name of ['shop.example', 'blog.example'])
    domains.set(name, (await mailhorn.verifiedDomain(name)).id)
  bound = await boundKey('shop.example')
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

async function boundKey(domain: string): Promise<string> {
  const body = { name: `for ${domain}`, domain_id: domains.get(domain) }
  const answer = await mailhorn.call('POST', '/api-keys', { session, body })
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  assert.is(answer.body.domain_id, domains.get(domain))
  return answer.body.token
}

async function register(name: string): Promise<void> {
  const { body } = await mailhorn.call('POST', '/domains', { session, body: { name } })
  domains.set(name, body.id)
}

const mail = (from: string, to = 'ok@there.example') => ({ from, to, subject: 's', text: 't' })
const sendWith = (key: string, body: object) => mailhorn.call('POST', '/emails', { key, body })

test('are listed with their domain', async () => {
  const { body } = await mailhorn.call('GET', '/api-keys', { session })
  const shown = body.data.find(({ name }: { name: string }) => name === 'for shop.example')
  assert.is(shown.domain_id, domains.get('shop.example'))
})

test('are made with the bare id, too', async () => {
  const body = { name: 'bare', domain_id: domains.get('blog.example')!.slice(4) }
  const answer = await mailhorn.call('POST', '/api-keys', { session, body })
  assert.equal([answer.status, answer.body.domain_id], [201, domains.get('blog.example')])
})

test('are not made for a domain of another account', async () => {
  const stranger = addAccount(mailhorn, 'stranger')
  const body = { name: 'foreign', domain_id: domains.get('shop.example') }
  const expected = { status: 404, name: 'not_found', path: 'domain_id' }
  await refuses(mailhorn, ['POST', '/api-keys', { session: stranger.session, body }], expected)
})

test('send from their domain, and see what they sent', async () => {
  const { status, body } = await sendWith(bound, mail('Ann <ann@shop.example>'))
  assert.is(status, 200, JSON.stringify(body))
  await mailhorn.emailWhen(body.id, 'delivered')
  const email = await mailhorn.call('GET', `/emails/${body.id}`, { key: bound })
  assert.equal([email.status, email.body.from], [200, 'Ann <ann@shop.example>'])
})

for (const from of [
  'ann@blog.example',
  'ann@sub.shop.example',
  'ann@shop.example.evil.example',
  'shop.example@blog.example',
  '"ann@shop.example" <ann@blog.example>',
  'ann@nowhere.example',
])
  test(`refuse to send from ${from}, also to the simulator`, async () => {
    for (const to of ['ok@there.example', 'delivered@simulator.test'])
      await refuses(mailhorn, ['POST', '/emails', { key: bound, body: mail(from, to) }], FOREIGN)
  })

test('know their domain however it is written', async () => {
  for (const from of ['ann@SHOP.example', 'Ann <ann@Shop.Example>'])
    assert.is((await sendWith(bound, mail(from))).status, 200)
})

test('do not learn by an idempotency key what another credential sent', async () => {
  const request = {
    body: mail('ann@blog.example', 'delivered@simulator.test'),
    headers: { 'idempotency-key': 'known' },
  }
  assert.is((await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, ...request })).status, 200)
  assertRefusal(await mailhorn.call('POST', '/emails', { key: bound, ...request }), FOREIGN)
})

test('get their first answer again', async () => {
  const request = { key: bound, body: mail('ann@shop.example'), headers: { 'idempotency-key': 'again' } }
  const first = await mailhorn.call('POST', '/emails', request)
  const second = await mailhorn.call('POST', '/emails', request)
  assert.equal([first.status, second.status, second.body], [200, 200, first.body])
})

test('are good for the simulator before their domain is verified, and for nothing else', async () => {
  await register('new.example')
  const key = await boundKey('new.example')
  const real = await sendWith(key, mail('ann@new.example'))
  assertRefusal(real, { status: 403, name: 'validation_error', says: /new\.example/ })
  const { status, body } = await sendWith(key, mail('ann@new.example', 'delivered@simulator.test'))
  assert.is(status, 200)
  assert.is((await mailhorn.call('GET', `/emails/${body.id}`, { key })).status, 200)
})

for (const route of routes.filter(
  ({ path, access }) => path.startsWith('/emails/:id') && access !== 'session',
))
  test(`${route.method} ${route.path} answers about mail of another domain as if there were none`, async () => {
    const id = await mailhorn.send(mail('ann@blog.example', 'delivered@simulator.test'))
    const unknown = await mailhorn.call(route.method, pathOf(route), { key: bound })
    assertRefusal(unknown, { status: 404, name: 'not_found' })
    const foreign = await mailhorn.call(route.method, pathOf(route, id), { key: bound })
    assert.equal([foreign.status, foreign.body], [unknown.status, unknown.body])
  })

for (const { method, path } of routes.filter(
  route => route.path.startsWith('/suppressions') && route.method !== 'GET',
))
  test(`${method} ${path} is not for them: the list is the whole account’s`, async () => {
    const body = { email: 'bob@there.example' }
    const expected = { status: 403, name: 'invalid_access' }
    await refuses(mailhorn, [method, path.replace(':id', body.email), { key: bound, body }], expected)
  })

test('go with their domain, and others stay', async () => {
  await register('old.example')
  const [gone, remaining] = [await boundKey('old.example'), await boundKey('blog.example')]
  const deleted = await mailhorn.call('DELETE', `/domains/${domains.get('old.example')}`, { session })
  assert.is(deleted.status, 200)
  assertRefusal(await sendWith(gone, mail('ann@old.example', 'delivered@simulator.test')), UNKNOWN_KEY)
  assert.is((await sendWith(remaining, mail('ann@blog.example'))).status, 200)
  await register('old.example')
  assertRefusal(await sendWith(gone, mail('ann@old.example', 'delivered@simulator.test')), UNKNOWN_KEY)
  const { body } = await mailhorn.call('GET', '/api-keys', { session })
  assert.not(body.data.some(({ name }: { name: string }) => name === 'for old.example'))
})

test('are not made for a domain while it is deleted', async () => {
  for (let i = 0; i < 10; i++) {
    await register(`race-${i}.example`)
    const id = domains.get(`race-${i}.example`)
    const [made] = await Promise.all([
      mailhorn.call('POST', '/api-keys', { session, body: { name: 'race', domain_id: id } }),
      mailhorn.call('DELETE', `/domains/${id}`, { session }),
    ])
    if (made.status === 201) assertRefusal(await sendWith(made.body.token, {}), UNKNOWN_KEY)
    else assertRefusal(made, { status: 404, name: 'not_found', path: 'domain_id' })
  }
  assert.equal(mailhorn.rows("select id from api_keys where name = 'race'"), [])
})

test.run()
