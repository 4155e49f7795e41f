import * as assert from 'uvu/assert'
import { canonicalJson } from '../../../src/lib/canonical-json.ts'
import { fc } from '../../kit/property.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/canonical-json')

/** The same value with the keys of all its objects in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]))
}

test('canonical JSON: the order of keys does not matter, at any depth', () => {
  assert.is(
    canonicalJson({ b: 1, a: { d: [{ z: 1, y: 2 }], c: null } }),
    '{"a":{"c":null,"d":[{"y":2,"z":1}]},"b":1}',
  )
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      assert.is(canonicalJson(value), canonicalJson(reversed(value)))
    }),
    { seed: 1, numRuns: 300 },
  )
})

test('canonical JSON: the order of a list matters', () => {
  assert.is.not(canonicalJson([1, 2]), canonicalJson([2, 1]))
})

test('canonical JSON: it parses to the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      assert.equal(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)))
    }),
    { seed: 2, numRuns: 300 },
  )
})

test('canonical JSON: different values have different texts', () => {
  const values = [null, 0, '0', false, '', [], {}, { a: null }, { a: [] }, [null], { a: 1, b: 2 }, { a: 12 }]
  assert.is(new Set(values.map(canonicalJson)).size, values.length)
})

test('canonical JSON: names of inherited properties are ordinary keys', () => {
  const text = '{"__proto__":{"a":1},"constructor":2}'
  assert.is(canonicalJson(JSON.parse(text)), text)
  assert.is.not(canonicalJson(JSON.parse('{"__proto__":1}')), canonicalJson({}))
})

test.run()
