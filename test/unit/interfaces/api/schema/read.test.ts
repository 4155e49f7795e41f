import * as assert from 'uvu/assert'
import * as z from 'zod'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import {
  bodyReader,
  camelCase,
  emptyListsOf,
  oneOrMany,
  presentPicker,
  readNumber,
  readPage,
} from '../../../../../src/interfaces/api/schema/read.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http: reading bodies and queries')

const schema = z.object({
  name: z.string(),
  reply_to: oneOrMany().optional(),
  size: z.number().optional(),
  list: z.array(z.object({ label: z.string() })).optional(),
})

function refusal(read: () => unknown): ApiError {
  try {
    read()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it was not refused')
}

test('body reader: schema keys become camelCase, keys of user data do not change', () => {
  const open = z.object({ user_data: z.unknown() })
  assert.equal(bodyReader(open)({ user_data: { snake_key: 1 } }), { userData: { snake_key: 1 } })
  for (const [snake, camel] of [
    ['a', 'a'],
    ['reply_to', 'replyTo'],
    ['a_b_c', 'aBC'],
    ['_a', 'A'],
    ['a_1', 'a_1'],
  ] as const)
    assert.is(camelCase(snake), camel)
})

test('body reader: null and the empty arrays of lists are absent, other empty values are not', () => {
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const pick = presentPicker(keys, { emptyLists: ['b'] })
  const present = pick({ a: null, b: [], c: '', d: 0, e: false, f: {}, g: [] })
  assert.equal({ ...present }, { c: '', d: 0, e: false, f: {}, g: [] })
})

const kinds = z.object({
  text: z.string().optional(),
  texts: oneOrMany().optional(),
  list: z.array(z.string()).optional(),
  networks: z.array(z.string()).min(1).optional(),
  required: z.array(z.string()).min(1),
  map: z.unknown().optional().meta({ type: 'object' }),
  fields: z.object({ id: z.string() }).optional(),
  domain_id: z.string().optional(),
  scheduled_at: z.unknown().optional().meta({ type: 'string' }),
})

test('body reader: an empty array is absent for lists and maps, but not for a list that must have entries', () => {
  assert.equal(emptyListsOf(kinds), ['texts', 'list', 'required', 'map'])
})

for (const [key, value] of [
  ['text', []],
  ['networks', []],
  ['fields', []],
  ['domain_id', []],
  ['domain_id', ''],
  ['scheduled_at', ''],
] as const)
  test(`body reader: ${JSON.stringify(value)} is refused for ${key}`, () => {
    const refused = refusal(() => bodyReader(kinds)({ required: ['x'], [key]: value }))
    assert.equal([refused.status, refused.errors?.[0]?.path], [422, key])
  })

test('body reader: an empty string removes a reference only where that is documented', () => {
  const body = { required: ['x'], domain_id: '' }
  assert.is(bodyReader(kinds, { emptyRemoves: ['domain_id'] })(body).domainId, '')
})

test('body reader: an empty string is absent only for the configured keys', () => {
  const present = presentPicker(['a', 'b'], { emptyMeansAbsent: ['a'] })({ a: '', b: '' })
  assert.equal({ ...present }, { b: '' })
})

for (const [input, taken] of [
  [{ reply_to: 'snake' }, 'snake'],
  [{ replyTo: 'camel' }, 'camel'],
  [{ reply_to: 'snake', replyTo: 'camel' }, 'snake'],
  [{ reply_to: null, replyTo: 'camel' }, 'camel'],
  [{ reply_to: [], replyTo: 'camel' }, 'camel'],
  [{ replyTo: null }, undefined],
  [{ reply_To: 'odd' }, undefined],
  [{ ReplyTo: 'odd' }, undefined],
] as const)
  test(`body reader: ${JSON.stringify(input)} gives reply_to ${taken}`, () => {
    assert.is(presentPicker(['reply_to'], { emptyLists: ['reply_to'] })(input).reply_to, taken)
  })

test('body reader: inherited properties are ignored', () => {
  const inherited = Object.create({ name: 'inherited' }) as Record<string, unknown>
  assert.is(presentPicker(['name', 'toString', '__proto__', 'constructor'])(inherited).name, undefined)
  const present = presentPicker(['__proto__'])(JSON.parse('{"__proto__": {"x": 1}}'))
  assert.is(Object.getPrototypeOf(present), null)
  assert.equal(Object.values(present), [{ x: 1 }])
})

test('body reader: an array instead of an object is refused', () => {
  const { status, errorName } = refusal(() => bodyReader(schema)([{ name: 'x' }]))
  assert.equal([status, errorName], [400, 'validation_error'])
})

for (const [what, body, name, paths] of [
  ['a missing field', {}, 'missing_required_field', ['name']],
  ['a wrong type', { name: 5 }, 'validation_error', ['name']],
  [
    'a missing field inside',
    { name: 'x', list: [{ label: 'a' }, {}] },
    'missing_required_field',
    ['list[1].label'],
  ],
  ['a wrong type inside', { name: 'x', list: [{ label: 5 }] }, 'validation_error', ['list[0].label']],
  ['null inside', { name: 'x', list: [{ label: null }] }, 'validation_error', ['list[0].label']],
  ['several', { size: 'big', list: 5 }, 'missing_required_field', ['name', 'size', 'list']],
  ['neither one nor many', { name: 'x', reply_to: 5 }, 'validation_error', ['reply_to']],
] as const)
  test(`body reader: the error of ${what} names its path`, () => {
    const refused = refusal(() => bodyReader(schema)(body))
    assert.equal([refused.status, refused.errorName], [422, name])
    assert.equal(
      refused.errors?.map(({ path }) => path),
      paths,
    )
    assert.ok(refused.message.includes(`\`${paths[0]}\``), refused.message)
  })

test('body reader: the error of an entry in one of several forms says which entry', () => {
  const { message } = refusal(() => bodyReader(schema)({ name: 'x', reply_to: ['a', 5] }))
  assert.is(message, '`reply_to[1]` must be a string; got a number.')
})

test('oneOrMany: a string and an array of strings become an array', () => {
  assert.equal(bodyReader(schema)({ name: 'x', reply_to: 'a' }).replyTo, ['a'])
  assert.equal(bodyReader(schema)({ name: 'x', reply_to: ['a', 'b'] }).replyTo, ['a', 'b'])
})

for (const [query, expected] of [
  ['', 7],
  ['n=1', 1],
  ['n=10', 10],
  ['n=007', 7],
  ['n=3&n=99', 3],
] as const)
  test(`readNumber: "${query}" is ${expected}`, () => {
    assert.is(readNumber(new URLSearchParams(query), 'n', { fallback: 7, min: 1, max: 10 }), expected)
  })

for (const query of [
  'n=',
  'n=0',
  'n=11',
  'n=-1',
  'n=1.0',
  'n=1e1',
  'n=0x1',
  'n=+1',
  'n=%201',
  'n=NaN',
  'n=٣',
  'n=9999999999999999',
])
  test(`readNumber: "${query}" is refused`, () => {
    const read = () => readNumber(new URLSearchParams(query), 'n', { fallback: 7, min: 1, max: 10 })
    const { status, errorName, errors } = refusal(read)
    assert.equal([status, errorName, errors?.[0]?.path], [422, 'validation_error', 'n'])
  })

test('readPage: limit and offset are read', () => {
  assert.equal(readPage(new URLSearchParams('')), { limit: 20, offset: 0 })
  assert.equal(readPage(new URLSearchParams(''), 50), { limit: 50, offset: 0 })
  assert.equal(readPage(new URLSearchParams('limit=100&offset=1000000000')), {
    limit: 100,
    offset: 1_000_000_000,
  })
})

test.run()
