import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { exchange, rawRequest } from '../../kit/raw-http.ts'
import { assertRefusal, type ExpectedRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('HTTP as nobody should speak it')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const HOST = 'Host: mailhorn.test\r\n'
const MIB = 1024 * 1024
const UNREADABLE = { status: 400, name: 'validation_error' }
const UNKNOWN = { status: 404, name: 'not_found' }
const request = (line: string, headers = '') => `${line}\r\n${HOST}${headers}\r\n`
const auth = () => `Authorization: Bearer ${mailhorn.apiKey}\r\n`

async function serves() {
  assert.is((await mailhorn.call('GET', '/healthz')).status, 200)
}

function refused(what: string, bytes: string | Uint8Array, expected: ExpectedRefusal) {
  test(`${what}: ${expected.status} in the API’s shape`, async () => {
    const reply = await rawRequest(mailhorn.baseUrl, bytes)
    assertRefusal(reply, expected)
    await serves()
  })
}

refused('a line that is no request', 'hello\r\n\r\n', UNREADABLE)
refused('the beginning of a TLS handshake', Buffer.from('16030100ff0100', 'hex'), UNREADABLE)
refused('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', UNREADABLE)
refused('HTTP/9.9', `GET /healthz HTTP/9.9\r\n${HOST}\r\n`, UNREADABLE)
refused('a method nobody knows', request('BREW /emails HTTP/1.1'), UNREADABLE)
refused(
  'bytes beyond ASCII in the path',
  Buffer.from(request('GET /em\xe4ils HTTP/1.1'), 'latin1'),
  UNREADABLE,
)
refused('a blank in the path', request('GET /healthz x HTTP/1.1'), UNREADABLE)
refused('a header without a name', request('GET /healthz HTTP/1.1', ': x\r\n'), UNREADABLE)
refused('a bare LF in a header', request('GET /healthz HTTP/1.1', 'X: a\nY: b\0\r\n'), UNREADABLE)
refused('a folded header name', request('GET /healthz HTTP/1.1', 'X Y: a\r\n'), UNREADABLE)
refused('a negative length', request('POST /emails HTTP/1.1', 'Content-Length: -5\r\n'), UNREADABLE)
refused(
  'two lengths',
  request('POST /emails HTTP/1.1', 'Content-Length: 2\r\nContent-Length: 3\r\n'),
  UNREADABLE,
)
refused(
  'a length and chunks, which smugglers send',
  request('POST /emails HTTP/1.1', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'),
  UNREADABLE,
)
refused(
  'a chunk size that is none',
  `${request('POST /auth/login HTTP/1.1', 'Transfer-Encoding: chunked\r\n')}zz\r\n`,
  UNREADABLE,
)
refused('HTTP/1.1 without a host', 'GET /healthz HTTP/1.1\r\n\r\n', UNREADABLE)
for (const [what, lines] of Object.entries({
  'two hosts': 'Host: a.example\r\nHost: b.example\r\n',
  'one host twice': 'Host: a.example\r\nHost: a.example\r\n',
  'two hosts in different case': 'Host: a.example\r\nX: y\r\nhOST: a.example\r\n',
  'two hosts, one of them empty': 'Host:\r\nHost: a.example\r\n',
  'two hosts in one line': 'Host: a.example, b.example\r\n',
  'a host with a path': 'Host: a.example/path\r\n',
  'a host with a user': 'Host: user@a.example\r\n',
  'a port that is none': 'Host: a.example:x\r\n',
}))
  for (const version of ['1.1', '1.0'])
    refused(`HTTP/${version} with ${what}`, `GET /healthz HTTP/${version}\r\n${lines}\r\n`, UNREADABLE)

for (const host of ['', 'localhost', 'a_b.example:80', '127.0.0.1:', '[::1]:3000', 'xn--bcher-kva.example'])
  test(`the host "${host}" is one`, async () => {
    const line = 'GET /healthz HTTP/1.1\r\n'
    assert.is((await rawRequest(mailhorn.baseUrl, `${line}Host: ${host}\r\n\r\n`)).status, 200)
  })
test('a connection on which a request had two hosts is closed behind the reply', async () => {
  const hosts = 'Host: a.example\r\nHost: b.example\r\n'
  const { status, headers } = await rawRequest(mailhorn.baseUrl, `GET /healthz HTTP/1.1\r\n${hosts}\r\n`)
  assert.equal([status, headers.get('connection')], [400, 'close'])
})

refused('a header of 20 KB', request('GET /healthz HTTP/1.1', `X: ${'a'.repeat(20_000)}\r\n`), {
  status: 431,
  name: 'validation_error',
})
refused(
  'a header of a megabyte',
  request('GET /healthz HTTP/1.1', `Authorization: Bearer ${'a'.repeat(MIB)}\r\n`),
  { status: 431, name: 'validation_error' },
)
refused('a path of 20 KB', request(`GET /${'a'.repeat(20_000)} HTTP/1.1`), {
  status: 431,
  name: 'validation_error',
})

for (const target of [
  '*',
  '/%',
  '/%zz',
  '/%00',
  '/%E0%A4%A',
  '/\\healthz',
  '/emails/../healthz',
  '/emails/%2e%2e/healthz',
  '/healthz%2f',
  '/;/healthz',
  '//mailhorn.test//',
  'http://[x/healthz',
  'http://a:b:c/healthz',
  'http:///',
  'ftp://',
  'http://a:99999/nowhere',
  `/${'a/'.repeat(2_000)}`,
])
  refused(`the target ${target.slice(0, 30)}`, request(`GET ${target} HTTP/1.1`), UNKNOWN)

refused('CONNECT to elsewhere', request('CONNECT evil.example:25 HTTP/1.1'), UNREADABLE)

for (const id of ['%00', '%E0%A4%A', '%', 'a%2Fb', "' or 1=1 --", '%F0%9F%98%80', 'x'.repeat(5_000)].map(
  text => text.replaceAll(' ', '%20'),
))
  test(`the id ${id.slice(0, 12)} is unknown`, async () => {
    const reply = await rawRequest(mailhorn.baseUrl, request(`GET /emails/${id} HTTP/1.1`, auth()))
    assertRefusal(reply, UNKNOWN)
  })

for (const target of ['http://elsewhere.example/healthz', 'HTTPS://elsewhere.example:8443/healthz?x=1#y'])
  test(`a target with its host, as proxies send it: ${target}`, async () => {
    const { status, body } = await rawRequest(mailhorn.baseUrl, request(`GET ${target} HTTP/1.1`))
    assert.equal([status, body], [200, { status: 'ok' }])
  })

for (const path of ['//healthz', '/healthz/', '///healthz//', '/healthz?x=1', '/healthz/?x=%', '/healthz#x'])
  test(`${path} is /healthz`, async () => {
    const { status, body } = await rawRequest(mailhorn.baseUrl, request(`GET ${path} HTTP/1.1`))
    assert.equal([status, body], [200, { status: 'ok' }])
  })

test('//emails/ is /emails', async () => {
  const answer = await mailhorn.call('POST', '//emails/', { key: mailhorn.apiKey, body: {} })
  assertRefusal(answer, { status: 422, name: 'missing_required_field', path: 'from' })
})

test('HTTP/1.0 without a host is served', async () => {
  const { status } = await rawRequest(mailhorn.baseUrl, 'GET /healthz HTTP/1.0\r\n\r\n')
  assert.is(status, 200)
})

test('a wish to upgrade is passed over', async () => {
  const wish = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n'
  assert.is((await rawRequest(mailhorn.baseUrl, request('GET /healthz HTTP/1.1', wish))).status, 200)
})

test('a client that waits for 100 Continue gets it, and its answer', async () => {
  const wait = `Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n${auth()}`
  const reply = await rawRequest(mailhorn.baseUrl, [request('POST /emails HTTP/1.1', wait), '{}'])
  assertRefusal(reply, { status: 422, name: 'missing_required_field', path: 'from' })
})

test('another expectation is passed over or refused, but answered in the API’s shape', async () => {
  const hope = 'Expect: nonsense\r\nContent-Length: 2\r\nContent-Type: application/json\r\n'
  const reply = await rawRequest(mailhorn.baseUrl, [request('POST /emails HTTP/1.1', hope), '{}'])
  assertRefusal(reply, { status: 401, name: 'missing_api_key' })
})

test('HEAD is GET without its body', async () => {
  for (const [path, status] of [
    ['/healthz', 200],
    ['/nowhere', 404],
    ['/auth/login', 405],
    ['/emails', 401],
    ['/domains', 401],
  ] as const) {
    const reply = await rawRequest(mailhorn.baseUrl, request(`HEAD ${path} HTTP/1.1`), { head: true })
    assert.is(reply.status, status, path)
    assert.is(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  }
})

for (const method of ['OPTIONS', 'PUT', 'TRACE', 'PROPFIND', 'DELETE', 'PATCH'])
  test(`${method} of /emails is refused with what it takes`, async () => {
    const reply = await rawRequest(mailhorn.baseUrl, request(`${method} /emails HTTP/1.1`))
    assertRefusal(reply, { status: 405, name: 'method_not_allowed' })
    assert.match(reply.headers.get('allow') ?? '', /\bPOST\b/)
  })

test('two requests in one packet get two answers, in their order', async () => {
  const both = request('GET /nowhere HTTP/1.1') + request('GET /healthz HTTP/1.1')
  const { replies } = await exchange(mailhorn.baseUrl, both, { replyCount: 2 })
  assert.equal(
    replies.map(({ status }) => status),
    [404, 200],
  )
})

for (const [what, line, length, status] of [
  ['refused for its credential', 'POST /domains HTTP/1.1', 500_000, 401],
  ['refused for its size', 'POST /auth/login HTTP/1.1', 2 * MIB, 413],
  ['to nowhere', 'POST /nowhere HTTP/1.1', 500_000, 404],
] as const)
  test(`the body of a request ${what} is not read as the next request`, async () => {
    const smuggled = request('GET /healthz HTTP/1.1')
      .repeat(1 + length / 40)
      .slice(0, length)
    const first = request(line, `Content-Type: application/json\r\nContent-Length: ${length}\r\n`)
    const pieces = [first, smuggled, request('GET /readyz HTTP/1.1')]
    const { replies, closed } = await exchange(mailhorn.baseUrl, pieces, { replyCount: 2 })
    assert.is(replies[0]?.status, status)
    if (!closed) assert.is(replies[1]?.text, '{"status":"ready","mode":"normal"}')
    await serves()
  })

test('a body without end is not read without end', async () => {
  const chunk = `100000\r\n${'x'.repeat(MIB)}\r\n`
  const head = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'
  const pieces = [request('POST /auth/login HTTP/1.1', head), ...Array<string>(80).fill(chunk)]
  const { closed, replies } = await exchange(mailhorn.baseUrl, pieces, { replyCount: 2 })
  assert.ok(closed)
  assert.equal(
    replies.map(({ status }) => status),
    [413],
  )
  await serves()
})

for (const [what, line, status] of [
  ['refused for its size', 'POST /auth/login HTTP/1.1', 413],
  ['to nowhere', 'POST /nowhere HTTP/1.1', 404],
  ['refused for its credential', 'POST /contacts/imports HTTP/1.1', 401],
] as const)
  test(`a client that sends 24 MiB before it looks for a reply finds it: ${what}`, async () => {
    const length = 24 * MIB
    const head = `${auth()}Content-Type: application/json\r\nContent-Length: ${length}\r\n`
    const pieces = [request(line, head), ...Array<Buffer>(24).fill(Buffer.alloc(MIB, ' '))]
    pieces.push(request('GET /readyz HTTP/1.1'))
    const { replies } = await exchange(mailhorn.baseUrl, pieces, { replyCount: 2, writesFirst: true })
    assert.equal(
      replies.map(reply => reply.status),
      [status, 200],
    )
  })

test('a client that leaves in the middle of its body harms nobody', async () => {
  const leaving = request(
    'POST /emails HTTP/1.1',
    `${auth()}Content-Type: application/json\r\nContent-Length: 99\r\n`,
  )
  for (let i = 0; i < 20; i++) await exchange(mailhorn.baseUrl, [leaving, '{"from":'], { replyCount: 0 })
  await serves()
  assert.equal(mailhorn.rows('select id from emails'), [])
})

test('a credential of 12 KB is unknown like any other', async () => {
  for (const token of ['x'.repeat(12_000), `phs_${'x'.repeat(12_000)}`]) {
    const { status } = await mailhorn.call('GET', '/domains', { session: token })
    assert.is(status, 401)
  }
})

test.run()
