import * as assert from 'uvu/assert'
import { readJsonBody } from '../../../src/http/body.ts'
import { Refused } from '../../../src/http/refused.ts'
import { suite } from '../../kit/suite.ts'
import { request } from './request.ts'

const test = suite('http: JSON bodies')
const JSON_TYPE = { 'content-type': 'application/json' }
const LIMIT_BYTES = 100

function read(...body: (string | Uint8Array)[]) {
  return readJsonBody(request({ headers: JSON_TYPE, body }), LIMIT_BYTES)
}

async function statusOf(reading: Promise<unknown>): Promise<number> {
  try {
    await reading
    return 200
  } catch (error) {
    if (error instanceof Refused) return error.status
    throw error
  }
}

test('comes together from its pieces, cut wherever', async () => {
  const bytes = Buffer.from('{"a":"ü😀"}')
  assert.equal(await read(...[...bytes].map(byte => Uint8Array.of(byte))), { a: 'ü😀' })
})

test('is {} when there is none, whatever its type', async () => {
  assert.equal(await read(), {})
  assert.equal(await read(''), {})
  assert.equal(await readJsonBody(request({ headers: { 'content-type': 'text/plain' } }), LIMIT_BYTES), {})
})

test('may be as long as the limit, and not a byte longer', async () => {
  const filled = (length: number) => `"${'x'.repeat(length - 4)}"`
  assert.is(await statusOf(read(`[${filled(LIMIT_BYTES)}]`)), 200)
  assert.is(await statusOf(read(`[${filled(LIMIT_BYTES + 1)}]`)), 413)
  assert.is(await statusOf(read(...Array<string>(101).fill(' '))), 413)
})

test('is counted, whatever the length in its head says', async () => {
  const headers = { ...JSON_TYPE, 'content-length': '2' }
  assert.is(await statusOf(readJsonBody(request({ headers, body: [' '.repeat(101)] }), LIMIT_BYTES)), 413)
})

test('is read to its end when it is too long, so that the client hears the reply', async () => {
  let taken = 0
  const body = (function* () {
    for (; taken < 1_000; taken++) yield 'x'.repeat(1_000)
  })()
  assert.is(await statusOf(readJsonBody(request({ headers: JSON_TYPE, body }), LIMIT_BYTES)), 413)
  assert.is(taken, 1_000)
})

for (const [what, levels, status] of [
  ['64 levels', 64, 200],
  ['65 levels', 65, 400],
] as const)
  test(`${what} of lists and objects give ${status}`, async () => {
    const lists = '['.repeat(levels) + ']'.repeat(levels)
    const objects = `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
    for (const text of [lists, objects])
      assert.is(await statusOf(readJsonBody(request({ headers: JSON_TYPE, body: [text] }), 10_000)), status)
  })

test('a wide body is not a deep one', async () => {
  const text = `[${Array<string>(10_000).fill('{}').join()}]`
  assert.is(await statusOf(readJsonBody(request({ headers: JSON_TYPE, body: [text] }), 100_000)), 200)
})

for (const [text, status] of [
  ['{}', 200],
  ['[]', 200],
  ['\ufeff{}', 200],
  ['5', 400],
  ['null', 400],
  ['"x"', 400],
  ['{', 400],
  ['\ufeff', 400],
] as const)
  test(`${JSON.stringify(text)} gives ${status}`, async () => {
    assert.is(await statusOf(read(text)), status)
  })

for (const [headers, status] of [
  [{ 'content-type': 'application/json' }, 200],
  [{ 'content-type': 'Application/JSON ; Charset=UTF-8' }, 200],
  [{ 'content-type': 'application/problem+json' }, 200],
  [{ 'content-type': 'application/json', 'content-encoding': 'identity' }, 200],
  [{}, 415],
  [{ 'content-type': '' }, 415],
  [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
  [{ 'content-type': 'text/json' }, 415],
  [{ 'content-type': 'application/json; charset=iso-8859-1' }, 415],
  [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
  [{ 'content-type': 'application/json', 'content-encoding': 'br, gzip' }, 415],
] as const)
  test(`${JSON.stringify(headers)} gives ${status}`, async () => {
    assert.is(await statusOf(readJsonBody(request({ headers, body: ['{}'] }), LIMIT_BYTES)), status)
  })

test('own keys called __proto__ stay own keys', async () => {
  const body = (await read('{"__proto__":{"polluted":1}}')) as Record<string, unknown>
  assert.ok(Object.hasOwn(body, '__proto__'))
  assert.is(({} as Record<string, unknown>).polluted, undefined)
})

test.run()
