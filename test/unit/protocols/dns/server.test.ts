import dgram from 'node:dgram'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import net from 'node:net'
import * as assert from 'uvu/assert'
import { createAdjustableClock } from '../../../../src/lib/adjustable-clock.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { frame, readFrames } from '../../../../src/protocols/dns/frames.ts'
import { createDnsListener } from '../../../../src/protocols/dns/listener.ts'
import { openUdpService } from '../../../../src/protocols/dns/listener-udp.ts'
import { providerRecords } from '../../../../src/protocols/dns/provider-zone.ts'
import { createDnsServer } from '../../../../src/protocols/dns/server.ts'
import { RCODE } from '../../../../src/protocols/dns/wire.ts'
import { decodeMessage } from '../../../../src/protocols/dns/wire-decode.ts'
import { createZone } from '../../../../src/protocols/dns/zone.ts'
import { freePort } from '../../../kit/free-port.ts'
import { byteArrayCount, sendByteByByte } from '../../../kit/held-pieces.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { askServer, exchangeTcp, exchangeUdp, queryPacket } from '../../../kit/zone-client.ts'

const test = suite('dns/server')
const APEX = 'mailhorn.example'
const KEY = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`

async function setUp(
  t: TestContext,
  { host = '127.0.0.1', dkim = (): string | Promise<string> => KEY } = {},
) {
  const clock = await t.using(createAdjustableClock())
  const records = providerRecords({
    mailHost: APEX,
    nameServers: [`ns1.${APEX}`],
    addresses: ['192.0.2.1', '2001:db8::1'],
    regions: ['us-west-2'],
    serial: 1,
  })
  const big = { name: `big.${APEX}`, ttlSeconds: 60, type: 'TXT' as const, text: 'x'.repeat(60_000) }
  const zone = createZone({ apex: APEX, records: [...records, big], dkim })
  const server = createDnsServer({ listen: { host, port: 0 }, zone, log: createLog('warn'), clock })
  const { port } = await server.listen()
  t.after(() => server.close())
  return { clock, server, port, address: net.isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}` }
}

async function connected(t: TestContext, port: number, localAddress = '127.0.0.1'): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
  t.after(() => socket.destroy())
  socket.on('error', () => void 0)
  await once(socket, 'connect')
  return socket
}

for (const host of ['127.0.0.1', '::1'])
  test(`DNS server: one port of ${host} answers over UDP and TCP`, async t => {
    const { address } = await setUp(t, { host })
    for (const transport of ['udp', 'tcp'] as const) {
      const reply = await askServer(address, `feedback-smtp.us-west-2.${APEX}`, 'A', { transport })
      assert.equal(
        reply.answers.map(record => record.type === 'A' && record.address),
        ['192.0.2.1'],
      )
    }
  })

/** Answers every query with itself. */
async function wildcard(t: TestContext, host: string, addresses: string[]) {
  const clock = createManualClock()
  const server = createDnsListener({
    listen: { host, port: 0 },
    respond: query => query,
    hostAddresses: () => addresses,
    log: createLog('silent'),
    clock,
  })
  const { port } = await server.listen()
  t.after(() => server.close())
  return { clock, port }
}

/** Whether a query from another address of the host is answered from the address that was asked. */
async function isAnswered(host: string, port: number): Promise<boolean> {
  const reply = await exchangeUdp(`${host}:${port}`, Buffer.from('hello')).catch(
    (error: NodeJS.ErrnoException) => {
      assert.is(error.code, 'ECONNREFUSED')
      return undefined
    },
  )
  return reply !== undefined
}

test('DNS server: a wildcard listener answers from each address that was asked', async t => {
  const { port } = await wildcard(t, '0.0.0.0', ['127.0.0.1', '127.0.0.2', '127.0.0.3', '::1'])
  for (const host of ['127.0.0.1', '127.0.0.2', '127.0.0.3']) assert.ok(await isAnswered(host, port), host)
  assert.not.ok(await isAnswered('127.0.0.4', port))
  const six = await wildcard(t, '::', ['127.0.0.1', '::1'])
  assert.ok(await isAnswered('[::1]', six.port))
})

test('DNS server: a wildcard listener follows the addresses of the host', async t => {
  const addresses = ['127.0.0.1', '127.0.0.2']
  const { clock, port } = await wildcard(t, '0.0.0.0', addresses)
  addresses.splice(1, 1, '192.0.2.77', '127.0.0.3') // one of them cannot be bound
  await clock.advance(10_000)
  await until(() => isAnswered('127.0.0.3', port))
  assert.equal([await isAnswered('127.0.0.1', port), await isAnswered('127.0.0.2', port)], [true, false])
})

test('DNS server: TCP at a wildcard address is answered at every address', async t => {
  const { port } = await wildcard(t, '0.0.0.0', ['127.0.0.1'])
  for (const host of ['127.0.0.1', '127.0.0.2'])
    assert.is(`${await exchangeTcp(`${host}:${port}`, Buffer.from('a whole header'))}`, 'a whole header')
})

test('DNS server: a wildcard listener that cannot bind one of its addresses fails and closes all', async t => {
  const taken = dgram.createSocket('udp4').bind(0, '127.0.0.2')
  t.after(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address()
  const server = createDnsListener({
    listen: { host: '0.0.0.0', port },
    respond: query => query,
    hostAddresses: () => ['127.0.0.1', '127.0.0.2'],
    log: createLog('silent'),
    clock: createManualClock(),
  })
  const error = await server.listen().catch((reason: NodeJS.ErrnoException) => reason.code)
  assert.is(error, 'EADDRINUSE')
  assert.not.ok(await isAnswered('127.0.0.1', port))
})

test("the runtime's resolver reads every record that we serve", async t => {
  const { address } = await setUp(t)
  const resolver = new dns.Resolver()
  resolver.setServers([address])
  assert.equal(
    (await resolver.resolveTxt(`abc.dkim.${APEX}`)).map(strings => strings.map(({ length }) => length)),
    [[255, KEY.length - 255]],
  )
  assert.equal(await resolver.resolveMx(APEX), [{ exchange: APEX, priority: 10, type: 'MX' }] as unknown)
  assert.equal(await resolver.resolve4(APEX), ['192.0.2.1'])
  assert.equal(await resolver.resolve6(APEX), ['2001:db8::1'])
  assert.equal(await resolver.resolveNs(APEX), [`ns1.${APEX}`])
  assert.is((await resolver.resolveSoa(APEX)).minttl, 300)
  assert.is((await resolver.resolveTxt(`big.${APEX}`))[0]!.join('').length, 60_000)
  const codeOf = (requests: Promise<unknown>) =>
    requests.then(
      () => 'found',
      error => error.code,
    )
  assert.is(await codeOf(resolver.resolve4(`nowhere.${APEX}`)), 'ENOTFOUND')
  assert.is(await codeOf(resolver.resolve4(`dkim.${APEX}`)), 'ENODATA')
  assert.is(await codeOf(resolver.resolve4('there.example')), 'EREFUSED')
})

test('DNS server: pipelined queries are answered in order', async t => {
  const { port } = await setUp(t)
  const socket = await connected(t, port)
  const ids = Array.from({ length: 200 }, (_, i) => i)
  socket.write(
    Buffer.concat(ids.map(id => frame(queryPacket(id % 2 ? APEX : `abc.dkim.${APEX}`, 'TXT', { id })))),
  )
  const answered: number[] = []
  for await (const reply of readFrames(socket, 65_535)) {
    answered.push(decodeMessage(reply).id)
    if (answered.length === ids.length) break
  }
  assert.equal(answered, ids)
})

test('DNS server: a query that arrives octet by octet is answered', async t => {
  const { port } = await setUp(t)
  const socket = await connected(t, port)
  for (const octet of frame(queryPacket(APEX, 'A', { id: 9 }))) {
    await new Promise(sent => socket.write(Buffer.of(octet), sent))
    await new Promise(setImmediate)
  }
  for await (const reply of readFrames(socket, 65_535)) {
    assert.is(decodeMessage(reply).id, 9)
    break
  }
})

test('DNS server: a half-closed client that reads late gets its answers', async t => {
  const { port } = await setUp(t)
  const socket = await connected(t, port)
  const ids = Array.from({ length: 200 }, (_, i) => i)
  socket.end(Buffer.concat(ids.map(id => frame(queryPacket(`big.${APEX}`, 'TXT', { id })))))
  const answered: number[] = []
  for await (const reply of readFrames(socket, 65_535)) {
    answered.push(decodeMessage(reply).id)
    await new Promise(setImmediate)
  }
  assert.equal(answered, ids)
})

test('DNS server: answers to a client that does not read are not buffered', async t => {
  let lookUps = 0
  const { port } = await setUp(t, {
    dkim: () => {
      lookUps++
      return 'x'.repeat(50_000)
    },
  })
  const socket = await connected(t, port)
  socket.pause()
  const count = 500
  socket.write(
    Buffer.concat(
      Array.from({ length: count }, (_, id) => frame(queryPacket(`abc.dkim.${APEX}`, 'TXT', { id }))),
    ),
  )
  let before = -1
  while (before !== lookUps) {
    before = lookUps
    for (let i = 0; i < 200; i++) await new Promise(setImmediate)
  }
  assert.ok(lookUps < count, `${lookUps} look-ups for a client that reads nothing`)
  let answered = 0
  for await (const _ of readFrames(socket, 65_535)) if (++answered === count) break
  assert.is(answered, count)
})

test('DNS server: a response packet over TCP is ignored and the connection stays', async t => {
  const { port } = await setUp(t)
  const socket = await connected(t, port)
  socket.write(
    Buffer.concat([
      frame(queryPacket(APEX, 'A', { id: 1, flags: 0x8000 })),
      frame(queryPacket(APEX, 'A', { id: 2 })),
    ]),
  )
  for await (const reply of readFrames(socket, 65_535)) {
    assert.is(decodeMessage(reply).id, 2)
    break
  }
})

for (const [what, octets] of [
  ['zero octets', '0000'],
  ['less than a header', '000b 1234 0100 0001 0000 0000 00'],
  ['more than 4096 octets', '1001'],
  ['65535 octets', 'ffff'],
] as const)
  test(`DNS server: a connection that announces a message of ${what} is closed`, async t => {
    const { port, address } = await setUp(t)
    const socket = await connected(t, port)
    socket.resume()
    socket.write(Buffer.from(octets.replaceAll(' ', ''), 'hex'))
    await once(socket, 'close')
    assert.is((await askServer(address, APEX, 'A', { transport: 'tcp' })).rcode, RCODE.NOERROR)
  })

test('DNS server: a connection is closed 10 s after its last complete query', async t => {
  const { clock, port } = await setUp(t)
  const socket = await connected(t, port)
  let isClosed = false
  const closed = new Promise<void>(done => {
    socket.once('close', () => {
      isClosed = true
      done()
    })
  })
  const replies = readFrames(socket, 65_535)
  const asks = async (id: number) => {
    socket.write(frame(queryPacket(APEX, 'A', { id })))
    assert.is(decodeMessage((await replies.next()).value!).id, id)
  }
  await asks(1)
  clock.advance(9_900)
  await asks(2)
  clock.advance(9_900)
  await asks(3)
  assert.is(isClosed, false)
  socket.write(Buffer.of(0))
  clock.advance(5_000)
  socket.write(Buffer.of(40))
  clock.advance(5_000)
  const end = await replies.next().catch(() => ({ done: true }))
  assert.ok(end.done)
  await closed
})

test('DNS server: beyond 100 connections the least recently used is closed', async t => {
  const { port } = await setUp(t)
  const sockets: net.Socket[] = []
  const ask = async (socket: net.Socket) => {
    socket.write(frame(queryPacket(APEX, 'A')))
    await once(socket, 'data')
  }
  for (let i = 0; i < 100; i++) {
    const socket = await connected(t, port)
    sockets.push(socket)
    await ask(socket)
  }
  await ask(sockets[0]!)
  const gone = once(sockets[1]!, 'close')
  const last = await connected(t, port)
  await ask(last)
  sockets[1]!.resume()
  await gone
  for (const socket of [sockets[0]!, sockets[2]!, sockets[99]!]) await ask(socket)
})

test('DNS server: of ten times the connections over TCP, 100 are open', async t => {
  const { port } = await setUp(t)
  const sockets = await Promise.all(Array.from({ length: 1_000 }, () => connected(t, port)))
  for (const socket of sockets) socket.resume()
  const closedCount = () => sockets.filter(socket => socket.destroyed || socket.readableEnded).length
  await until(() => closedCount() >= 900)
  for (let i = 0; i < 50; i++) await new Promise(setImmediate)
  assert.is(closedCount(), 900)
})

test('DNS server: 16 datagrams are answered in a turn of the event loop', async t => {
  let answeredCount = 0
  const respond = () => {
    answeredCount++
    return undefined
  }
  const port = await freePort()
  const clock = createManualClock()
  await t.using(openUdpService({ host: '127.0.0.1', port, respond, log: createLog('silent'), clock }))
  const client = dgram.createSocket('udp4')
  t.after(() => client.close())
  for (let i = 0; i < 160; i++) client.send('x', port, '127.0.0.1')
  let limit = 0
  for (let before = 0; answeredCount < 160; before = answeredCount) {
    await new Promise(setImmediate)
    limit = Math.max(limit, answeredCount - before)
  }
  assert.is(limit, 16)
})

test('DNS server: beyond 100 connections the network with most of them loses one', async t => {
  const { port } = await setUp(t)
  const ask = async (socket: net.Socket) => {
    socket.write(frame(queryPacket(APEX, 'A')))
    await once(socket, 'data')
  }
  const quiet = await connected(t, port, '127.0.1.1')
  await ask(quiet)
  const greedy: net.Socket[] = []
  for (let i = 0; i < 99; i++) {
    const socket = await connected(t, port, `127.0.2.${1 + (i % 3)}`)
    greedy.push(socket)
    await ask(socket)
  }
  const gone = once(greedy[0]!, 'close')
  await ask(await connected(t, port, '127.0.3.1'))
  greedy[0]!.resume()
  await gone
  for (const socket of [quiet, greedy[1]!, greedy[98]!]) await ask(socket)
})

test('DNS server: a port in use is an error and no socket stays open', async t => {
  const { port } = await setUp(t)
  const clock = await t.using(createAdjustableClock())
  const zone = createZone({
    apex: APEX,
    dkim: () => undefined,
    records: providerRecords({
      mailHost: APEX,
      nameServers: [APEX],
      addresses: [],
      regions: [],
      serial: 1,
    }),
  })
  const second = createDnsServer({ listen: { host: '127.0.0.1', port }, zone, log: createLog('warn'), clock })
  await second.listen().then(
    () => assert.unreachable(),
    error => assert.is(error.code, 'EADDRINUSE'),
  )
  await second.close()
  const udpOnly = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  t.after(() => udpOnly.close())
  await once(udpOnly, 'listening')
  const third = createDnsServer({
    listen: { host: '127.0.0.1', port: udpOnly.address().port },
    zone,
    log: createLog('warn'),
    clock,
  })
  await third.listen().then(
    () => assert.unreachable(),
    error => assert.is(error.code, 'EADDRINUSE'),
  )
})

test('DNS server: answers that are ready after close are not sent', async t => {
  const clock = await t.using(createAdjustableClock())
  const requests = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<Buffer>()
  const listener = createDnsListener({
    listen: { host: '127.0.0.1', port: 0 },
    log: createLog('warn'),
    clock,
    respond() {
      requests.resolve()
      return ready.promise
    },
  })
  const { port } = await listener.listen()
  const client = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  t.after(() => client.close())
  client.on('message', () => assert.unreachable('an answer from a server that is closed'))
  await once(client, 'listening')
  client.send(queryPacket(APEX, 'SOA'), port, '127.0.0.1')
  await requests.promise
  const closed = listener.close()
  ready.resolve(Buffer.from('too late'))
  await closed
})

test('DNS server: a datagram from port 0 is dropped', async t => {
  const open = dgram.createSocket
  let inside: dgram.Socket | undefined
  dgram.createSocket = ((type: 'udp4') => {
    inside = open(type)
    return inside
  }) as typeof open
  const { address } = await setUp(t).finally(() => {
    dgram.createSocket = open
  })
  const peer = { family: 'IPv4', size: 0, address: '127.0.0.1', port: 0 } as const
  inside!.emit('message', queryPacket(APEX, 'A'), peer)
  inside!.emit('message', queryPacket(APEX, 'A'), { ...peer, address: '::1', port: 53 })
  assert.is((await askServer(address, APEX, 'A')).rcode, RCODE.NOERROR)
})

test('DNS server: no more than 1,000 answers to datagrams are looked up at the same time', async t => {
  const held = Promise.withResolvers<string>()
  const full = Promise.withResolvers<void>()
  let lookUps = 0
  const { address, port } = await setUp(t, {
    dkim() {
      if (++lookUps === 1_000) full.resolve()
      return held.promise
    },
  })
  const client = dgram.createSocket('udp4')
  t.after(() => client.close())
  const packet = queryPacket(`abc.dkim.${APEX}`, 'TXT')
  let isFull = false
  void full.promise.then(() => {
    isFull = true
  })
  while (!isFull) {
    await new Promise(sent => client.send(packet, port, '127.0.0.1', sent))
    await new Promise(setImmediate)
  }
  for (let i = 0; i < 9_000; i++) await new Promise(sent => client.send(packet, port, '127.0.0.1', sent))
  assert.is((await askServer(address, APEX, 'A', { transport: 'tcp' })).rcode, RCODE.NOERROR)
  assert.is(lookUps, 1_000)
  held.resolve(KEY)
  await until(() => lookUps > 1_000)
})

for (const [what, text] of [
  ['a message', frame(Buffer.alloc(3_998, 1))],
  ['the same question', Buffer.concat(Array.from({ length: 90 }, () => frame(queryPacket(APEX, 'A'))))],
  ['zeros', Buffer.alloc(4_000)],
] as const)
  test(`DNS server: ${what}, byte by byte behind a slow question over TCP, is not held as pieces`, async t => {
    const requests = Promise.withResolvers<void>()
    const slow = Promise.withResolvers<string>()
    const { port } = await setUp(t, {
      dkim() {
        requests.resolve()
        return slow.promise
      },
    })
    t.after(() => slow.resolve(KEY))
    const client = await connected(t, port)
    client.write(frame(queryPacket(`abc.dkim.${APEX}`, 'TXT')))
    await requests.promise
    const before = byteArrayCount()
    await sendByteByByte(client, text.toString('latin1'))
    const held = byteArrayCount() - before
    assert.ok(held < 300, `${held} byte arrays for ${text.length} octets`)
  })

test('DNS server: thousands of pipelined questions leave turns to others', async t => {
  const turns = { count: 0, limit: 0 }
  let isOver = false
  const { port, address } = await setUp(t, {
    dkim() {
      turns.limit = Math.max(turns.limit, ++turns.count)
      return KEY
    },
  })
  const watch = () => {
    turns.count = 0
    if (!isOver) setImmediate(watch)
  }
  watch()
  const client = await connected(t, port)
  client.resume()
  client.write(
    Buffer.concat(Array.from({ length: 5_000 }, () => frame(queryPacket(`abc.dkim.${APEX}`, 'TXT')))),
  )
  for (let i = 0; i < 5; i++) assert.is((await askServer(address, APEX, 'A')).rcode, RCODE.NOERROR)
  isOver = true
  assert.ok(turns.limit <= 16, `${turns.limit} answered in one turn`)
})

test('DNS server: close ends connections and frees the port', async t => {
  const lookUp = Promise.withResolvers<string>()
  const requests = Promise.withResolvers<void>()
  const { server, port } = await setUp(t, {
    dkim() {
      requests.resolve()
      return lookUp.promise
    },
  })
  const socket = await connected(t, port)
  const client = dgram.createSocket('udp4')
  t.after(() => client.close())
  client.send(queryPacket(`abc.dkim.${APEX}`, 'TXT'), port, '127.0.0.1')
  await requests.promise
  socket.resume()
  const closed = once(socket, 'close')
  await server.close()
  lookUp.resolve(KEY)
  await closed
  const again = net.createServer().listen(port, '127.0.0.1')
  t.after(() => again.close())
  await once(again, 'listening')
  assert.ok(again.listening)
})

test.run()
