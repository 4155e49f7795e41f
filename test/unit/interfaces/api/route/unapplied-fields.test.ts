import * as assert from 'uvu/assert'
import * as z from 'zod'
import type { ApiRequest, Route } from '../../../../../src/interfaces/api/route/route.ts'
import { namingUnapplied } from '../../../../../src/interfaces/api/route/unapplied-fields.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('fields of a request that had no effect')
const UUID = '0199b0a0-1111-7222-8333-444455556666'

/** The object after each request. */
const SHOWN = {
  id: `brd_${UUID}`,
  name: 'Shop',
  subject: 'News',
  first_name: 'Ann',
  description: '',
  tags: ['a'],
  properties: {},
  capabilities: { sending: 'enabled' },
  unsubscribed: false,
  region: 'us-west-2',
  domain_id: `dom_${UUID}`,
  scopes: ['read'],
  expires_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
}
const settable = {
  name: 1,
  subject: 1,
  first_name: 1,
  description: 1,
  tags: 1,
  properties: 1,
  unsubscribed: 1,
  capabilities: 1,
}
const body = z.object(Object.fromEntries(Object.keys(settable).map(key => [key, z.unknown()])))

function route(fields: Partial<Route> = {}, reply: object = SHOWN): Route {
  return namingUnapplied({
    method: 'PATCH',
    path: '/things/:id',
    access: 'session',
    summary: 'Change',
    body,
    emptyRemoves: ['first_name'],
    replies: { 200: z.object({ id: z.string() }) },
    async handle(request: ApiRequest) {
      await request.body()
      return { status: 200, body: reply }
    },
    ...fields,
  } as Route)
}

async function warningsOf(input: unknown, { handle }: Route = route()) {
  const call = handle as (request: ApiRequest) => ReturnType<Route['handle']>
  const reply = await call({ body: async () => input } as ApiRequest)
  return (reply as { body: { warnings?: { path: string; message: string }[] } }).body.warnings
}

const CASES: [what: string, input: unknown, warned: Record<string, string> | undefined][] = [
  ['null', { name: null }, { name: 'Null does not change `name`.' }],
  ['null for false', { unsubscribed: null }, { unsubscribed: 'Null does not change `unsubscribed`.' }],
  [
    'null for a field that can be removed',
    { firstName: null },
    { first_name: 'Null does not change `first_name`. An empty string removes it.' },
  ],
  [
    'null inside of an object',
    { capabilities: { sending: null, receiving: null }, properties: { city: null } },
    { 'capabilities.sending': 'Null does not change `capabilities.sending`.' },
  ],
  ['an empty string', { subject: '' }, { subject: 'An empty string does not change `subject`.' }],
  ['an empty list', { tags: [] }, { tags: 'An empty list does not change `tags`.' }],
  ['null for a field without a value', { description: null, properties: null }, undefined],
  ['null in one of two spellings', { first_name: null, firstName: 'Ann' }, undefined],
  ['a field that is set', { name: 'Shop', subject: 'Other' }, undefined],
  [
    'another value of a field that cannot be set',
    { region: 'eu-west-1' },
    { region: '`region` was not changed, because this request cannot change it.' },
  ],
  ['the same value of such a field', { region: 'us-west-2', domain_id: UUID, id: UUID }, undefined],
  [
    'another list, or another time, of such a field',
    { scopes: ['read', 'full'], expires_at: '2027-01-01T00:00:00.000Z' },
    {
      scopes: '`scopes` was not changed, because this request cannot change it.',
      expires_at: '`expires_at` was not changed, because this request cannot change it.',
    },
  ],
  ['the same list, or its only entry', { scopes: 'read' }, undefined],
  ['a time that was read before', { updated_at: '2020-01-01T00:00:00.000Z' }, undefined],
  ['an unknown field', { colour: 'red', shape: null }, undefined],
  ['a list instead of an object', [{ name: null }], undefined],
]

for (const [what, input, warned] of CASES)
  test(`${what}: ${warned ? 'named in the reply' : 'no warning'}`, async () => {
    const expected = warned && Object.entries(warned).map(([path, message]) => ({ path, message }))
    assert.equal(await warningsOf(input), expected)
  })

test('fields that a route never applies are named on any method, with its reason', async () => {
  const post = route({ method: 'POST', notApplied: { cc: '`cc` has no effect.' } })
  assert.equal(await warningsOf({ cc: 'a@b.example', name: null }, post), [
    { path: 'cc', message: '`cc` has no effect.' },
  ])
  assert.is(await warningsOf({ name: null }, route({ method: 'POST' })), undefined)
})

test('warnings of the route itself are kept, and win', async () => {
  const own = { path: 'name', message: 'own' }
  const warned = await warningsOf({ name: null, tags: [] }, route({}, { ...SHOWN, warnings: [own] }))
  assert.equal(
    warned?.map(({ path, message }) => [path, message]),
    [
      ['name', 'own'],
      ['tags', 'An empty list does not change `tags`.'],
    ],
  )
})

test('the description of the reply has warnings', () => {
  const warnings = [{ path: 'name', message: 'm' }]
  const described = route().replies[200] as z.ZodType
  assert.equal(described.parse({ id: '1', warnings }), { id: '1', warnings })
})

test.run()
