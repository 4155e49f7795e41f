import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import Koa from 'koa'
import * as assert from 'uvu/assert'
import { readUnreadBodies } from '../../../../../src/interfaces/api/server/lingering-close.ts'
import { startHttpServer } from '../../../../../src/interfaces/api/server/server.ts'
import { createManualClock, type ManualClock } from '../../../../kit/manual-clock.ts'
import { exchange } from '../../../../kit/raw-http.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { until } from '../../../../kit/until.ts'

const test = suite('http/unread-body')
const MIB = 1024 * 1024
const LONG = Buffer.alloc(3 * MIB, 'x')

/** One for the whole body, and one for a client that stalls. */
const TIMERS = 2

const readInPart = async ({ req }: Koa.Context) => {
  await once(req, 'data')
}
const readNothing = async () => {}

/** Handlers that read the body to different degrees before they reply. */
const READERS: Record<string, (ctx: Koa.Context) => Promise<void>> = {
  untouched: readNothing,
  'read in part': readInPart,
  'read in part, and held back': async ({ req }) => {
    await once(req, 'data')
    req.pause()
  },
  'read piece by piece, and left': async ({ req }) => {
    req.on('readable', () => {})
    await once(req, 'readable')
    req.read(1)
  },
}

async function open(t: TestContext, read: (ctx: Koa.Context) => Promise<void>) {
  const clock = createManualClock()
  const app = new Koa()
  app.use(readUnreadBodies(clock))
  let connection: Socket | undefined
  app.use(async ctx => {
    connection = ctx.req.socket
    if (ctx.method === 'POST') await read(ctx)
    ctx.status = ctx.method === 'POST' ? 413 : 200
    ctx.body = 'done'
  })
  const server = await startHttpServer(app, { host: '127.0.0.1', port: 0 })
  t.after(() => server.close(0))
  const { port } = server.address()
  const hasRead = (bytes: number) => until(() => connection!.bytesRead >= bytes)
  return { clock, port, url: `http://127.0.0.1:${port}`, hasRead }
}

for (const [how, read] of Object.entries(READERS))
  test(`lingering close: a body that is ${how} is read to its end, and the next request is answered`, async t => {
    const { url } = await open(t, read)
    const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${LONG.length}\r\n\r\n`
    const pieces = [head, LONG, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n']
    const { replies, closed } = await exchange(url, pieces, { replyCount: 2, writesFirst: true })
    assert.equal(
      replies.map(({ status }) => status),
      [413, 200],
    )
    assert.not(closed)
  })

test('lingering close: a client that stalls gets its reply and loses the connection after 2 s', async t => {
  const { clock, port } = await open(t, readInPart)
  const client = await begin(t, port)
  await client.hasReply()
  await timersAre(clock, TIMERS)
  clock.advance(1_999)
  assert.not(client.isClosed())
  clock.advance(1)
  await client.closes()
})

test('lingering close: a client that goes on sending is read for 30 s, and one that drips only for 2 s', async t => {
  const { clock, port, hasRead } = await open(t, readInPart)
  const lively = await begin(t, port)
  await lively.hasReply()
  for (let second = 0; second < 30; second += 2) {
    assert.not(lively.isClosed(), `after ${second} s`)
    await lively.send(LONG.subarray(0, MIB))
    await hasRead((second / 2 + 1) * MIB)
    await timersAre(clock, TIMERS)
    clock.advance(2_000)
  }
  await lively.closes()
  const dripping = await begin(t, port)
  await dripping.hasReply()
  await timersAre(clock, TIMERS)
  await dripping.send(LONG.subarray(0, 1_000))
  clock.advance(2_000)
  await dripping.closes()
})

test('lingering close: the reply waits 2 s for an unread body', async t => {
  const { clock, port } = await open(t, readNothing)
  const client = await begin(t, port)
  await timersAre(clock, TIMERS)
  assert.is(client.received(), '')
  clock.advance(2_000)
  await client.hasReply()
  await timersAre(clock, TIMERS)
  clock.advance(2_000)
  await client.closes()
})

test('lingering close: an endless body loses the connection after 64 MiB', async t => {
  const { port } = await open(t, readInPart)
  const client = await begin(t, port)
  await client.hasReply()
  let sent = 0
  for (; !client.isClosed() && sent < 640 * MIB; sent += LONG.length) await client.send(LONG)
  assert.ok(sent > 64 * MIB)
  assert.ok(sent < 128 * MIB, `${sent} bytes were read`)
})

test('lingering close: of an endless body that nobody reads, 4 MiB are read away before the reply', async t => {
  const { port } = await open(t, readNothing)
  const client = await begin(t, port)
  let sent = 0
  for (; client.received() === '' && sent < 40 * MIB; sent += MIB) await client.send(LONG.subarray(0, MIB))
  await client.hasReply()
  assert.ok(sent > 4 * MIB && sent < 30 * MIB, `${sent} bytes before the reply`)
})

test('lingering close: a client that disconnects is not waited for', async t => {
  const { clock, port } = await open(t, readInPart)
  const client = await begin(t, port)
  await client.hasReply()
  await timersAre(clock, TIMERS)
  client.leave()
  await timersAre(clock, 0)
})

/** A client that has sent the beginning of a long body. */
async function begin(t: TestContext, port: number) {
  const socket: Socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  let received = ''
  socket.on('data', chunk => {
    received += chunk
  })
  socket.on('error', () => {})
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${1024 * MIB}\r\n\r\nbeginning`)
  return {
    received: () => received,
    isClosed: () => socket.destroyed,
    hasReply: () => until(() => received.startsWith('HTTP/1.1 413 ') && received.endsWith('done')),
    closes: () => until(() => socket.destroyed),
    send: (bytes: Buffer) => new Promise<void>(resolve => socket.write(bytes, () => resolve())),
    leave: () => socket.destroy(),
  }
}

async function timersAre(clock: ManualClock, count: number) {
  await until(() => clock.timerCount === count)
}

test.run()
