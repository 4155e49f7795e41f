import * as assert from 'uvu/assert'
import { openSession } from '../../kit/accounts.ts'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { exchange } from '../../kit/raw-http.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('headers of replies')
let secure: Mailhorn
let plain: Mailhorn
test.before(async () => {
  const port = await freePort()
  secure = await startMailhorn({
    env: { MAILHORN_HTTP_BASE_URL: 'https://mail.example', MAILHORN_HTTP_LISTEN: `127.0.0.1:${port}` },
  })
  secure.baseUrl = `http://127.0.0.1:${port}`
  plain = await startMailhorn()
})
test.after(async () => {
  await secure.close()
  await plain.close()
})

const HSTS = 'strict-transport-security'
const REQUESTS: Record<string, string> = {
  'a reply': 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n',
  'a refusal': 'GET /emails HTTP/1.1\r\nhost: x\r\n\r\n',
  'an unknown path': 'GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n',
  'no Host': 'GET /healthz HTTP/1.1\r\n\r\n',
  'no HTTP': 'hello\r\n\r\n',
}

for (const [what, request] of Object.entries(REQUESTS))
  test(`JSON is kept by nobody, and is nothing else: ${what}`, async () => {
    const { replies } = await exchange(plain.baseUrl, request)
    const { headers } = replies[0]!
    assert.is(headers.get('cache-control'), 'no-store')
    assert.is(headers.get('x-content-type-options'), 'nosniff')
    assert.is(headers.get(HSTS), null)
  })

for (const [what, request] of Object.entries({
  ...REQUESTS,
  'a page': 'GET /dashboard/ HTTP/1.1\r\nhost: x\r\n\r\n',
  'a redirect': 'GET / HTTP/1.1\r\nhost: x\r\naccept: text/html\r\n\r\n',
}))
  test(`where the base URL is https, browsers are told to stay with it: ${what}`, async () => {
    const { replies } = await exchange(secure.baseUrl, request)
    assert.is(replies[0]!.headers.get(HSTS), 'max-age=31536000')
  })

test('what a route says of its reply stays as it says', async () => {
  const session = openSession(plain, 'bearer')
  const page = await fetch(`${plain.baseUrl}/dashboard/`)
  assert.is(page.headers.get('cache-control'), 'no-cache')
  const lists = await plain.call('GET', '/emails', { session })
  assert.is(lists.headers.get('cache-control'), 'no-store')
})

test('a long JSON reply is compressed for clients that accept gzip, and only for them', async () => {
  for (let i = 0; i < 12; i++)
    await plain.send({ from: 'a@here.example', to: 'delivered@simulator.test', subject: `s${i}`, text: 't' })
  const listed = (path: string, encodings: string) =>
    exchange(
      plain.baseUrl,
      `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${plain.apiKey}\r\naccept-encoding: ${encodings}\r\n\r\n`,
    )
  const long = { gzip: await listed('/emails', 'br, gzip'), identity: await listed('/emails', 'gzip;q=0') }
  for (const [encoding, { replies }] of Object.entries(long)) {
    const { headers } = replies[0]!
    assert.is(headers.get('content-encoding'), encoding === 'gzip' ? 'gzip' : null)
    assert.match(headers.get('vary')!, /accept-encoding/i)
  }
  const [compressed, plainText] = [long.gzip, long.identity].map(({ replies }) =>
    Number(replies[0]!.headers.get('content-length')),
  )
  assert.ok(compressed! * 3 < plainText!, `${compressed} of ${plainText} octets`)
  const short = await listed('/emails?limit=1', 'gzip')
  assert.is(short.replies[0]!.headers.get('content-encoding'), null)
  const { body } = await plain.call('GET', '/emails', { key: plain.apiKey })
  assert.is(body.data.length, 12, 'clients read it as before')
})

test.run()
