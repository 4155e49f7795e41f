import * as assert from 'uvu/assert'
import { openSession } from '../../kit/accounts.ts'
import { assertAsDescribed } from '../../kit/contract.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { exchange, type RawReply } from '../../kit/raw-http.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { allRoutes, pathOf, routeAt } from '../../kit/routes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('every path by every method')
const routes = await allRoutes()
const paths = [...new Set(routes.map(route => pathOf(route)))]
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']
const JSON_TYPE = 'Content-Type: application/json\r\n'
const withLength = (text: string) => `${JSON_TYPE}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
const CHUNK = `20000\r\n${' '.repeat(0x2_0000)}\r\n`

/** Header fields and bodies that follow the request line, Host and the credential. */
const ENDS: Record<string, string> = {
  nothing: '\r\n',
  'an empty object': withLength('{}'),
  'half an object': withLength('{"name":'),
  'a list': withLength('[{}]'),
  'a number': withLength('5'),
  __proto__: withLength('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
  '30,000 levels': withLength('['.repeat(30_000)),
  'no UTF-8': `${JSON_TYPE}Content-Length: 4\r\n\r\n\xff\xfe\xfd\xfc`,
  HTML: 'Content-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>{}</p>',
  'a body without a type': 'Content-Length: 2\r\n\r\n{}',
  'compressed bytes': `Content-Encoding: gzip\r\n${JSON_TYPE}Content-Length: 2\r\n\r\n{}`,
}
/** Also sent where it should not be read at all. */
const ANYWHERE = ['nothing', 'half an object']
/** Beyond what most may take. */
const ENDLESS = `${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n${CHUNK.repeat(9)}0\r\n\r\n`

const CREDENTIALS: Record<string, () => string> = {
  nobody: () => '',
  somebody: () => 'Authorization: Bearer re_unknown\r\n',
  'an API key': () => `Authorization: Bearer ${mailhorn.apiKey}\r\n`,
  'a session': () => `Authorization: Bearer ${openSession(mailhorn, 'bearer')}\r\n`,
}

async function ask(method: string, path: string, who: string, end: string): Promise<RawReply> {
  const request = `${method} ${path} HTTP/1.1\r\nHost: mailhorn.test\r\nConnection: close\r\n${who}${end}`
  const bytes = Buffer.from(request, 'latin1')
  const { replies } = await exchange(mailhorn.baseUrl, bytes, { head: method === 'HEAD' })
  assert.is(replies.length, 1, `${method} ${path} answered nothing`)
  return replies[0]!
}

/** Asserts that a reply has the shape of the route or of an error, and is never empty. */
async function assertShape(method: string, path: string, { status, headers, text }: RawReply) {
  assert.ok(status < 500, `${method} ${path}: ${status} ${text}`)
  if (method === 'HEAD') {
    assert.is(text, '')
    assert.ok(Number(headers.get('content-length') ?? 1) > 0)
    return
  }
  assert.is.not(text, '', `${method} ${path}: ${status} and nothing`)
  const isJson = headers.get('content-type') === 'application/json; charset=utf-8'
  const answer = { status, headers, body: isJson ? JSON.parse(text) : text }
  if (status >= 300) assertRefusal(answer, { status, name: answer.body.name })
  await assertAsDescribed(method, path, answer)
}

for (const path of paths) {
  test(`${path}: whoever asks, whatever is sent`, async () => {
    for (const method of METHODS) {
      const isRoute = routeAt(routes, method === 'HEAD' ? 'GET' : method, path) !== undefined
      for (const [who, credential] of Object.entries(CREDENTIALS))
        for (const [what, end] of Object.entries(ENDS)) {
          if (!(isRoute && who === 'a session') && !ANYWHERE.includes(what)) continue
          const reply = await ask(method, path, credential(), end)
          await assertShape(method, path, reply)
          assert.is(reply.status === 405, !isRoute, `${method} ${path}: ${reply.status}`)
        }
    }
    assert.is(({} as Record<string, unknown>).polluted, undefined)
  })

  test(`${path}: a body without a length, beyond every limit but that of sends`, async () => {
    for (const method of METHODS.filter(name => name !== 'HEAD'))
      await assertShape(method, path, await ask(method, path, CREDENTIALS['an API key']!(), ENDLESS))
  })

  test(`${path}: with slashes too many it is the same`, async () => {
    const session = CREDENTIALS['a session']!
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const plain = await ask(method, path, session(), '\r\n')
      for (const other of [`/${path}`, `${path}/`, `//${path.slice(1).replaceAll('/', '//')}//`]) {
        const reply = await ask(method, other, session(), '\r\n')
        assert.is(reply.status, plain.status, `${method} ${other}`)
        await assertShape(method, other, reply)
      }
    }
  })

  test(`${path}: what only looks like it is not there`, async () => {
    for (const other of [
      ...[`${path}/nowhere`, `${path}.json`, `${path}%20`, `${path};x=1`, `/x${path}`, `/api/v1${path}`],
      ...[path.replace(/^\/[a-z]+/, part => part.toUpperCase()), path.replace(/^\/[a-z]/, '/%2f')],
    ]) {
      if (routes.some(route => routeAt([route], route.method, other))) continue
      for (const method of ['GET', 'POST']) {
        const reply = await ask(method, other, CREDENTIALS.nobody!(), '\r\n')
        const answer = { ...reply, body: JSON.parse(reply.text) }
        assertRefusal(answer, { status: 404, name: 'not_found' })
      }
    }
  })
}

test.run()
