import * as assert from 'uvu/assert'
import * as z from 'zod'
import { brokenRule, shownValue, valueAt } from '../../../../../src/interfaces/api/schema/broken-rule.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('schema/broken-rule')

for (const [schema, value, expected] of [
  [z.string(), 5, 'must be a string; got a number'],
  [z.int(), 1.5, 'must be an integer; got a number with a fraction'],
  [z.boolean(), null, 'must be a boolean; got null'],
  [z.array(z.string()), {}, 'must be an array; got an object'],
  [z.object({}), [], 'must be an object; got an array'],
  [z.string().max(3), 'abcd', 'must contain at most 3 characters; got 4'],
  [z.string().min(2), 'a', 'must contain at least 2 characters; got 1'],
  [z.array(z.int()).max(1), [1, 2], 'must contain at most 1 entries; got 2'],
  [z.int().max(5), 6, 'must be at most 5; got 6'],
  [z.int().min(1), 0, 'must be at least 1; got 0'],
  [z.enum(['a', 'b']), 'c', 'must be one of a, b; got "c"'],
  [z.union([z.string(), z.array(z.string())]), 5, 'must be a string or an array; got a number'],
  [z.union([z.string(), z.string()]), 5, 'is not valid'],
  [z.string().refine(() => false, 'must not be a test'), 'a', 'must not be a test'],
  [z.string().refine(() => false, 'wrong'), 'a', 'is not valid'],
] as const)
  test(`${JSON.stringify(value)}: ${expected}`, () => {
    assert.is(brokenRule(schema.safeParse(value).error!.issues[0]!, value), expected)
  })

test('a value is shown as JSON and shortened; an object by its type alone', () => {
  assert.equal(['a"b', true, null, undefined, {}, []].map(shownValue), [
    '"a\\"b"',
    'true',
    'null',
    'undefined',
    'an object',
    'an array',
  ])
  const long = shownValue('x'.repeat(100))
  assert.ok(long.length <= 61 && long.startsWith(`"${'x'.repeat(50)}`), long)
})

test('the value at a path is an own one', () => {
  const body = { a: [{ b: 1 }], c: 'text' }
  assert.is(valueAt(body, ['a', 0, 'b']), 1)
  assert.is(valueAt(body, []), body)
  for (const path of [['a', 1], ['c', 'length'], ['toString'], ['d', 'e']])
    assert.is(valueAt(body, path), undefined)
})

test.run()
