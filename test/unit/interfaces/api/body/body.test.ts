import { PassThrough } from 'node:stream'
import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { type BodyReading, openBodyReading } from '../../../../kit/bodies.ts'
import { suite } from '../../../../kit/suite.ts'
import { until } from '../../../../kit/until.ts'
import { request } from '../request.ts'

const test = suite('http: JSON bodies')
const JSON_TYPE = { 'content-type': 'application/json' }
const LIMIT_BYTES = 100
const LARGE_BYTES = 128 * 1024
const MIB = 1024 * 1024
let reading: BodyReading
test.before(async () => {
  reading = await openBodyReading()
})
test.after(() => reading.close())

function readJsonBody(from: ReturnType<typeof request>, limitBytes: number, owner = 'ann') {
  return reading.readBody(from, { limitBytes, owner }, null)
}

function read(...body: (string | Uint8Array)[]) {
  return readJsonBody(request({ headers: JSON_TYPE, body }), LIMIT_BYTES)
}

async function statusOf(read: Promise<unknown>): Promise<number> {
  try {
    await read
    return 200
  } catch (error) {
    if (error instanceof ApiError) return error.status
    throw error
  }
}

test('JSON body: it is assembled from chunks of any size', async () => {
  const bytes = Buffer.from('{"a":"ü😀"}')
  assert.equal(await read(...[...bytes].map(byte => Uint8Array.of(byte))), { a: 'ü😀' })
})

test('JSON body: an empty body is {}, whatever its content type', async () => {
  assert.equal(await read(), {})
  assert.equal(await read(''), {})
  assert.equal(await readJsonBody(request({ headers: { 'content-type': 'text/plain' } }), LIMIT_BYTES), {})
})

test('JSON body: the limit is exact', async () => {
  const filled = (length: number) => `"${'x'.repeat(length - 4)}"`
  assert.is(await statusOf(read(`[${filled(LIMIT_BYTES)}]`)), 200)
  assert.is(await statusOf(read(`[${filled(LIMIT_BYTES + 1)}]`)), 413)
  assert.is(await statusOf(read(...Array<string>(101).fill(' '))), 413)
})

test('JSON body: bytes are counted whatever Content-Length says', async () => {
  const headers = { ...JSON_TYPE, 'content-length': '2' }
  assert.is(await statusOf(readJsonBody(request({ headers, body: [' '.repeat(101)] }), LIMIT_BYTES)), 413)
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

test('JSON body: many siblings are not nesting', async () => {
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

test('JSON body: a key __proto__ is an own key', async () => {
  const body = (await read('{"__proto__":{"polluted":1}}')) as Record<string, unknown>
  assert.ok(Object.hasOwn(body, '__proto__'))
  assert.is(({} as Record<string, unknown>).polluted, undefined)
})

const filling = 'x'.repeat(LARGE_BYTES)

test('large body: it is parsed in another process with the same result', async () => {
  const body = { a: filling, attachments: [{ content: [1, 2] }], __proto__: null }
  const from = request({ headers: JSON_TYPE, body: [JSON.stringify(body)] })
  assert.equal(await readJsonBody(from, 10 * LARGE_BYTES), {
    a: filling,
    attachments: [{ content: [1, 2] }],
  })
})

test('large body: a key __proto__ is an own key', async () => {
  const text = `{"__proto__":{"polluted":1},"a":"${filling}"}`
  const body = (await readJsonBody(request({ headers: JSON_TYPE, body: [text] }), 10 * LARGE_BYTES)) as object
  assert.ok(Object.hasOwn(body, '__proto__'))
  assert.is(({} as Record<string, unknown>).polluted, undefined)
})

for (const [what, text, status] of [
  ['broken', `{"a":"${filling}"`, 400],
  ['of too many values', `[${'{},'.repeat(300_000)}{}]`, 413],
  ['too deep', `{"a":"${filling}","b":${'['.repeat(64)}${']'.repeat(64)}}`, 400],
] as const)
  test(`large body: ${what} gives ${status}, and the next one is read`, async () => {
    const readLarge = (piece: string) =>
      readJsonBody(request({ headers: JSON_TYPE, body: [piece] }), 10 * LARGE_BYTES)
    assert.is(await statusOf(readLarge(text)), status)
    assert.equal(await readLarge(`["${filling}"]`), [filling])
  })

test('large body: a wrong content type gives 415', async () => {
  const from = request({ headers: { 'content-type': 'text/plain' }, body: [`["${filling}"]`] })
  assert.is(await statusOf(readJsonBody(from, 10 * LARGE_BYTES)), 415)
})

/** A request whose body comes when it is told to. */
function openRequest(headers: Record<string, string> = {}) {
  const pieces = new PassThrough({ highWaterMark: 1 })
  return Object.assign(pieces, { headers: { ...JSON_TYPE, ...headers } }) as unknown as PassThrough &
    ReturnType<typeof request>
}

/** Limit of a body in memory; an owner may have two of this size. */
const LIMIT_OF_SENDS = 56 * MIB

test('large body: the third of an owner waits without delaying other owners', async () => {
  const text = `["${filling}"]`
  const [first, second, third, other] = [openRequest(), openRequest(), openRequest(), openRequest()]
  const begun = (from: ReturnType<typeof openRequest>, owner: string) => {
    from.write(text.slice(0, -1))
    return readJsonBody(from, LIMIT_OF_SENDS, owner)
  }
  const readings = [begun(first, 'ann'), begun(second, 'ann'), begun(third, 'ann')]
  const others = begun(other, 'bob')
  await until(() => third.isPaused() && !second.isPaused() && !other.isPaused())
  other.end(']')
  assert.equal(await others, [filling])
  assert.ok(third.isPaused())
  first.end(']')
  assert.equal(await readings[0]!, [filling])
  await until(() => !third.isPaused())
  second.end(']')
  third.end(']')
  assert.equal((await Promise.all(readings)).length, 3)
})

test('large body: a smaller Content-Length reserves less memory', async () => {
  const text = `["${filling}"]`
  const begun = Array.from({ length: 5 }, () => openRequest({ 'content-length': String(text.length) }))
  const readings = begun.map(from => {
    from.write(text.slice(0, -1))
    return readJsonBody(from, LIMIT_OF_SENDS)
  })
  await until(() => begun.every(from => !from.isPaused()))
  for (const from of begun) from.end(']')
  assert.equal(await Promise.all(readings), Array(5).fill([filling]))
})

test('large body: too many waiting bodies of an owner give 503', async () => {
  const text = `["${filling}"]`
  const begun = Array.from({ length: 53 }, () => openRequest())
  const readings = begun.map(from => {
    from.write(text.slice(0, -1))
    return readJsonBody(from, LIMIT_OF_SENDS).catch(error => error as ApiError)
  })
  const refused = (await readings.at(-1)) as ApiError
  assert.instance(refused, ApiError)
  assert.equal([refused.status, refused.errorName], [503, 'application_error'])
  assert.equal(refused.headers, { 'retry-after': '5' })
  for (const from of begun) from.end(']')
  const read = await Promise.all(readings.slice(0, -1))
  assert.equal(read, Array(52).fill([filling]))
})

test('large body: a client that disconnects while waiting frees its place', async () => {
  const begun = Array.from({ length: 3 }, () => openRequest())
  const readings = begun.map(from => {
    from.write(`["${filling}`)
    return statusOrLeft(readJsonBody(from, LIMIT_OF_SENDS))
  })
  await until(() => begun[2]!.isPaused())
  for (const from of begun) from.destroy()
  assert.equal(await Promise.all(readings), ['left', 'left', 'left'])
  const from = request({ headers: JSON_TYPE, body: [`["${filling}"]`] })
  assert.equal(await readJsonBody(from, LIMIT_OF_SENDS), [filling])
})

test('large body: one that arrives too slowly is refused and its memory is released', async () => {
  const text = `["${filling}"]`
  const LENGTH = { 'content-length': String(LIMIT_OF_SENDS) }
  const [slow, honest] = [openRequest(LENGTH), openRequest(LENGTH)]
  const third = openRequest({ 'content-length': String(text.length) })
  const statuses = [slow, honest].map(from => statusOf(readJsonBody(from, LIMIT_OF_SENDS)))
  slow.write(text.slice(0, -1))
  honest.write(text.slice(0, -1))
  await until(() => reading.clock.timerCount === 2)
  const passTwentySeconds = async () => {
    for (let passedMs = 0; passedMs < 20_000; passedMs += 10_000) {
      slow.write(' '.repeat(11_000))
      honest.write(' '.repeat(MIB))
      await new Promise(setImmediate)
      reading.clock.advance(10_000)
    }
  }
  await passTwentySeconds()
  const waiting = readJsonBody(third, LIMIT_OF_SENDS)
  third.write(text.slice(0, -1))
  await until(() => third.isPaused())
  await passTwentySeconds()
  assert.is(await statuses[0], 408)
  third.end(']')
  assert.equal(await waiting, [filling])
  honest.end(']')
  assert.is(await statuses[1], 200)
  assert.is(reading.clock.timerCount, 0)
})

async function statusOrLeft(readingOne: Promise<unknown>): Promise<string> {
  return readingOne.then(
    () => 'read',
    error => (/the client left/.test(error.message) ? 'left' : error.message),
  )
}

test.run()
