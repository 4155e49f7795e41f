import * as assert from 'uvu/assert'
import { scopesOfRoute } from '../../../src/interfaces/api/route/route-scopes.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { allRoutes } from '../../kit/routes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('GET /openapi.json')
const routes = await allRoutes()
let mailhorn: Mailhorn
// biome-ignore lint/suspicious/noExplicitAny: a document of many shapes
let document: any
test.before(async () => {
  mailhorn = await startMailhorn()
  document = (await mailhorn.call('GET', '/openapi.json')).body
})
test.after(() => mailhorn.close())

// biome-ignore lint/suspicious/noExplicitAny: see above
const operationOf = ({ method, path }: { method: string; path: string }): any =>
  document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()]

test('says that it is OpenAPI 3.1', () => {
  assert.match(document.openapi, /^3\.1\.\d$/)
  assert.is(document.info.title, 'Mailhorn')
})

test('names every parameter of a path', () => {
  for (const route of routes) {
    const named = (operationOf(route).parameters ?? []).filter((one: { in: string }) => one.in === 'path')
    assert.equal(
      named.map(({ name, required }: { name: string; required: boolean }) => [name, required]),
      [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => [name, true]),
    )
  }
})

test('describes every route, and no other', () => {
  const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  )
  assert.equal(described.sort(), routes.map(({ method, path }) => `${method} ${path}`).sort())
})

test('refers to nothing that it does not contain', () => {
  for (const [, pointer] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = pointer!
      .split('/')
      .reduce<Record<string, unknown> | undefined>(
        (value, key) => value?.[key] as Record<string, unknown>,
        document,
      )
    assert.ok(found, pointer)
  }
})

test('tells which credential a route takes', () => {
  for (const route of routes.filter(({ path }) => path !== '/metrics')) {
    const scopes = scopesOfRoute(route)
    const token = scopes.includes('session') ? [] : [{ accessToken: scopes }]
    const people = [...token, { session: [] }, { cookie: [] }]
    const expected = { public: [], key: [{ apiKey: [] }, ...people], session: people }[route.access]
    assert.equal(operationOf(route).security, expected, route.path)
  }
  assert.is(document.components.securitySchemes.cookie.name, 'mailhorn_session')
})

test('tells how to send', () => {
  const { parameters, requestBody, responses } = operationOf({ method: 'POST', path: '/emails' })
  assert.equal(
    parameters.map(({ in: place, name, required }: Record<string, unknown>) => [place, name, required]),
    [['header', 'idempotency-key', false]],
  )
  assert.equal(requestBody.content['application/json'].schema, {
    $ref: '#/components/schemas/SendEmailRequest',
  })
  assert.ok(requestBody.content['application/json'].example)
  const { properties } = document.components.schemas.SendEmailRequest
  assert.equal(properties.to.anyOf[0], { type: 'string' })
  assert.ok(properties.attachments.items.properties.content.anyOf)
  assert.equal(responses.default, { $ref: '#/components/responses/Error' })
})

test('tells what replies say, and that more may come', () => {
  const { schema } = operationOf({ method: 'GET', path: '/emails/:id' }).responses[200].content[
    'application/json'
  ]
  assert.equal(schema, { $ref: '#/components/schemas/Email' })
  const { Email, Error: refusal } = document.components.schemas
  assert.ok(Email.required.includes('recipients'))
  assert.equal(refusal.required, ['statusCode', 'name', 'message'])
  assert.not(JSON.stringify(document).includes('"additionalProperties":false'))
})

test('lists the regions and plans of this installation', () => {
  const { CreateDomainRequest, CreateAccountRequest } = document.components.schemas
  assert.equal(CreateDomainRequest.properties.region.enum, ['us-west-2', 'us-east-1', 'eu-west-1', null])
  assert.equal(CreateAccountRequest.properties.plan.enum, ['free', 'pro', 'scale', null])
})

test('llms.txt lists every operation', async () => {
  const { status, body } = await mailhorn.call('GET', '/llms.txt')
  assert.is(status, 200)
  for (const { method, path } of routes) assert.ok(body.includes(`\`${method} ${path}\``), path)
})

test('llms.txt says which credential manages an account, and how to get it', async () => {
  const { body } = await mailhorn.call('GET', '/llms.txt')
  const [about] = body.split('\n## ')
  for (const words of ['access token', '`mailhorn token create`', '`POST /access-tokens`', '`warnings`'])
    assert.ok(about.includes(words), words)
})

test('is compressed for clients that accept that', async () => {
  for (const [encoding, expected] of [
    ['gzip, br', 'gzip'],
    ['identity', null],
    ['gzip;q=0', null],
  ] as const) {
    const headers = { 'accept-encoding': encoding }
    const answer = await mailhorn.call('GET', '/openapi.json', { headers })
    assert.equal([answer.status, answer.headers.get('content-encoding')], [200, expected], encoding)
    assert.is(answer.body.openapi, document.openapi)
  }
})

test('is made once', async () => {
  const answers = await Promise.all([1, 2].map(() => mailhorn.call('GET', '/openapi.json')))
  for (const { body } of answers) assert.equal(body, document)
})

test.run()
