import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { parseJson, parseLargeJson } from '../../../../../src/interfaces/api/body/json.ts'
import {
  SHORTEST_PACKED_LIST,
  surveyJson,
  VALUES_MAX,
} from '../../../../../src/interfaces/api/body/json-prescan.ts'
import { canonicalHash } from '../../../../../src/lib/canonical-json.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http: large JSON bodies')
const LONG = SHORTEST_PACKED_LIST
const bytesList = (length: number) => Array.from({ length }, (_, i) => i % 256)

/** Returns the parsed value, or message and status of the refusal. */
function outcome(parse: (bytes: Buffer) => object, text: string | Buffer) {
  try {
    return { value: parse(Buffer.from(text)) }
  } catch (error) {
    if (error instanceof ApiError) return { refused: error.message, status: error.status }
    throw error
  }
}

/** Lists again where there are bytes. */
function unpacked(value: unknown): unknown {
  if (value instanceof Uint8Array) return Array.from(value)
  if (Array.isArray(value)) return value.map(unpacked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unpacked(inner)]))
}

const attached = (content: unknown) => ({ attachments: [{ content }] })

test('large JSON: value and hash are those of the small parser', () => {
  const bytes = fc.array(fc.nat(255), { minLength: LONG, maxLength: LONG + 50 })
  const content = fc.oneof(
    bytes,
    fc.record({ type: fc.constant('Buffer'), data: bytes }),
    fc.string(),
    fc.jsonValue(),
  )
  const email = fc.record({ attachments: fc.array(fc.record({ content, data: content })), tags: content })
  const anything = fc.oneof(email, fc.array(email), fc.array(content), fc.dictionary(fc.string(), content))
  const spaces = fc.constantFrom(undefined, 1, '\t', ' \n')
  fc.assert(
    fc.property(anything, spaces, (value, space) => {
      const text = Buffer.from(JSON.stringify(value, null, space))
      const [small, large] = [parseJson(text), parseLargeJson(text)]
      assert.equal(unpacked(large), JSON.parse(`${text}`))
      assert.equal(canonicalHash(large), canonicalHash(small))
    }),
    { numRuns: 200 },
  )
})

for (const [what, body] of Object.entries({
  'a list': attached(bytesList(LONG)),
  'a Buffer': attached({ type: 'Buffer', data: bytesList(LONG) }),
  'the second email of a batch': [{}, attached(bytesList(LONG))],
}))
  test(`large JSON: the content of an attachment becomes bytes: ${what}`, () => {
    const large = parseLargeJson(Buffer.from(JSON.stringify(body)))
    const [{ content }] = (Array.isArray(large) ? large[1] : large).attachments
    assert.equal(Buffer.from(content.data ?? content), Buffer.from(bytesList(LONG)))
    assert.ok((content.data ?? content) instanceof Uint8Array)
  })

for (const [what, body] of Object.entries({
  'a body that is a list': bytesList(LONG),
  'a list elsewhere': { data: bytesList(LONG), content: bytesList(LONG) },
  'variables of a template': { template_data: { attachments: [{ content: bytesList(LONG) }] } },
  'a list in a list': attached([bytesList(LONG)]),
  'another field of an attachment': { attachments: [{ data: bytesList(LONG) }] },
  'a short list': attached(bytesList(LONG - 1)),
  'a list with 256 in it': attached([...bytesList(LONG), 256]),
  'a list with -1 in it': attached([...bytesList(LONG), -1]),
  'a list with a fraction': attached([...bytesList(LONG), 1.5]),
  'a list with a text at its end': attached([...bytesList(LONG), '1']),
}))
  test(`large JSON: an array stays an array: ${what}`, () => {
    assert.equal(parseLargeJson(Buffer.from(JSON.stringify(body))), body)
  })

const digits = bytesList(LONG).join()
for (const text of [
  `{"a":[${digits},]}`,
  `{"a":[,${digits}]}`,
  `{"a":[${digits}}`,
  `{"a":[${digits}`,
  `{"a":[${digits},01]}`,
  `{"a":[${digits},1 2]}`,
  `{"a":[${digits}] [1]}`,
  `{"a":"b"[${digits}]}`,
  `{[${digits}]:1}`,
  `[${digits}]]`,
  `"[${digits}]`,
  `{"a":"\\"}`,
  `{"a":"\\\\\\"}`,
])
  test(`large JSON: invalid as in a small body: ${text.replace(digits, '…')}`, () => {
    assert.match(outcome(parseLargeJson, text).refused!, /not valid JSON/)
    assert.match(outcome(parseJson, text).refused!, /not valid JSON/)
  })

for (const text of [
  `{"a":"[${digits}]"}`,
  `{"a":"\\"[${digits}]"}`,
  `{"a":"\\\\","b":[${digits}]}`,
  `{"[${digits}]":1}`,
  `{"a":[${digits.replaceAll(',', ' ,\r\n\t')}]}`,
  `{"__proto__":[${digits}],"constructor":[${digits}]}`,
])
  test(`large JSON: same value as in a small body: ${text.slice(0, 20)}`, () => {
    assert.is(JSON.stringify(parseLargeJson(Buffer.from(text))), JSON.stringify(JSON.parse(text)))
  })

for (const [what, text] of Object.entries({
  'empty objects': `[${'{},'.repeat(VALUES_MAX)}{}]`,
  'empty lists': `[${'[],'.repeat(VALUES_MAX)}[]]`,
  numbers: `[${'300,'.repeat(VALUES_MAX)}300]`,
  texts: `[${'"",'.repeat(VALUES_MAX)}""]`,
  keys: `{${'"a":1,'.repeat(VALUES_MAX)}"a":1}`,
  'bytes that are no content': `{"a":[${'7,'.repeat(VALUES_MAX)}7]}`,
}))
  test(`large JSON: too many ${what} are refused`, () => {
    const { refused, status } = outcome(parseLargeJson, text)
    assert.match(refused!, /at most 250000 JSON values/)
    assert.is(status, 413)
  })

test('large JSON: many values and any number of attachment bytes are read', () => {
  const numbers = Array(VALUES_MAX - 10).fill(300)
  assert.equal(parseLargeJson(Buffer.from(JSON.stringify({ numbers }))), { numbers })
  const [{ content }] = (
    parseLargeJson(Buffer.from(`{"attachments":[{"content":[${'7,'.repeat(2_000_000)}7]}]}`)) as {
      attachments: [{ content: Uint8Array }]
    }
  ).attachments
  assert.is(content.length, 2_000_001)
})

test('large JSON: nesting is checked before parsing', () => {
  for (const text of ['['.repeat(400_000), `${'{"a":'.repeat(65)}1`])
    assert.match(outcome(parseLargeJson, text).refused!, /at most 64 levels/)
  const deep = `${'['.repeat(64)}${']'.repeat(64)}`
  assert.equal(surveyJson(Buffer.from(deep), 64), [])
})

for (const [what, bytes] of Object.entries({
  'what is no UTF-8': Buffer.concat([
    Buffer.from('{"a":"'),
    Buffer.from([0xff]),
    Buffer.from(`","b":[${digits}]}`),
  ]),
  'nothing but blanks': Buffer.alloc(1_000, ' '),
  'a number': Buffer.from('5'),
}))
  test(`large JSON: refused as in a small body: ${what}`, () => {
    assert.equal(outcome(parseLargeJson, bytes).refused, outcome(parseJson, bytes).refused)
  })

test.run()
