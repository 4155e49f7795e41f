import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { frame, readFrames } from '../../../../src/protocols/dns/frames.ts'
import { providerRecords } from '../../../../src/protocols/dns/provider-zone.ts'
import { createDnsServer } from '../../../../src/protocols/dns/server.ts'
import { FLAG, type Message, RCODE, type TypeName } from '../../../../src/protocols/dns/wire.ts'
import { decodeMessage } from '../../../../src/protocols/dns/wire-decode.ts'
import { createZone } from '../../../../src/protocols/dns/zone.ts'
import { createRandom, type Random } from '../../../kit/random.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { askServer, queryPacket } from '../../../kit/zone-client.ts'

/** `FUZZ_PACKETS=200000` for all that was promised; `FUZZ_SEED` for others. */
const PACKETS = Number(process.env.FUZZ_PACKETS ?? 12_000)
const test = suite('dns/fuzz', { limitMs: 120_000 + PACKETS })
const APEX = 'mailhorn.example'
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121)
const UDP_PACKETS = Math.round(PACKETS * 0.75)
const TCP_STREAM_PACKETS = 40
const TCP_STREAMS = Math.round((PACKETS - UDP_PACKETS) / TCP_STREAM_PACKETS)
/** Sent before every wait for an answer; few enough for a socket's buffer. */
const BATCH = 50
const MARKER_ID = 0xffff

const NAMES = [
  APEX,
  `abc.dkim.${APEX}`,
  `dkim.${APEX}`,
  `nowhere.${APEX}`,
  `big.${APEX}`,
  'there.example',
  '',
  `FEEDBACK-smtp.us-west-2.${APEX}`,
]
const TYPES: readonly TypeName[] = [
  'A',
  'AAAA',
  'NS',
  'SOA',
  'MX',
  'TXT',
  'ANY',
  'CAA',
  'AXFR',
  'DS',
  'OPT',
  'TYPE65535',
]

function someQuery(random: Random): Buffer {
  const edns = {
    payloadBytes: random.of([0, 512, 1232, 4096, 65_535]),
    version: random.of([0, 0, 0, 1, 255]),
    dnssecOk: random.next() < 0.5,
  }
  return queryPacket(random.of(NAMES), random.of(TYPES), {
    flags: random.of([0, FLAG.RD, FLAG.RD | FLAG.CD]),
    ...(random.next() < 0.6 ? { edns } : {}),
  })
}

/** Strange, but made from a query, so that it gets past the first checks. */
function mutated(random: Random): Buffer {
  let packet = Buffer.from(someQuery(random))
  for (let changes = random.below(6); changes > 0; changes--) {
    const at = random.below(packet.length + 1)
    const some = Buffer.from(Array.from({ length: random.below(8) }, () => random.below(256)))
    const kind = random.below(6)
    if (kind === 0) packet = packet.subarray(0, at)
    else if (kind === 1) packet = Buffer.concat([packet.subarray(0, at), some, packet.subarray(at)])
    else if (kind === 2) packet = Buffer.concat([packet, some])
    else if (at >= packet.length) continue
    else if (kind === 3) packet[at] = random.below(256)
    else if (kind === 4) packet[at] = packet[at]! ^ (1 << random.below(8))
    else packet[at] = random.of([0, 1, 63, 64, 0xc0, 0xff])
  }
  return packet
}

function noise(random: Random): Buffer {
  return Buffer.from(Array.from({ length: random.below(80) }, () => random.below(256)))
}

async function setUp(t: TestContext) {
  const records = providerRecords({
    mailHost: APEX,
    nameServers: [`ns1.${APEX}`],
    addresses: ['192.0.2.1', '2001:db8::1'],
    regions: ['us-west-2'],
    serial: 1,
  })
  const big = { name: `big.${APEX}`, ttlSeconds: 60, type: 'TXT' as const, text: 'x'.repeat(1800) }
  const zone = createZone({
    apex: APEX,
    records: [...records, big],
    dkim: token => (token === 'abc' ? 'v=DKIM1; p=AAAA' : undefined),
  })
  const log: string[] = []
  const server = createDnsServer({
    listen: { host: '127.0.0.1', port: 0 },
    zone,
    log: createLog('warn', { write: line => void log.push(line) }),
    clock: systemClock,
  })
  const { port } = await server.listen()
  t.after(() => server.close())
  return { port, address: `127.0.0.1:${port}`, log }
}

/**
 * Returns the maximum size of a reply: 512 octets, or the size in the query's OPT record, and never more than
 * 1232.
 */
function limitFor(query: Buffer): number {
  try {
    const { edns } = decodeMessage(query)
    return Math.min(Math.max(edns?.payloadBytes ?? 0, 512), 1232)
  } catch {
    return query.length // question and OPT are repeated as far as they can be read
  }
}

function check(query: Buffer, reply: Buffer, read: Message) {
  const what = `seed ${SEED}: ${query.toString('hex')} -> ${reply.toString('hex')}`
  assert.ok(
    query.length >= 12 && (query[2]! & 0x80) === 0,
    `answered a response or less than a header: ${what}`,
  )
  assert.ok(read.flags & FLAG.QR, what)
  assert.ok(reply.length <= limitFor(query), `longer than ${limitFor(query)}: ${what}`)
  if (read.question) assert.ok(query.includes(Buffer.from(read.question.bytes)), `another question: ${what}`)
  if (read.answers.length > 0)
    assert.is(read.rcode === RCODE.NOERROR || read.rcode === RCODE.NXDOMAIN, true, what)
}

test(`${UDP_PACKETS} mutated and random datagrams: no crash, no answer to a response, none over the limit`, async t => {
  const { port, address, log } = await setUp(t)
  const random = createRandom(SEED)
  const client = dgram.createSocket({ type: 'udp4', recvBufferSize: 1 << 20 })
  t.after(() => client.close())
  client.connect(port, '127.0.0.1')
  await once(client, 'connect')
  const sentById: Buffer[] = []
  const rcodes = new Map<number, number>()
  let marked = () => {}
  const broken: unknown[] = []
  client.on('message', reply => {
    try {
      const read = decodeMessage(reply)
      if (read.id === MARKER_ID) return marked()
      rcodes.set(read.rcode, (rcodes.get(read.rcode) ?? 0) + 1)
      check(sentById[read.id]!, reply, read)
    } catch (error) {
      broken.push(error)
    }
  })
  for (let total = 0; total < UDP_PACKETS; total += BATCH) {
    // Answers that are looked up may come after that to the marker, so each id is used once.
    const sent = Array.from({ length: BATCH }, (_, i) => {
      const packet = random.next() < 0.85 ? mutated(random) : noise(random)
      const id = (total + i) % MARKER_ID
      if (packet.length >= 2) packet.writeUInt16BE(id)
      sentById[id] = packet
      return packet
    })
    const done = new Promise<void>(resolve => {
      marked = resolve
    })
    for (const packet of sent) client.send(packet)
    client.send(queryPacket(APEX, 'A', { id: MARKER_ID }))
    await done
    if (broken.length > 0) throw broken[0]
  }
  for (const rcode of Object.values(RCODE))
    if (rcode !== RCODE.SERVFAIL)
      assert.ok((rcodes.get(rcode) ?? 0) > 100, `response code ${rcode} was hardly met`)
  assert.is(rcodes.get(RCODE.SERVFAIL), undefined)
  assert.equal(log, [])
  assert.is((await askServer(address, APEX, 'A', { transport: 'tcp' })).rcode, RCODE.NOERROR)
})

test(`${TCP_STREAMS} streams of ${TCP_STREAM_PACKETS} packets: the same over TCP, and each answered in its turn`, async t => {
  const { port, address, log } = await setUp(t)
  const random = createRandom(SEED)
  for (let i = 0; i < TCP_STREAMS; i++) {
    const sent = Array.from({ length: TCP_STREAM_PACKETS }, (_, id) => {
      const packet = random.next() < 0.85 ? mutated(random) : noise(random)
      if (packet.length >= 2) packet.writeUInt16BE(id)
      return packet
    })
    const stream = Buffer.concat(sent.map(frame))
    const isCut = random.next() < 0.3
    const socket = net.connect({ port, host: '127.0.0.1' })
    socket.on('error', () => void 0)
    socket.end(isCut ? stream.subarray(0, random.below(stream.length)) : stream)
    let before = -1
    for await (const reply of repliesOf(socket)) {
      const read = decodeMessage(reply)
      assert.ok(read.id > before, `seed ${SEED}, stream ${i}: ${read.id} after ${before}`)
      before = read.id
      checkOverTcp(sent[read.id]!, reply, read)
    }
  }
  assert.is((await askServer(address, APEX, 'A')).rcode, RCODE.NOERROR)
  assert.equal(log, [])
})

/** Up to its end, or to its reset after a message of an impossible length. */
async function* repliesOf(socket: net.Socket): AsyncGenerator<Buffer> {
  try {
    yield* readFrames(socket, 65_535)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
  }
}

function checkOverTcp(query: Buffer, reply: Buffer, read: Message) {
  const what = `seed ${SEED}: ${query.toString('hex')} -> ${reply.toString('hex')}`
  assert.ok((query[2]! & 0x80) === 0, `answered a response: ${what}`)
  assert.ok(read.flags & FLAG.QR, what)
  assert.not.ok(read.flags & FLAG.TC, what)
  if (read.question) assert.ok(query.includes(Buffer.from(read.question.bytes)), `another question: ${what}`)
}

test.run()
