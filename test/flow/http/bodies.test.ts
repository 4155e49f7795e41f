import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { openSession } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { fc } from '../../kit/property.ts'
import { assertRefusal, type ExpectedRefusal, storedIn } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('request bodies')
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  session = openSession(mailhorn, 'bearer')
})
test.after(() => mailhorn.close())

const MIB = 1024 * 1024
const WITH_BODY = ['/emails', '/auth/login', '/api-keys', '/domains']
const LIMITS_BYTES: Record<string, number> = { '/api-keys': MIB, '/domains': MIB, '/auth/login': 16 * 1024 }

type Raw = string | Uint8Array

async function post(path: string, raw: Raw, headers: Record<string, string> = {}) {
  return mailhorn.call('POST', path, { session, raw, headers })
}

function everywhere(what: string, raw: Raw, expected: ExpectedRefusal, headers?: Record<string, string>) {
  for (const path of WITH_BODY)
    test(`${path} refuses ${what}`, async () => {
      const before = storedIn(mailhorn)
      const isTooLarge = raw.length > (LIMITS_BYTES[path] ?? Number.POSITIVE_INFINITY)
      assertRefusal(await post(path, raw, headers), isTooLarge ? TOO_LARGE : expected)
      assert.equal(storedIn(mailhorn), before)
    })
}

const MALFORMED = { status: 400, name: 'validation_error' }
const NOT_JSON = { status: 415, name: 'validation_error' }
const TOO_LARGE = { status: 413, name: 'validation_error' }

for (const raw of [
  '{',
  '{"a":',
  '{"a":1,}',
  '[1,]',
  "{'a':1}",
  '{a:1}',
  'nul',
  'undefined',
  '{"a":NaN}',
  '{"a":01}',
  '{"a":+1}',
  '{"a":.5}',
  '{"a":"\u0001"}',
  '{"a":"\n"}',
  '{"a":"\\x41"}',
  '{"a":1}{"b":2}',
  '{"a":1}]',
  '/* */{}',
  ' ',
  '\ufeff',
  '\ufeff\ufeff{}',
  '<email/>',
  'from=a%40b.example',
])
  everywhere(JSON.stringify(raw), raw, { ...MALFORMED, says: /not valid JSON/ })

for (const [what, raw] of Object.entries({ number: '5', text: '"x"', boolean: 'true', null: 'null' }))
  everywhere(`a ${what} alone`, raw, { ...MALFORMED, says: /object/ })
everywhere('a list', '[{}]', { ...MALFORMED, says: /object/ })

everywhere('65 levels', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`, { ...MALFORMED, says: /64/ })
everywhere('400,000 levels', `{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}`, MALFORMED)
everywhere('400,000 levels left open', '['.repeat(400_000), MALFORMED)
everywhere('200,000 levels of objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, MALFORMED)

for (const [what, bytes] of Object.entries({
  'a byte that is no UTF-8': [0xff],
  'half a letter': [0xc3],
  'an overlong letter': [0xc0, 0xaf],
  'a surrogate in UTF-8': [0xed, 0xa0, 0x80],
}))
  everywhere(what, Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]), {
    ...MALFORMED,
    says: /UTF-8/,
  })
everywhere('UTF-16', Buffer.from('\ufeff{}', 'utf16le'), MALFORMED)

for (const type of [
  '',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonx',
  'application/xjson',
  'application/octet-stream',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
])
  everywhere(`the content type "${type}"`, '{}', NOT_JSON, { 'content-type': type })
everywhere('no JSON of another type, for its type', '{', NOT_JSON, { 'content-type': 'text/plain' })
everywhere('gzip', gzipSync('{}'), NOT_JSON, { 'content-encoding': 'gzip' })
everywhere('a gzip bomb', gzipSync(Buffer.alloc(100 * MIB)), NOT_JSON, { 'content-encoding': 'gzip' })

for (const [path, limitBytes] of Object.entries(LIMITS_BYTES)) {
  test(`${path} refuses a byte more than ${limitBytes}`, async () => {
    assertRefusal(await post(path, filled(limitBytes + 1)), TOO_LARGE)
  })
  test(`${path} reads ${limitBytes} bytes`, async () => {
    assert.is((await post(path, filled(limitBytes))).status, 422)
  })
  test(`${path} refuses a chunked body of no stated length beyond ${limitBytes} bytes`, async () => {
    const chunk = Buffer.alloc(64 * 1024, ' ')
    const response = await fetch(mailhorn.baseUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
      body: ReadableStream.from(Array(40).fill(chunk)),
      duplex: 'half',
    } as RequestInit)
    const { status, headers } = response
    assertRefusal({ status, headers, body: await response.json() }, TOO_LARGE)
  })
}

/** An object of exactly so many bytes. */
function filled(bytes: number): Uint8Array {
  const frame = '{"filling":""}'
  return Buffer.from(frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`))
}

for (const path of WITH_BODY)
  for (const type of ['application/json', 'text/plain', ''])
    test(`${path} reads no body as {}, with the type "${type}"`, async () => {
      const headers = { 'content-type': type, authorization: `Bearer ${session}` }
      const response = await fetch(mailhorn.baseUrl + path, { method: 'POST', headers })
      const { name } = (await response.json()) as { name: string }
      assert.equal([response.status, name], [422, 'missing_required_field'])
    })

test('routes without a body do not mind one', async () => {
  for (const [method, path] of [
    ['GET', '/auth/session'],
    ['GET', '/domains'],
  ] as const) {
    const { body } = await mailhorn.call(method, path, { session, headers: { 'content-type': 'x' } })
    assert.ok(body)
  }
  const { body: key } = await mailhorn.call('POST', '/api-keys', { session, body: { name: 'gone' } })
  const deleted = await mailhorn.call('DELETE', `/api-keys/${key.id}`, { session, raw: '{}' })
  assert.is(deleted.status, 200)
})

test('whatever is sent as a body, the answer is an error in the API’s shape', async () => {
  const good = '{"from":"a@here.example","to":["delivered@simulator.test"],"subject":"s","text":"t"}'
  const mutated = fc
    .tuple(fc.nat(good.length), fc.nat(20), fc.uint8Array({ maxLength: 8 }))
    .map(([at, cut, bytes]) =>
      Buffer.concat([Buffer.from(good.slice(0, at)), bytes, Buffer.from(good.slice(at + cut))]),
    )
  const json = fc.jsonValue().map(value => Buffer.from(JSON.stringify(value)))
  const fields = fc
    .dictionary(
      fc.constantFrom('from', 'to', 'cc', 'subject', 'text', 'headers', 'tags', 'attachments', 'replyTo'),
      fc.oneof(fc.jsonValue(), fc.constant('a@b.example')),
    )
    .map(value => Buffer.from(JSON.stringify(value)))
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutated, json, fields), async raw => {
      const answer = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, raw })
      if (answer.status === 200) return
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status}`)
      assertRefusal(answer, { status: answer.status, name: answer.body.name })
    }),
    { numRuns: 500 },
  )
})

test('afterwards it still works', async () => {
  const { status, body } = await mailhorn.call('GET', '/healthz')
  assert.equal([status, body], [200, { status: 'ok' }])
})

test.run()
