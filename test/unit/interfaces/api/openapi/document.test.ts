import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import * as z from 'zod'
import { openapiOf } from '../../../../../src/interfaces/api/openapi/document.ts'
import examples from '../../../../../src/interfaces/api/openapi/examples.json' with { type: 'json' }
import { operationIdOf } from '../../../../../src/interfaces/api/openapi/operation-ids.ts'
import { hasExample, type RecordedExample } from '../../../../kit/openapi-examples.ts'
import { allRoutes } from '../../../../kit/routes.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('the OpenAPI document')
const routes = await allRoutes()
const recorded = examples as Record<string, RecordedExample>
// biome-ignore lint/suspicious/noExplicitAny: the document has many shapes
const document = openapiOf({ routes, cookieName: 'mailhorn_session', examples: recorded }) as any
const GOLDEN = new URL('../../../../golden/openapi/operations.txt', import.meta.url)

interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: object[]
  parameters?: { name: string; in: string; description: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: schemas of every shape
  requestBody?: { required: boolean; content: any }
  // biome-ignore lint/suspicious/noExplicitAny: replies of every shape
  responses: any
}

const operations: Operation[] = Object.values(
  document.paths as Record<string, Record<string, Operation>>,
).flatMap(methods => Object.values(methods))
const operation = (id: string) => operations.find(({ operationId }) => operationId === id)!
const requestOf = (id: string) => {
  const { schema } = operation(id).requestBody!.content['application/json']
  return document.components.schemas[(schema.items ?? schema).$ref.split('/').at(-1)]
}

/** Every schema in the document with its place. */
function* schemasIn(value: unknown, place = ''): Generator<[place: string, schema: Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [place, value as Record<string, unknown>]
  for (const [key, child] of Object.entries(value))
    if (key !== 'example') yield* schemasIn(child, `${place}/${key}`)
}

test('operation ids do not change: generated clients depend on them (`npm run openapi` writes the list)', () => {
  const listed = routes.map(route => `${operationIdOf(route, routes)} ${route.method} ${route.path}`).sort()
  assert.is(`${listed.join('\n')}\n`, readFileSync(GOLDEN, 'utf8'))
  const ids = operations.map(({ operationId }) => operationId)
  assert.is(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^[a-z][A-Za-z0-9]+$/)
})

/** Rows of a page whose size is not given, where it is not 20; undefined: all rows up to the maximum. */
const PAGE_SIZES: Record<string, number | undefined> = {
  listApiKeys: undefined,
  listLogLines: 100,
  listEmailAttachments: 100,
  listReceivedEmailAttachments: 100,
  listInboundEmails: 50,
  listInboundRoutes: 100,
  listWebhooks: 100,
}

test('a page has 20 rows by default, but for those of the table', () => {
  const limitOf = ({ parameters = [] }: Operation) => parameters.find(({ name }) => name === 'limit')
  const lists = operations.filter(limitOf)
  assert.ok(lists.length > 30)
  for (const list of lists) {
    const { schema } = limitOf(list) as unknown as { schema: { default?: number } }
    const rows = list.operationId in PAGE_SIZES ? PAGE_SIZES[list.operationId] : 20
    assert.is(schema.default, rows, list.operationId)
  }
})

test('every operation has a summary, a description and a tag that is described', () => {
  const tags = new Map(document.tags.map((tag: { name: string; description?: string }) => [tag.name, tag]))
  for (const { operationId, summary, description, tags: own } of operations) {
    assert.ok(summary.length > 3 && description.endsWith('.'), operationId)
    for (const tag of own)
      assert.ok((tags.get(tag) as { description?: string })?.description, `${operationId}: ${tag}`)
  }
})

test('every parameter is described', () => {
  for (const { operationId, parameters = [] } of operations)
    for (const { name, description } of parameters) assert.ok(description, `${operationId}: ${name}`)
  const [suppression] = operation('getSuppression').parameters!
  assert.match(suppression!.description, /address/)
  assert.match(operation('getContact').parameters![0]!.description, /address/)
})

test('bodies of requests and replies have names, and equal ones share a name', () => {
  for (const { operationId, requestBody, responses } of operations) {
    const request = requestBody?.content['application/json']?.schema
    if (request) assert.ok('$ref' in (request.items ?? request), operationId)
    const reply = (responses['200'] ?? responses['201'])?.content['application/json']?.schema
    if (reply) assert.ok('$ref' in (reply.items ?? reply), operationId)
  }
  const texts = Object.values(document.components.schemas).map(schema => JSON.stringify(schema))
  assert.is(new Set(texts).size, texts.length)
  const single = operation('sendEmail').requestBody!.content['application/json'].schema
  const batch = operation('sendEmailBatch').requestBody!.content['application/json'].schema
  assert.equal([single.$ref, batch.items.$ref], Array(2).fill('#/components/schemas/SendEmailRequest'))
})

test('numbers have no bounds that only say that they are integers, and lists say what they contain', () => {
  for (const [place, schema] of schemasIn(document)) {
    assert.not(Math.abs(Number(schema.minimum ?? 0)) === Number.MAX_SAFE_INTEGER, place)
    assert.not(Math.abs(Number(schema.maximum ?? 0)) === Number.MAX_SAFE_INTEGER, place)
    if (schema.type === 'array') assert.ok('items' in schema || 'prefixItems' in schema, place)
    if (schema.type === 'object') assert.ok('properties' in schema || 'additionalProperties' in schema, place)
  }
})

for (const [id, required, alternatives] of [
  ['sendEmail', ['to'], 'anyOf'],
  ['createBroadcast', undefined, 'anyOf'],
  ['createWebhook', ['events'], 'anyOf'],
  ['createQueueHold', undefined, 'anyOf'],
  ['cancelQueuedEmails', undefined, 'anyOf'],
  ['removeSuppressions', undefined, 'oneOf'],
  ['replyToInboundEmail', ['from'], 'anyOf'],
] as const)
  test(`${id}: the document says what must be there`, () => {
    const schema = requestOf(id)
    assert.equal(schema.required, required)
    assert.ok(schema[alternatives].length > 1)
    assert.ok(operation(id).requestBody!.required)
  })

test('createBroadcast: an audience or a segment, and a template or the texts, are enough', () => {
  const alternatives = requestOf('createBroadcast').anyOf as { required: string[] }[]
  assert.equal(
    alternatives.map(({ required }) => required.join(' ')),
    [
      'audience_id from subject',
      'audience_id template_id',
      'segment_id from subject',
      'segment_id template_id',
    ],
  )
})

interface Alternatives {
  required?: string[]
  anyOf?: Alternatives[]
  oneOf?: Alternatives[]
  not?: { required?: string[]; properties?: object }
}

test('what must be there, together or not, are properties that the schema describes', () => {
  let excluded = 0
  for (const [place, schema] of schemasIn(document)) {
    const described = Object.keys((schema.properties as object | undefined) ?? {})
    const { required = [], anyOf = [], oneOf = [], not } = schema as Alternatives
    const sets = [required, ...[...anyOf, ...oneOf].map(one => one.required ?? [])]
    if (not && schema.properties) {
      excluded++
      assert.equal(Object.keys(not.properties ?? {}), not.required, place)
      sets.push(not.required ?? [])
    }
    if (schema.properties)
      for (const name of sets.flat()) assert.ok(described.includes(name), `${place}: ${name}`)
  }
  assert.ok(excluded > 0)
})

test('optional fields of a request may be null, required ones may not', () => {
  assert.not(JSON.stringify(requestOf('sendEmail').properties.to).includes('null'))
  const { properties } = requestOf('sendEmail')
  assert.equal(properties.topic_id.type, ['string', 'null'])
  assert.ok(properties.cc.anyOf.some(({ type }: { type: string }) => type === 'null'))
  assert.equal(properties.from.type, ['string', 'null'])
  assert.equal(properties.template_data.additionalProperties, {})
  assert.equal(properties.template.properties.variables.additionalProperties, {})
})

test('ids are described with and without their prefix', () => {
  const { pattern } = document.components.schemas.Email.properties.id
  for (const id of ['eml_01990000-0000-7000-8000-000000000001', '01990000-0000-7000-8000-00000000000A'])
    assert.ok(new RegExp(pattern).test(id), id)
  assert.not(new RegExp(pattern).test('dom_01990000-0000-7000-8000-000000000001'))
})

test('errors are listed for each operation as they apply, with their headers', () => {
  const statuses = (id: string) => Object.keys(operation(id).responses)
  assert.equal(statuses('sendEmail'), [
    ...['200', '400', '401', '403', '404', '409', '413', '415', '422', '429'],
    'default',
  ])
  assert.equal(statuses('getEmail'), ['200', '401', '403', '404', '429', 'default'])
  assert.equal(statuses('getLiveness'), ['200', '400', 'default'])
  for (const { operationId, parameters = [] } of operations)
    if (parameters.some(parameter => parameter.in === 'query'))
      assert.ok(statuses(operationId).includes('422'), operationId)
  const { TooManyRequests, Unauthorized } = document.components.responses
  for (const name of ['retry-after', 'ratelimit-limit', 'x-request-id'])
    assert.ok(TooManyRequests.headers[name])
  assert.ok(Unauthorized.headers['www-authenticate'])
  assert.ok(operation('followTrackedLink').responses['302'].headers.location)
})

test('bodies of files and forms have schemas, and other replies say what they are', () => {
  const form = operation('createContactImport').requestBody!.content['multipart/form-data'].schema
  assert.equal([form.required, form.properties.file.format], [['file'], 'binary'])
  assert.is(operation('importAudienceContacts').requestBody!.content['text/csv'].schema.type, 'string')
  assert.ok(operation('unsubscribe').requestBody)
  assert.equal(operation('getPrometheusMetrics').security, [{ metricsToken: [] }])
  for (const { operationId, responses } of operations)
    for (const [type, { schema }] of Object.entries<{ schema?: object }>(responses['200']?.content ?? {}))
      assert.ok(schema, `${operationId}: ${type}`)
})

test('every operation has an example that is valid (`npm run openapi` makes them)', () => {
  for (const route of routes.filter(hasExample)) {
    const id = operationIdOf(route, routes)
    const { request, reply } = recorded[id] ?? {}
    assert.ok(reply !== undefined, `${id}: there is no example`)
    if (route.body) z.parse(route.body, request ?? {})
    const schema = Object.values(route.replies)[0]!
    if (typeof schema !== 'string') z.parse(schema, reply)
  }
})

/** Numbers of replies that count from one. */
const FROM_ONE = /\/(?:attempt|line|row|version|published_version|position|emails_per_hour)(?:\/anyOf\/0)?$/

test('numbers in replies may be zero, except those that count from one', () => {
  const replies = operations.flatMap(({ responses }) => [...schemasIn(responses)])
  const names = replies.flatMap(([, { $ref }]) => (typeof $ref === 'string' ? $ref.split('/').at(-1)! : []))
  const bounded = [...new Set(names)]
    .flatMap(name => [...schemasIn(document.components.schemas[name], name)])
    .filter(([, { minimum }]) => typeof minimum === 'number')
  assert.ok(bounded.length > 100)
  for (const [place, { minimum }] of bounded) assert.is(minimum, FROM_ONE.test(place) ? 1 : 0, place)
})

test.run()
