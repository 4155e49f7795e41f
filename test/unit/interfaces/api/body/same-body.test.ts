import * as assert from 'uvu/assert'
import { canonicalJson } from '../../../../../src/lib/canonical-json.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http: when two request bodies are the same')

for (const [a, b] of [
  ['{"a":1,"b":2}', ' { "b" : 2, "a" : 1 } '],
  ['{"a":{"c":1,"b":[{"y":1,"x":2}]}}', '{"a":{"b":[{"x":2,"y":1}],"c":1}}'],
  ['{"a":"\\u00e9\\/"}', '{"a":"é/"}'],
  ['{"a":1.0}', '{"a":1}'],
  ['{"a":1e2}', '{"a":100}'],
  ['{"a":1,"a":2}', '{"a":2}'],
  ['{"1":0,"0":1}', '{"0":1,"1":0}'],
] as const)
  test(`${a} and ${b} are`, () => {
    assert.is(canonicalJson(JSON.parse(a)), canonicalJson(JSON.parse(b)))
  })

for (const [a, b] of [
  ['[1,2]', '[2,1]'],
  ['{"a":1}', '{"a":"1"}'],
  ['{"a":null}', '{}'],
  ['{"a":[]}', '{"a":{}}'],
  ['{"a":"x"}', '{"A":"x"}'],
  ['{"a":"é"}', '{"a":"e\\u0301"}'],
  ['{"__proto__":1}', '{}'],
  ['{"__proto__":{"a":1}}', '{"a":1}'],
  ['{"a,b":1}', '{"a":1,"b":1}'],
  ['{"a":["b,c"]}', '{"a":["b","c"]}'],
] as const)
  test(`${a} and ${b} are not`, () => {
    assert.is.not(canonicalJson(JSON.parse(a)), canonicalJson(JSON.parse(b)))
  })

test('canonical JSON: it parses to the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      assert.equal(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('canonical JSON: the order of keys does not matter', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), object => {
      const turned = Object.fromEntries(Object.entries(object).reverse())
      assert.is(canonicalJson(turned), canonicalJson(object))
    }),
  )
})

test.run()
