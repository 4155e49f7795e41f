import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Socket } from 'node:net'
import Koa from 'koa'
import * as assert from 'uvu/assert'
import type { ReceivedRequest } from '../../../../../src/interfaces/api/server/received-request.ts'
import { WAITING_MAX } from '../../../../../src/interfaces/api/server/request-feed.ts'
import { startHttpServer } from '../../../../../src/interfaces/api/server/server.ts'
import { heldCertificate } from '../../../../../src/lib/certificates.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { exchange, rawRequest } from '../../../../kit/raw-http.ts'
import { connectionsAre, pass, type SlowClient, slowClient } from '../../../../kit/slow-clients.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { testCertificate } from '../../../../kit/tls.ts'
import { until } from '../../../../kit/until.ts'

const test = suite('http: what one connection can make the service hold')

const GET = 'GET /next HTTP/1.1\r\nhost: x\r\n\r\n'
const HELD = 'GET /held HTTP/1.1\r\nhost: x\r\n\r\n'
const STREAM = 'GET /stream HTTP/1.1\r\nhost: x\r\n\r\n'
const CHUNKED = 'POST /body HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
const chunk = (text: string, extension = '') => `${text.length.toString(16)}${extension}\r\n${text}\r\n`
const chunks = (text: string, count: number, extension = '') =>
  chunk(text, extension).repeat(count) + chunk('')

type Opened = Awaited<ReturnType<typeof open>>

/** A listener whose replies wait until they are let go, with counts of what it was given. */
async function open(t: TestContext, isSecure = false) {
  const app = new Koa()
  app.silent = true
  const held = Promise.withResolvers<void>()
  /** Pieces that a reader of bodies got. */
  const pieces: number[] = []
  app.use(async ctx => {
    if (ctx.path === '/held') await held.promise
    if (ctx.path === '/stream') {
      ctx.respond = false
      ctx.set({ 'content-type': 'text/event-stream', connection: 'close' })
      ctx.res.statusCode = 200
      ctx.res.write(':\n\n')
      await held.promise
      ctx.res.end()
      return
    }
    let size = 0
    ctx.req.on('data', (piece: Buffer) => {
      pieces.push(piece.length)
      size += piece.length
    })
    if (!ctx.req.readableEnded) await once(ctx.req, 'end')
    ctx.body = { size }
  })
  const requests: ReceivedRequest[] = []
  const count = (message: unknown) => void requests.push((message as { request: ReceivedRequest }).request)
  subscribe('http.server.request.start', count)
  t.after(() => unsubscribe('http.server.request.start', count))
  const clock = createManualClock()
  const certificates = isSecure ? heldCertificate(testCertificate('good')) : undefined
  const server = await startHttpServer(app, { host: '127.0.0.1', port: 0, clock }, certificates)
  t.after(() => server.close(0))
  t.after(() => held.resolve())
  const { port } = server.address()
  return {
    ...{ server, clock, port, pieces },
    url: `http://127.0.0.1:${port}`,
    letGo: held.resolve,
    /** Requests whose heads were parsed, on all connections. */
    parsedCount: () => requests.length,
    lastRequest: () => requests.at(-1),
    /** Chunks of all bodies that were parsed. */
    pieceCount: () => requests.reduce((sum, request) => sum + request.pieceCount, 0),
  }
}

/** Resolves when everything that a client has sent so far has had time to be read. */
async function turns(count = 50) {
  for (let i = 0; i < count; i++) await new Promise(setImmediate)
}

const statusesIn = (client: SlowClient) =>
  [...client.received().matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

/** Opens connections of one network, and resolves when the server has accepted all. */
async function openCrowd(t: TestContext, { port, server }: Opened, count: number): Promise<SlowClient[]> {
  const clients = await Promise.all(
    Array.from({ length: count }, () => slowClient(t, { port, from: '127.0.3.1' })),
  )
  await connectionsAre(server, count)
  return clients
}

/** Connections of one network whose chunked bodies have begun. */
async function crowd(t: TestContext, port: number, count: number): Promise<SlowClient[]> {
  const clients = await Promise.all(
    Array.from({ length: count }, () => slowClient(t, { port, from: '127.0.3.1' })),
  )
  for (const client of clients) await client.send(CHUNKED + chunk('x'))
  await turns()
  return clients
}

for (const [what, request] of Object.entries({
  'without bodies': GET,
  'of the shortest form': 'GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n',
  'with blank lines between them': `\r\n\r\n\r\n${GET}`,
  'with bodies that look like requests': `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${2 * GET.length}\r\n\r\n${GET}${GET}`,
  'with bodies in chunks': CHUNKED + chunks(GET, 2),
}))
  test(`pipelined requests ${what}: 16 wait, the others are not read, and all are answered`, async t => {
    const { port, letGo, parsedCount } = await open(t)
    const count = 10 * WAITING_MAX * 10
    const client = await slowClient(t, { port })
    void client.send(HELD + request.repeat(count))
    await until(() => parsedCount() > WAITING_MAX)
    await turns()
    assert.is(parsedCount(), 1 + WAITING_MAX)
    letGo()
    await until(() => statusesIn(client).length === 1 + count)
    assert.ok(statusesIn(client).every(status => status === 200))
  })

test('pipelined requests: the limit holds for each of many connections', async t => {
  const { port, parsedCount, letGo } = await open(t)
  for (let i = 0; i < 20; i++) {
    const client = await slowClient(t, { port })
    void client.send(HELD + GET.repeat(2_000))
  }
  await until(() => parsedCount() >= 20 * (1 + WAITING_MAX))
  await turns()
  assert.is(parsedCount(), 20 * (1 + WAITING_MAX))
  letGo()
})

test('pipelined requests: a client that closes its side gets all replies', async t => {
  const { url, letGo, parsedCount } = await open(t)
  const count = 5 * WAITING_MAX
  const answers = exchange(url, HELD + GET.repeat(count), { replyCount: 1 + count, endsEarly: true })
  await until(() => parsedCount() > WAITING_MAX)
  letGo()
  const { replies } = await answers
  assert.is(replies.length, 1 + count)
})

test('pipelined requests: a client that goes away leaves nothing', async t => {
  const { server, port, parsedCount, letGo } = await open(t)
  const client = await slowClient(t, { port })
  void client.send(HELD + GET.repeat(2_000))
  await until(() => parsedCount() > WAITING_MAX)
  client.socket.resetAndDestroy()
  // nothing is read, so the end of the connection is seen when the reply is written
  letGo()
  await connectionsAre(server, 0)
  assert.ok(parsedCount() <= 1 + 2 * WAITING_MAX)
})

test('pipelined requests: what cannot be read behind them is refused in its turn', async t => {
  const { port, letGo } = await open(t)
  const client = await slowClient(t, { port })
  void client.send(`${HELD + GET.repeat(40)}nonsense\r\n\r\n${GET.repeat(40)}`)
  await turns()
  letGo()
  await until(client.hasEnd)
  assert.equal(statusesIn(client), [...Array(41).fill(200), 400])
})

test('pipelined requests: one waits behind a stream of events at most', async t => {
  const { port, parsedCount, letGo } = await open(t)
  const client = await slowClient(t, { port })
  await client.send(STREAM)
  await until(() => client.received().includes(':\n\n'))
  for (let i = 0; i < 10; i++) {
    void client.send(GET.repeat(100))
    await turns(5)
  }
  assert.is(parsedCount(), 2)
  letGo()
  await until(client.hasEnd)
  assert.equal(statusesIn(client), [200])
})

for (const [what, body] of Object.entries({
  'of one byte': chunks('x', 16_000),
  'of one byte that are a few too many': chunks('x', 1_001),
  'of two bytes': chunks('xy', 16_000),
  'of 60 bytes': chunks('x'.repeat(60), 16_000),
  'of one byte with an extension each': chunks('x', 16_000, `;a=${'b'.repeat(40)}`),
  'of one byte after a large one': chunk('x'.repeat(500)) + chunks('x', 16_000),
}))
  test(`chunks ${what}: the body is refused, and its pieces are not handed on one by one`, async t => {
    const { url, port, pieces, server } = await open(t)
    const client = await slowClient(t, { port })
    void client.send(CHUNKED + body)
    await until(client.hasEnd)
    assert.match(client.received(), /^HTTP\/1\.1 400 .*"name":"validation_error".*too many small pieces/s)
    assert.ok(pieces.length < 100, `${pieces.length} pieces`)
    client.socket.destroy()
    await connectionsAre(server, 0)
    assert.is((await rawRequest(url, GET)).status, 200)
  })

for (const [what, first, rest] of [
  ['with a length', 'POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhello', 'hello'],
  ['in chunks', CHUNKED + chunk('hello'), chunk('hello') + chunk('')],
  ['of a new request', '', CHUNKED + chunk('hello') + chunk('')],
] as const)
  test(`chunks of one byte on 200 connections: a body ${what} of another network does not wait behind them`, async t => {
    const { port } = await open(t)
    const honest = await slowClient(t, { port, from: '127.0.2.1' })
    await honest.send(first)
    const hostile = await crowd(t, port, 200)
    let refusedCount = -1
    honest.socket.once('data', () => {
      refusedCount = hostile.filter(client => client.received() !== '').length
    })
    for (const client of hostile) void client.send(chunks('x', 10_000))
    await honest.send(rest)
    await until(() => refusedCount >= 0)
    assert.equal(statusesIn(honest), [200])
    assert.ok(refusedCount < 20, `${refusedCount} of 200 were handled before`)
    for (const client of hostile) client.socket.destroy()
  })

test('chunks of one byte on many connections: some 400 are handled in a turn of the event loop', async t => {
  const { port, pieceCount } = await open(t)
  const clients = await crowd(t, port, 50)
  for (const client of clients) void client.send(chunks('x', 10_000))
  let limit = 0
  for (let before = pieceCount(); clients.some(client => !client.hasEnd()); ) {
    await new Promise(setImmediate)
    limit = Math.max(limit, pieceCount() - before)
    before = pieceCount()
  }
  assert.ok(limit > 200 && limit < 1_500, `${limit} in one turn`)
})

test('new requests on many connections: a hundred begin in a turn of the event loop, and all are answered', async t => {
  const opened = await open(t)
  const { parsedCount } = opened
  const clients = await openCrowd(t, opened, 500)
  for (const client of clients) void client.send(GET)
  let highest = 0
  for (let before = 0; before < clients.length; ) {
    await new Promise(setImmediate)
    highest = Math.max(highest, parsedCount() - before)
    before = parsedCount()
  }
  assert.ok(highest > 20 && highest <= 200, `${highest} in one turn`)
  await until(() => clients.every(client => statusesIn(client)[0] === 200))
})

test('new requests on 500 connections: one of another network does not wait behind them', async t => {
  const opened = await open(t)
  const clients = await openCrowd(t, opened, 500)
  const honest = await slowClient(t, { port: opened.port, from: '127.0.2.1' })
  await connectionsAre(opened.server, 501)
  let answeredCount = -1
  honest.socket.once('data', () => {
    answeredCount = clients.filter(client => client.received() !== '').length
  })
  for (const client of clients) void client.send(GET)
  await honest.send(GET)
  await until(() => answeredCount >= 0)
  assert.equal(statusesIn(honest), [200])
  assert.ok(answeredCount < 400, `${answeredCount} of 500 were answered before`)
})

test('chunks of one byte: a connection that waits costs nothing in the turns of others', async t => {
  const { port } = await open(t)
  const clients = await crowd(t, port, 100)
  const { unshift } = Socket.prototype
  t.after(() => {
    Socket.prototype.unshift = unshift
  })
  let count = 0
  Socket.prototype.unshift = function (...args) {
    count++
    return unshift.apply(this, args)
  }
  for (const client of clients) void client.send(chunks('x', 10_000))
  await until(() => clients.every(client => client.hasEnd()))
  assert.ok(clients.every(client => statusesIn(client)[0] === 400))
  assert.ok(count < 6 * clients.length, `bytes were put back ${count} times`)
})

for (const [what, path, waits] of [
  ['that waits for its turn', '/body', true],
  ['that nobody reads', '/held', false],
] as const)
  test(`chunks of one byte in a body ${what} are refused, too`, async t => {
    const { port, letGo } = await open(t)
    const client = await slowClient(t, { port })
    void client.send((waits ? HELD : '') + CHUNKED.replace('/body', path) + chunks('x', 16_000))
    await turns()
    letGo()
    await until(client.hasEnd)
    assert.equal(statusesIn(client), waits ? [200, 400] : [400])
  })

for (const [what, start, piece] of [
  ['header section', 'GET / HTTP/1.1\r\nhost: x\r\nx: ', 'x'],
  ['body with a length', 'POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 9000\r\n\r\n', 'x'],
  ['extension of a chunk', `${CHUNKED}5;x=`, 'x'],
  ['trailer', `${CHUNKED}5\r\nhello\r\n0\r\nx: `, 'x'],
  ['series of blank lines', '', '\r\n'],
  ['second header section', `${GET}GET / HTTP/1.1\r\nhost: x\r\nx: `, 'x'],
] as const)
  test(`reads of ${piece.length} bytes: a ${what} is refused`, async t => {
    const { port } = await open(t)
    const client = await slowClient(t, { port })
    client.socket.setNoDelay(true)
    if (start !== '') await client.send(start)
    for (let sent = 0; sent < 8_000 && !client.hasEnd(); sent++) {
      await client.send(piece)
      await new Promise(setImmediate)
    }
    assert.ok(client.hasEnd())
    assert.is(statusesIn(client).at(-1), 400)
  })

for (const [what, pieces, size] of [
  ['a body of 16 KB in segments of 1,460 bytes', segments(16_384, 1_460), 16_384],
  ['a body of 16 KB in segments of 536 bytes', segments(16_384, 536), 16_384],
  ['a JSON text in 800 chunks of a few bytes', [CHUNKED, chunks('"key":', 800)], 4_800],
  ['a body of 1,000 chunks of one byte', [CHUNKED, chunks('x', 1_000)], 1_000],
  ['an upload of 4,000 chunks of 100 bytes', [CHUNKED, chunks('x'.repeat(100), 4_000)], 400_000],
  ['an upload of 64 chunks of 16 KB', [CHUNKED, chunks('x'.repeat(16_384), 64)], 1_048_576],
] as const)
  test(`honest clients: ${what} is read in full`, async t => {
    const { url } = await open(t)
    const { status, body } = await rawRequest(url, pieces)
    assert.equal([status, body], [200, { size }])
  })

for (const [what, request, status] of [
  ['a header section of 160 KB', `GET / HTTP/1.1\r\nhost: x\r\n${'x: y\r\n'.repeat(27_000)}\r\n`, 431],
  ['extensions of a chunk of 160 KB', CHUNKED + chunk('x', `;${'x'.repeat(160_000)}`) + chunk(''), 400],
  ['trailer fields of 160 KB', `${CHUNKED}1\r\nx\r\n0\r\n${'x: y\r\n'.repeat(27_000)}\r\n`, 431],
] as const)
  test(`framing: ${what} is refused`, async t => {
    const { port } = await open(t)
    const client = await slowClient(t, { port })
    void client.send(request)
    await until(client.hasEnd)
    assert.equal(statusesIn(client), [status])
  })

test('a body that nobody reads: the connection is not read either', async t => {
  const { port, lastRequest, letGo } = await open(t)
  const client = await slowClient(t, { port })
  void client.send(
    `POST /held HTTP/1.1\r\nhost: x\r\ncontent-length: 1600000\r\n\r\n${'x'.repeat(1_600_000)}`,
  )
  await until(() => lastRequest() && lastRequest()!.contentBytes >= 16_384)
  await turns()
  const { contentBytes } = lastRequest()!
  assert.ok(contentBytes <= (16 + 64 + 64) * 1_024, `${contentBytes} bytes are held`)
  letGo()
  await until(() => statusesIn(client).length === 1)
})

function segments(bytes: number, size: number): string[] {
  const head = `POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`
  const text = head + 'x'.repeat(bytes)
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  )
}

test('minimum rate: the framing of chunks does not count', async t => {
  const { port, clock } = await open(t)
  const client = await slowClient(t, { port })
  await client.send(CHUNKED)
  await pass(clock, 24_000, () => client.send(chunk('x', `;a=${'b'.repeat(4_000)}`)))
  assert.match(client.received(), /^HTTP\/1\.1 408 /)
})

test('keep-alive: a connection that is silent after a slow body is not taken for half a request', async t => {
  const { port, clock } = await open(t)
  const client = await slowClient(t, { port })
  await client.send('POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\n\r\n')
  await pass(clock, 6_000, () => client.send('x'.repeat(20_000)))
  await until(() => statusesIn(client).length === 1)
  await pass(clock, 20_000)
  assert.equal(statusesIn(client), [200])
  assert.not(client.hasEnd())
})

test('TLS: the limits are the same', async t => {
  const { port, parsedCount, letGo } = await open(t, true)
  const { connect: connectSecurely } = await import('node:tls')
  const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  let received = ''
  socket.setEncoding('latin1').on('data', text => {
    received += text
  })
  socket.write(HELD + GET.repeat(2_000))
  await until(() => parsedCount() > WAITING_MAX)
  await turns()
  assert.is(parsedCount(), 1 + WAITING_MAX)
  letGo()
  await until(() => received.split('HTTP/1.1 200').length === 2_002)
  socket.write(CHUNKED + chunks('x', 16_000))
  await until(() => received.includes('HTTP/1.1 400'))
})

test.run()
