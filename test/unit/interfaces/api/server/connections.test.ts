import { once } from 'node:events'
import { request as secureRequest } from 'node:https'
import { connect } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import Koa from 'koa'
import * as assert from 'uvu/assert'
import { streamBody } from '../../../../../src/interfaces/api/body/stream.ts'
import { readUnreadBodies } from '../../../../../src/interfaces/api/server/lingering-close.ts'
import { startHttpServer } from '../../../../../src/interfaces/api/server/server.ts'
import { heldCertificate } from '../../../../../src/lib/certificates.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { exchange, rawRequest } from '../../../../kit/raw-http.ts'
import { connectionsAre, pass, slowClient } from '../../../../kit/slow-clients.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { testCertificate } from '../../../../kit/tls.ts'
import { until } from '../../../../kit/until.ts'

const test = suite('http: limits on connections')
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const MIB = 1024 * 1024
const ATTACKER = '127.0.0.4'
const OTHER = '127.0.0.5'
const post = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`

interface Limits {
  maxConnections?: number
  maxPerClient?: number
  trustedProxies?: string[]
}

async function open(t: TestContext, limits: Limits = {}, isSecure = false) {
  const clock = createManualClock()
  const app = new Koa()
  app.silent = true
  const held = Promise.withResolvers<void>()
  t.after(() => held.resolve())
  app.use(readUnreadBodies(clock))
  const begun: string[] = []
  app.use(async ctx => {
    begun.push(ctx.path)
    if (ctx.path === '/held') await held.promise
    if (ctx.path === '/large') ctx.body = Buffer.alloc(32 * MIB, 'x')
    else if (ctx.path === '/refused') {
      await once(ctx.req, 'data')
      ctx.status = 413
      ctx.body = { statusCode: 413 }
    } else {
      let size = 0
      for await (const piece of streamBody(ctx.req, 64 * MIB)) size += piece.length
      ctx.body = { size }
    }
  })
  const certificates = isSecure ? heldCertificate(testCertificate('good')) : undefined
  const options = { host: '127.0.0.1', port: 0, clock, headers: { 'x-of-all': 'yes' }, ...limits }
  const server = await startHttpServer(app, options, certificates)
  t.after(() => server.close(0))
  const { port } = server.address()
  const url = `http://127.0.0.1:${port}`
  return { clock, server, port, url, held, begun }
}

async function isServed(url: string, from: string) {
  const { status } = await rawRequest(url, GET, { from })
  assert.is(status, 200)
}

test('pipelined requests: the next one starts after the reply to the previous one', async t => {
  const { url, held, begun } = await open(t)
  const requests = ['/held', '/second', '/third'].map(path => GET.replace('/ ', `${path} `))
  const answers = exchange(url, requests.join(''), { replyCount: 3 })
  await until(() => begun.length > 0)
  await isServed(url, OTHER)
  assert.equal(begun, ['/held', '/'])
  held.resolve()
  const { replies } = await answers
  assert.equal(
    replies.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.equal(begun, ['/held', '/', '/second', '/third'])
})

test('silent connection: it is closed after 10 s and its place is free', async t => {
  const { clock, server, port } = await open(t)
  const client = await slowClient(t, { port, staysOpen: true })
  await connectionsAre(server, 1)
  await pass(clock, 8_000)
  assert.not(client.hasEnd())
  await pass(clock, 4_000)
  await until(client.hasEnd)
  await connectionsAre(server, 0)
  assert.is(client.received(), '')
})

for (const [what, bytes, restMs] of [
  ['half a head', 'GET / HTTP/1.1\r\nhost:', 8_000],
  ['half a head behind a request', `${GET}GET / HTTP/1.1\r\n`, 12_000],
] as const)
  test(`${what} that stops is answered 408, and the connection is destroyed 2 s later`, async t => {
    const { clock, server, port } = await open(t)
    const client = await slowClient(t, { port, staysOpen: true })
    await client.send(bytes.slice(0, -5))
    if (bytes.startsWith(GET)) await until(() => client.received().includes('size'))
    await pass(clock, 2_000)
    await client.send(bytes.slice(-5))
    await pass(clock, restMs)
    await until(() => client.received().includes('HTTP/1.1 408 Request Timeout\r\n'))
    await until(client.hasEnd)
    assert.match(client.received(), /\r\nx-of-all: yes\r\n/)
    assert.match(client.received(), /\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n/)
    assert.is(server.connectionCount(), 1)
    await pass(clock, 2_000)
    await connectionsAre(server, 0)
  })

test('header section: one that arrives byte by byte is late, too', async t => {
  const { clock, port } = await open(t)
  const client = await slowClient(t, { port })
  await client.send('GET / HTTP/1.1\r\nx: ')
  await pass(clock, 12_000, () => client.send('x'))
  await until(() => client.received().startsWith('HTTP/1.1 408 '))
})

for (const [what, bytes, status] of [
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['a head that is too long', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n`, 431],
  ['CONNECT', 'CONNECT x:25 HTTP/1.1\r\nhost: x\r\n\r\n', 400],
  ['a chunk that is none', 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 400],
] as const)
  test(`${what} is answered ${status}; a client that keeps sending loses the connection 2 s later`, async t => {
    const { clock, server, port } = await open(t)
    const client = await slowClient(t, { port, staysOpen: true })
    await client.send(bytes)
    await until(client.hasEnd)
    await client.send('more of the same\r\n\r\n'.repeat(1_000))
    assert.match(client.received(), new RegExp(`^HTTP/1.1 ${status} `))
    assert.is(server.connectionCount(), 1)
    await pass(clock, 2_000)
    await connectionsAre(server, 0)
    assert.is(client.received().match(/HTTP\/1\.1 /g)?.length, 1)
  })

test('invalid HTTP after a request: the refusal follows the reply to the request', async t => {
  const { port, held } = await open(t)
  const client = await slowClient(t, { port })
  await client.send('GET /held HTTP/1.1\r\nhost: x\r\n\r\nhello\r\n\r\n')
  held.resolve()
  await until(client.hasEnd)
  assert.equal(client.received().match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 400'])
})

test('body: one that stops is answered 408, and the connection is destroyed 2 s later', async t => {
  const { clock, server, port } = await open(t)
  const client = await slowClient(t, { port, staysOpen: true })
  await client.send(post('/', MIB))
  await client.send(Buffer.alloc(100_000))
  await pass(clock, 10_000)
  assert.is(client.received(), '')
  await pass(clock, 14_000)
  await until(() => client.received().startsWith('HTTP/1.1 408 '))
  await pass(clock, 2_000)
  await connectionsAre(server, 0)
})

test('body: less than 1 KB/s is answered 408, 20 KB/s is read', async t => {
  const { clock, port } = await open(t)
  const slow = await slowClient(t, { port })
  const honest = await slowClient(t, { port })
  await slow.send(post('/', 300_000))
  await honest.send(post('/', 320_000))
  const piece = Buffer.alloc(40_000)
  let sent = 0
  await pass(clock, 16_000, async () => {
    await slow.send('x'.repeat(1_000))
    await honest.send(piece)
    sent += piece.length
  })
  assert.is(sent, 320_000)
  await until(() => honest.received().endsWith(`{"size":${sent}}`))
  await until(() => slow.received().startsWith('HTTP/1.1 408 '))
})

test('body: one that the service does not read is not late', async t => {
  const { clock, port, held } = await open(t)
  const client = await slowClient(t, { port })
  await client.send(post('/held', 10))
  await client.send('12345')
  await pass(clock, 60_000)
  assert.is(client.received(), '')
  held.resolve()
  await client.send('67890')
  await until(() => client.received().endsWith('{"size":10}'))
})

test('refusal during a body: the connection is destroyed 2 s later, also with Connection: close', async t => {
  for (const line of ['', 'connection: close\r\n']) {
    const { clock, server, port } = await open(t)
    const client = await slowClient(t, { port, staysOpen: true })
    await client.send(`POST /refused HTTP/1.1\r\nhost: x\r\n${line}content-length: 1000000\r\n\r\nbeginning`)
    await until(() => client.received().endsWith('{"statusCode":413}'))
    await client.send(Buffer.alloc(100_000))
    assert.is(server.connectionCount(), 1)
    await pass(clock, 2_000)
    await connectionsAre(server, 0)
  }
})

test('too large a body with Connection: close: the client receives the reply', async t => {
  const { url } = await open(t)
  const head = `POST /refused HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${24 * MIB}\r\n\r\n`
  const pieces = [head, ...Array<Buffer>(24).fill(Buffer.alloc(MIB))]
  const { replies, closed } = await exchange(url, pieces, { replyCount: 2, writesFirst: true })
  assert.ok(closed)
  assert.equal(
    replies.map(({ status }) => status),
    [413],
  )
})

test('large reply: a peer that never reads it is disconnected', async t => {
  const { clock, server, port } = await open(t)
  const client = await slowClient(t, { port })
  client.socket.pause()
  await client.send('GET /large HTTP/1.1\r\nhost: x\r\n\r\n')
  await connectionsAre(server, 1)
  // 60 s, and 32 MiB at 10 KiB/s
  await pass(clock, 60_000)
  assert.is(server.connectionCount(), 1)
  await pass(clock, 3_300_000)
  await connectionsAre(server, 0)
})

test('silent connections of one address: the oldest is closed for a new one of any address', async t => {
  const { server, port, url } = await open(t, { maxConnections: 40, maxPerClient: 10 })
  const silent = await Promise.all(Array.from({ length: 60 }, () => slowClient(t, { port, from: ATTACKER })))
  // half of all are those of one address of this machine
  await connectionsAre(server, 20)
  await until(() => silent.filter(client => client.isGone()).length === 40)
  await isServed(url, OTHER)
  await isServed(url, ATTACKER)
})

test('silent connections of many addresses: the oldest of the address with the most is closed', async t => {
  const { server, port, url } = await open(t, { maxConnections: 20 })
  const few = await slowClient(t, { port, from: '127.0.1.1' })
  const crowd = []
  for (let i = 0; i < 10; i++) crowd.push(await slowClient(t, { port, from: ATTACKER }))
  for (let i = 0; i < 9; i++) await slowClient(t, { port, from: `127.0.2.${i + 1}` })
  await connectionsAre(server, 20)
  await isServed(url, OTHER)
  await until(crowd[0]!.isGone)
  assert.equal(
    crowd.map(client => client.isGone()),
    [true, ...Array<boolean>(9).fill(false)],
  )
  assert.not(few.isGone())
})

test('full listener: idle connections are closed after silent ones, busy ones never', async t => {
  const { server, port, held } = await open(t, { maxConnections: 4 })
  const busy = [await slowClient(t, { port }), await slowClient(t, { port, from: OTHER })]
  for (const client of busy) await client.send('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
  const idle = await slowClient(t, { port })
  await idle.send(GET)
  await until(() => idle.received().endsWith('{"size":0}'))
  const silent = await slowClient(t, { port })
  await connectionsAre(server, 4)
  const third = await slowClient(t, { port })
  await until(silent.isGone)
  assert.not(idle.isGone())
  await third.send('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
  const fourth = await slowClient(t, { port })
  await until(idle.isGone)
  await fourth.send('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
  await connectionsAre(server, 4)
  const refused = await slowClient(t, { port })
  await until(refused.isGone)
  held.resolve()
  for (const client of [...busy, third, fourth]) await until(() => client.received().endsWith('{"size":0}'))
})

test('trusted proxies: the limit per client does not apply', async t => {
  const limits = { maxConnections: 20, maxPerClient: 2, trustedProxies: [`${ATTACKER}/32`] }
  const { server, port } = await open(t, limits)
  await Promise.all(Array.from({ length: 20 }, () => slowClient(t, { port, from: ATTACKER })))
  await connectionsAre(server, 20)
})

test('TLS: a handshake that takes over 10 s is closed, and handshakes make room first', async t => {
  const { clock, server, port } = await open(t, { maxConnections: 6 }, true)
  const secured = connectSecurely({ port, rejectUnauthorized: false })
  t.after(() => secured.destroy())
  secured.on('error', () => {})
  await once(secured, 'secureConnect')
  const hello = Buffer.from('160301020001', 'hex')
  const unfinished = []
  for (let i = 0; i < 5; i++) {
    const client = await slowClient(t, { port, staysOpen: true })
    if (i % 2) await client.send(hello)
    unfinished.push(client)
  }
  await connectionsAre(server, 6)
  assert.is(await statusOver(port), 200)
  await until(unfinished[0]!.hasEnd)
  assert.not(secured.destroyed)
  await pass(clock, 8_000)
  assert.not(unfinished[4]!.hasEnd())
  await pass(clock, 4_000)
  await connectionsAre(server, 0)
})

test('TLS: late header sections and bodies are answered 408, and the connection is destroyed', async t => {
  for (const bytes of ['GET / HTTP/1.1\r\n', `${post('/', 1_000)}beginning`]) {
    const { clock, server, port } = await open(t, {}, true)
    const client = connectSecurely({ port, rejectUnauthorized: false, allowHalfOpen: true } as object)
    t.after(() => client.destroy())
    let received = ''
    client.on('data', chunk => {
      received += chunk
    })
    client.on('error', () => {})
    client.write(bytes)
    await once(client, 'secureConnect')
    await connectionsAre(server, 1)
    await pass(clock, 24_000)
    await until(() => received.startsWith('HTTP/1.1 408 '))
    await pass(clock, 2_000)
    await connectionsAre(server, 0)
  }
})

/** Connections that wait for nothing when the service stops, and how each gets there. */
const UNUSED: [string, (port: number, t: TestContext) => Promise<unknown>, boolean][] = [
  ['has sent nothing', (port, t) => slowClient(t, { port, staysOpen: true }), false],
  ['has begun no TLS handshake', (port, t) => slowClient(t, { port, staysOpen: true }), true],
  [
    'is in its TLS handshake',
    async (port, t) =>
      (await slowClient(t, { port, staysOpen: true })).send(Buffer.from('160301020001', 'hex')),
    true,
  ],
  [
    'has sent nothing since its TLS handshake',
    async (port, t) => {
      const client = connectSecurely({ port, rejectUnauthorized: false, allowHalfOpen: true } as object)
      t.after(() => client.destroy())
      client.on('error', () => {})
      await once(client, 'secureConnect')
    },
    true,
  ],
  [
    'has sent what is no HTTP, and was told so',
    async (port, t) => {
      const client = await slowClient(t, { port, staysOpen: true })
      await client.send('NOT HTTP\r\n\r\n')
      await until(() => client.received().startsWith('HTTP/1.1 400 '))
    },
    false,
  ],
]

for (const [state, begin, isSecure] of UNUSED)
  test(`stop: a connection that ${state} is closed before any time passes`, async t => {
    const { server, port } = await open(t, {}, isSecure)
    await begin(port, t)
    await until(() => server.connectionCount() === 1)
    await server.close(30_000)
    await connectionsAre(server, 0)
  })

test('stop: a connection with a request in progress is closed after the reply, or at the end of the time', async t => {
  for (const isAnswered of [true, false]) {
    const { server, port, clock, held, begun } = await open(t)
    const client = await slowClient(t, { port })
    await client.send(GET.replace('/ ', '/held '))
    await until(() => begun.length === 1)
    const closed = server.close(30_000)
    clock.advance(29_999)
    await isRefusedBy(port)
    assert.is(server.connectionCount(), 1)
    if (isAnswered) held.resolve()
    else clock.advance(1)
    await closed
    await until(client.isGone)
    assert.is(/\r\nconnection: close\r\n/i.test(client.received()), isAnswered)
  }
})

test('stop: a request whose header section is arriving is answered', async t => {
  const { server, port, url } = await open(t)
  const client = await slowClient(t, { port })
  await client.send('GET / HT')
  // Its bytes have been read by then.
  await isServed(url, OTHER)
  const closed = server.close(30_000)
  await isRefusedBy(port)
  await client.send('TP/1.1\r\nhost: x\r\n\r\n')
  await closed
  await until(client.isGone)
  assert.match(client.received(), /^HTTP\/1\.1 200 /)
  assert.match(client.received(), /\r\nconnection: close\r\n/i)
})

/** Resolves when the listener takes no new connections, so that what its stop destroys at once is gone. */
async function isRefusedBy(port: number) {
  const socket = connect(port, '127.0.0.1')
  const error = await new Promise<Error>((resolve, reject) =>
    socket.once('error', resolve).once('connect', () => reject(new Error('the connection was taken'))),
  )
  assert.match(error.message, 'ECONNREFUSED')
}

async function statusOver(port: number): Promise<number | undefined> {
  const request = secureRequest({ port, rejectUnauthorized: false, agent: false })
  request.end()
  const [reply] = await once(request, 'response')
  reply.resume()
  await once(reply, 'close')
  return reply.statusCode
}

test.run()
