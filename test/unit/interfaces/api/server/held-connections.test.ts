/** Tests that a listener keeps its bounds with ten times as many connections, requests and replies. */
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls'
import Koa from 'koa'
import * as assert from 'uvu/assert'
import { schema } from '../../../../../src/config/schema.ts'
import { Connections } from '../../../../../src/interfaces/api/server/connections.ts'
import { startHttpServer } from '../../../../../src/interfaces/api/server/server.ts'
import { heldCertificate } from '../../../../../src/lib/certificates.ts'
import { flood, HALF_HELLO, scattered } from '../../../../kit/flood.ts'
import { createManualClock, settled } from '../../../../kit/manual-clock.ts'
import { connectionsAre, pass, slowClient } from '../../../../kit/slow-clients.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { testCertificate } from '../../../../kit/tls.ts'
import { until } from '../../../../kit/until.ts'

const test = suite('http: ten times the connections')
const CONNECTIONS_MAX = 40
const MIB = 1024 * 1024

async function open(t: TestContext, isSecure = false) {
  const clock = createManualClock()
  const app = new Koa()
  app.silent = true
  let begunCount = 0
  app.use(ctx => {
    begunCount++
    ctx.body = Buffer.alloc(32 * MIB)
  })
  const certificates = isSecure ? heldCertificate(testCertificate('good')) : undefined
  const options = { host: '127.0.0.1', port: 0, clock, maxConnections: CONNECTIONS_MAX }
  const server = await startHttpServer(app, options, certificates)
  t.after(() => server.close(0))
  return { clock, server, port: server.address().port, begunCount: () => begunCount }
}

/** Opens ten times as many connections as there is room for. */
async function flooded(t: TestContext, port: number, opening: string | Uint8Array) {
  const { sockets, close } = await flood({
    port,
    count: 10 * CONNECTIONS_MAX,
    from: i => scattered(i, 100),
    opening,
  })
  t.after(close)
  for (const socket of sockets) socket.resume()
  return sockets
}

const isOver = (socket: Socket) => socket.destroyed || socket.readableEnded

for (const [what, opening, isSecure] of [
  ['half a header section', 'GET / HTTP/1.1\r\n', false],
  ['half a TLS handshake', HALF_HELLO, true],
] as const)
  test(`ten times the connections with ${what}: the others are closed, and one timer watches all`, async t => {
    const { server, port, clock } = await open(t, isSecure)
    const sockets = await flooded(t, port, opening)
    await until(() => sockets.filter(isOver).length >= 9 * CONNECTIONS_MAX)
    assert.is(server.connectionCount(), CONNECTIONS_MAX)
    assert.is(clock.timerCount, 1)
  })

test('ten times the connections that are refused and stay open: each has a timer, for two seconds', async t => {
  const { server, port, clock } = await open(t)
  let limit = 0
  const sockets = await flooded(t, port, 'nonsense\r\n\r\n')
  await until(() => {
    limit = Math.max(limit, clock.timerCount)
    return sockets.every(isOver)
  })
  assert.ok(server.connectionCount() <= CONNECTIONS_MAX)
  assert.ok(limit <= CONNECTIONS_MAX + 1, `${limit} timers`)
  await pass(clock, 2_000)
  await connectionsAre(server, 0)
})

/** The hello of a client, as a server receives it. */
async function recordedHello(t: TestContext): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const client = connectSecurely({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  client.on('error', () => {})
  const [accepted] = (await once(server, 'connection')) as [Socket]
  const [hello] = (await once(accepted, 'data')) as [Buffer]
  accepted.destroy()
  return hello
}

test('ten times the TLS handshakes of a client network: a client of another one is served between them', async t => {
  const certificates = heldCertificate(testCertificate('good'))
  const server = await startHttpServer(new Koa(), { host: '127.0.0.1', port: 0 }, certificates)
  t.after(() => server.close(0))
  const { port } = server.address()
  const count = 10 * CONNECTIONS_MAX
  const opening = await recordedHello(t)
  let answered = 0
  const { sockets, close } = await flood({ port, count, from: () => '127.0.0.4', opening })
  t.after(close)
  for (const socket of sockets) socket.once('data', () => answered++)
  const honest = connectSecurely({
    port,
    host: '127.0.0.1',
    localAddress: '127.0.0.5',
    rejectUnauthorized: false,
  } as ConnectionOptions)
  t.after(() => honest.destroy())
  await once(honest, 'secureConnect')
  assert.ok(answered < count / 2, `${answered} came first`)
  await until(() => answered === count)
})

/** A socket that was accepted from this address. */
function accepted(remoteAddress: string): Socket {
  return Object.assign(new EventEmitter(), { remoteAddress, destroy() {} }) as unknown as Socket
}

test('ten times the connections of a client network: 200 are held, and those of others stay', () => {
  const maxPerClient = schema.http.connectionsPerClient.fallback
  const connections = new Connections({ maxConnections: 5_000, maxPerClient, trustedProxies: [] })
  connections.admit(accepted('198.51.100.1'), 0)
  for (let i = 0; i < 2_000; i++) connections.admit(accepted('192.0.2.1'), i)
  assert.is(connections.size, 201)
  for (let i = 0; i < 2_000; i++) connections.admit(accepted(`2001:db8:0:${i % 100}::${i}`), i)
  assert.is(connections.size, 401)
})

test('replies that the peer does not read: of 20 pipelined requests one is answered at a time', async t => {
  const { server, port, begunCount, clock } = await open(t)
  const client = await slowClient(t, { port })
  client.socket.pause()
  await client.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20))
  await until(() => begunCount() > 0)
  for (let i = 0; i < 20; i++) await settled()
  assert.is(begunCount(), 1)
  // 60 s, and 32 MiB at 10 KiB/s
  await pass(clock, 60_000)
  assert.is(server.connectionCount(), 1)
  await pass(clock, 3_300_000)
  await connectionsAre(server, 0)
  assert.is(begunCount(), 1)
})

test.run()
