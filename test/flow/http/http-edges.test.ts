import * as assert from 'uvu/assert'
import { openSession } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { exchange, rawRequest } from '../../kit/raw-http.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('edges of HTTP')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const head = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`
const auth = () => `Authorization: Bearer ${mailhorn.apiKey}`

function post(path: string, body: string, ...lines: string[]): string {
  return (
    head([
      `POST ${path} HTTP/1.1`,
      'Host: mailhorn.test',
      auth(),
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...lines,
    ]) + body
  )
}

const send = (subject = 'hi') => post('/emails', JSON.stringify({ ...MAIL, subject }))
const CHUNKED = ['Transfer-Encoding: chunked', 'Content-Type: application/json']

/** Bytes that follow a complete request, and the status of their refusal. */
const FOLLOWERS: [what: string, bytes: string, status: number][] = [
  ['the rest of a body that is longer than its length', '{}\r\n\r\n', 400],
  ['a line that is no request', 'hello\r\n\r\n', 400],
  ['a header field that is too large', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['CONNECT', 'CONNECT there.example:443 HTTP/1.1\r\nHost: there.example\r\n\r\n', 400],
  [
    'a request with an invalid chunk',
    `${head(['POST /suppressions HTTP/1.1', 'Host: x', ...CHUNKED])}zz\r\n`,
    400,
  ],
  ['a request without a host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
  ['a request of HTTP/2.0', 'GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n', 505],
]

for (const [what, bytes, status] of FOLLOWERS)
  for (const count of [1, 3])
    test(`${count} sends before ${what} get their replies, then comes ${status} and the end`, async () => {
      const sends = Array.from({ length: count }, (_, i) => send(`${what} ${i}`)).join('')
      const { replies, closed } = await exchange(mailhorn.baseUrl, sends + bytes, { replyCount: count + 2 })
      assert.equal(
        replies.map(reply => reply.status),
        [...Array<number>(count).fill(200), status],
      )
      assert.ok(closed)
      for (const { text } of replies.slice(0, count)) assert.match(JSON.parse(text).id, /^eml_/)
      assertRefusal(
        { ...replies[count]!, body: JSON.parse(replies[count]!.text) },
        {
          status,
          name: 'validation_error',
        },
      )
    })

for (const count of [1, 3])
  test(`a client that closes its side after ${count} sends gets their replies`, async () => {
    const sends = Array.from({ length: count }, (_, i) => send(`closed ${i}`)).join('')
    const { replies, closed } = await exchange(mailhorn.baseUrl, sends, {
      ...{ replyCount: count + 1, endsEarly: true },
    })
    assert.equal([replies.map(reply => reply.status), closed], [Array(count).fill(200), true])
  })

test('a reply to input that is no request has a date', async () => {
  const { headers } = await rawRequest(mailhorn.baseUrl, 'hello\r\n\r\n')
  assert.ok(Date.parse(headers.get('date') ?? ''))
})

for (const [what, line, status] of [
  ['HTTP/2.0 in its line', 'GET /healthz HTTP/2.0', 505],
  ['a coding besides chunked', 'POST /emails HTTP/1.1\r\nTransfer-Encoding: gzip, chunked', 501],
] as const)
  test(`a request with ${what} is answered ${status}, and the connection is closed`, async () => {
    const reply = await rawRequest(mailhorn.baseUrl, `${head([line, 'Host: x'])}0\r\n\r\n`)
    assertRefusal(reply, { status, name: 'validation_error' })
    assert.is(reply.headers.get('connection'), 'close')
  })

for (const line of [
  'Authorization: Bearer re_other',
  'authorization: Bearer re_other',
  'Idempotency-Key: a\r\nIdempotency-Key: b',
  'Content-Type: text/plain',
])
  test(`a second ${line.split(':')[0]} is refused`, async () => {
    const reply = await rawRequest(mailhorn.baseUrl, post('/emails', JSON.stringify(MAIL), line))
    assertRefusal(reply, { status: 400, name: 'validation_error' })
  })

test('a query parameter that occurs twice is refused by name, an unknown one is ignored', async () => {
  const key = mailhorn.apiKey
  const answer = await mailhorn.call('GET', '/emails?limit=1&limit=2', { key })
  assertRefusal(answer, { status: 422, name: 'validation_error', path: 'limit' })
  assert.is((await mailhorn.call('GET', '/emails?x=1&x=2&limit=1', { key })).status, 200)
})

for (const path of ['/emails', '/suppressions', '/inbound'])
  test(`${path}: empty parameters count as absent`, async () => {
    const target = `${path}?limit=&offset=&after=&before=&status=&q=`
    assert.is((await mailhorn.call('GET', target, { key: mailhorn.apiKey })).status, 200)
  })

for (const path of ['/emails', '/suppressions', '/inbound'])
  test(`${path}: an offset beside a cursor is refused`, async () => {
    const id = '01990000-0000-7000-8000-000000000000'
    const answer = await mailhorn.call('GET', `${path}?offset=1&after=${id}`, { key: mailhorn.apiKey })
    assertRefusal(answer, { status: 422, name: 'validation_error' })
  })

test('the offset of a time in the query may be unescaped', async () => {
  const target = '/emails?created_after=2026-11-25T09:00:00+01:00'
  assert.is((await mailhorn.call('GET', target, { key: mailhorn.apiKey })).status, 200)
})

for (const [what, options] of [
  ['no credential', () => ({})],
  ['an unknown key', () => ({ key: `re_${'x'.repeat(40)}` })],
  ['a key where a session is needed', () => ({ key: mailhorn.apiKey })],
] as const)
  test(`401 for ${what} names the scheme`, async () => {
    const { status, headers } = await mailhorn.call('GET', '/domains', options())
    assert.is(status, 401)
    assert.match(headers.get('www-authenticate') ?? '', /^Bearer realm="/)
  })

test('415 for a compressed body says which coding is accepted', async () => {
  const reply = await rawRequest(
    mailhorn.baseUrl,
    post('/emails', JSON.stringify(MAIL), 'Content-Encoding: gzip'),
  )
  assert.equal([reply.status, reply.headers.get('accept-encoding')], [415, 'identity'])
})

const WAITS = 'Expect: 100-continue'
/** Requests that are refused by their head, while the client waits. */
const HEADS: [what: string, lines: () => string[], status: number][] = [
  ['no credential', () => ['POST /emails HTTP/1.1', 'Content-Type: application/json'], 401],
  ['an unknown path', () => ['POST /nothing HTTP/1.1', auth()], 404],
  ['a wrong method', () => ['DELETE /emails HTTP/1.1', auth()], 405],
  ['text', () => ['POST /emails HTTP/1.1', auth(), 'Content-Type: text/plain'], 415],
]

for (const [what, lines, status] of HEADS)
  test(`a client that waits with ${what} gets ${status} without 100 Continue`, async () => {
    const request = head([...lines(), 'Host: x', 'Content-Length: 5000000', WAITS])
    const { replies, closed } = await exchange(mailhorn.baseUrl, request, {
      replyCount: 2,
      informational: true,
    })
    assert.equal([replies.map(reply => reply.status), closed], [[status], true])
  })

test('a client that waits with a length above the limit gets 413 without 100 Continue', async () => {
  const type = 'Content-Type: application/json'
  const lines = ['POST /emails HTTP/1.1', 'Host: x', auth(), type, 'Content-Length: 99000000', WAITS]
  const { replies } = await exchange(mailhorn.baseUrl, head(lines), { informational: true })
  assert.equal(
    replies.map(reply => reply.status),
    [413],
  )
})

test('a client that waits with a good head is asked for its body', async () => {
  const body = JSON.stringify(MAIL)
  const request = post('/emails', body, WAITS)
  const { replies } = await exchange(mailhorn.baseUrl, request, { replyCount: 2, informational: true })
  assert.equal(
    replies.map(reply => reply.status),
    [100, 200],
  )
})

for (const [method, path, body, place] of [
  ['POST', '/emails', '{"subject": "a\\ud800b"}', 'subject'],
  ['POST', '/emails', '{"tags": [{"name": "a", "value": "\\udc00"}]}', 'tags[0].value'],
  ['POST', '/emails/batch', '[{"subject": "\\uD83D"}]', '[0].subject'],
  ['POST', '/api-keys', '{"name": "n\\ud800"}', 'name'],
  ['POST', '/suppressions', '{"\\udfff": 1}', '\ufffd'],
] as const)
  test(`${method} ${path} refuses an unpaired surrogate in ${place}`, async () => {
    const answer = await mailhorn.call(method, path, {
      ...{ session: openSession(mailhorn, 'bearer'), raw: body },
      headers: { 'content-type': 'application/json' },
    })
    assert.equal([answer.status, answer.body.name], [422, 'validation_error'])
    assert.is(answer.body.errors[0].path, place)
  })

test('a pair of surrogates and an escaped backslash before one are taken', async () => {
  const raw = '{"name": "\\ud83d\\ude00 \\\\ud800"}'
  const answer = await mailhorn.call('POST', '/api-keys', {
    ...{ session: openSession(mailhorn, 'bearer'), raw },
    headers: { 'content-type': 'application/json' },
  })
  assert.equal([answer.status, answer.body.name], [201, '😀 \\ud800'])
})

test('a body with too many levels is told so, and not that it is no JSON', async () => {
  const answer = await mailhorn.call('POST', '/emails', {
    ...{ key: mailhorn.apiKey, raw: `${'['.repeat(65)}${']'.repeat(65)}` },
    headers: { 'content-type': 'application/json' },
  })
  assert.is(answer.status, 400)
  assert.match(answer.body.message, /at most 64 levels/)
})

test('a long line of a file is not repeated in the message', async () => {
  const session = openSession(mailhorn, 'bearer')
  const { body: audience } = await mailhorn.call('POST', '/audiences', { session, body: { name: 'a' } })
  const answer = await mailhorn.call('POST', `/audiences/${audience.id}/contacts/import`, {
    ...{ session, raw: `${'x'.repeat(60_000)}\n`, headers: { 'content-type': 'text/csv' } },
  })
  assert.is(answer.status, 422)
  assert.ok(JSON.stringify(answer.body).length < 5_000)
})

test.run()
