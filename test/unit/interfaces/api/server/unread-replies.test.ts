import { once } from 'node:events'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import Koa from 'koa'
import * as assert from 'uvu/assert'
import type { ClientConnection } from '../../../../../src/interfaces/api/server/connections.ts'
import { startHttpServer } from '../../../../../src/interfaces/api/server/server.ts'
import { sendLongReplies } from '../../../../../src/interfaces/api/server/stream.ts'
import { UnreadReplies } from '../../../../../src/interfaces/api/server/unread-replies.ts'
import { heldCertificate } from '../../../../../src/lib/certificates.ts'
import { createLog } from '../../../../../src/lib/log.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { connectionsAre } from '../../../../kit/slow-clients.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { testCertificate } from '../../../../kit/tls.ts'
import { until } from '../../../../kit/until.ts'

const test = suite('http: replies that nobody reads')
const MIB = 1024 * 1024
/** More than the kernel holds for a connection. */
const BODY_MIB = 16
/** The high-water mark of the runtime, and a piece that exceeds it. */
const HELD_BYTES_MAX = 80 * 1024
const ATTACKER = '127.0.0.4'
const OTHER = '127.0.0.5'
/** Characters of one to four bytes, so that pieces end at each kind of place. */
const TEXT = 'aé漢𐍈'.repeat(Math.ceil((BODY_MIB * MIB) / 10))
const BODIES: Record<string, string | Buffer> = { '/text': TEXT, '/bytes': Buffer.from(TEXT) }

/** An HTTPS server with long replies, and the sockets of its requests. */
async function open(t: TestContext, boundBytes = 1024 * MIB) {
  const clock = createManualClock()
  const app = new Koa()
  app.silent = true
  const sockets: Socket[] = []
  app.use(sendLongReplies(new UnreadReplies(boundBytes, clock), { clock, log: createLog('fatal') }))
  app.use(ctx => {
    sockets.push(ctx.req.socket)
    ctx.body = BODIES[ctx.path]
  })
  const options = { host: '127.0.0.1', port: 0, clock }
  const server = await startHttpServer(app, options, heldCertificate(testCertificate('good')))
  t.after(() => server.close(0))
  const { port } = server.address()
  /** Asks for a reply, and reads nothing of it. */
  const ask = async (localAddress: string, path: string) => {
    const count = sockets.length
    const options: ConnectionOptions & { localAddress: string } = { host: '127.0.0.1', port, localAddress }
    const socket = connect({ ...options, rejectUnauthorized: false })
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    await until(() => sockets.length > count && sockets.at(-1)!.writableLength > 0)
    return socket
  }
  return { server, sockets, ask, clock }
}

async function bodyOf(socket: TLSSocket): Promise<string> {
  const reply = await text(socket)
  return reply.slice(reply.indexOf('\r\n\r\n') + 4)
}

for (const path of Object.keys(BODIES))
  test(`a connection holds a few pieces of ${path}, and gets the rest when it reads`, async t => {
    const { sockets, ask } = await open(t)
    const clients = []
    for (let i = 0; i < 6; i++) clients.push(await ask(ATTACKER, path))
    for (const socket of sockets)
      assert.ok(socket.writableLength <= HELD_BYTES_MAX, `${socket.writableLength} bytes are held`)
    assert.is(await bodyOf(clients[0]!), TEXT)
    assert.is(await bodyOf(clients[5]!), TEXT)
  })

test('beyond four times the bound, the network with the most bytes loses the reply that moved least', async t => {
  const { server, ask, clock } = await open(t, (3.5 * BODY_MIB * MIB) / 4)
  const other = await ask(OTHER, '/bytes')
  clock.advance(1_000)
  const first = await ask(ATTACKER, '/bytes')
  clock.advance(1_000)
  const second = await ask(ATTACKER, '/bytes')
  await connectionsAre(server, 3)
  const third = await ask(ATTACKER, '/bytes')
  await connectionsAre(server, 3)
  first.resume()
  await once(first, 'close')
  assert.is(await bodyOf(other), TEXT)
  assert.is(await bodyOf(second), TEXT)
  assert.is(await bodyOf(third), TEXT)
})

/** Replies of 10 bytes with a bound of 25, and the names of those that were closed. */
function counted() {
  const clock = createManualClock()
  const replies = new UnreadReplies(25, clock)
  const closed: string[] = []
  const networkOf = (isTrusted: boolean) => ({ isTrusted, unreadBytes: 0 })
  const networks = { attacker: networkOf(false), other: networkOf(false), proxy: networkOf(true) }
  const add = (name: string, network: keyof typeof networks) => {
    const connection = { network: networks[network], destroy: () => void closed.push(name) }
    return replies.add(connection as unknown as ClientConnection, 10)
  }
  return { clock, replies, closed, add }
}

test('beyond the bound, a reply is kept while its client goes on reading', () => {
  const { clock, replies, closed, add } = counted()
  const reading = add('reading', 'attacker')
  add('stalled', 'other')
  clock.advance(9_999)
  replies.progressed(reading)
  add('third', 'attacker')
  assert.equal(closed, [], 'nothing has stalled yet')
  clock.advance(1)
  add('fourth', 'attacker')
  assert.equal(closed, ['stalled'], 'although its network has less')
})

test('of stalled replies, those of the network with the most bytes are closed until the bound is kept', () => {
  const { clock, closed, add } = counted()
  add('other', 'other')
  for (const name of ['first', 'second', 'third']) {
    clock.advance(1_000)
    add(name, 'attacker')
  }
  clock.advance(10_000)
  add('newest', 'proxy')
  assert.equal(closed, ['first', 'second', 'other'])
})

test('beyond four times the bound, replies are closed although their clients go on reading', () => {
  const { closed, add } = counted()
  for (let i = 0; i < 10; i++) add(`reply ${i}`, 'attacker')
  assert.equal(closed, [])
  add('newest', 'other')
  assert.equal(closed, ['reply 0'])
})

test('a reply that has been read no longer counts', () => {
  const { replies, closed, clock, add } = counted()
  add('held', 'other')
  clock.advance(10_000)
  for (let i = 0; i < 20; i++) replies.remove(add('read', 'other'))
  assert.equal(closed, [])
})

test.run()
