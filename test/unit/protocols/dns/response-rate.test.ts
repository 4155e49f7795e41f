import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import { createLog } from '../../../../src/lib/log.ts'
import { netblockOf } from '../../../../src/protocols/dns/netblock.ts'
import { providerRecords } from '../../../../src/protocols/dns/provider-zone.ts'
import { createResponder } from '../../../../src/protocols/dns/responder.ts'
import { createResponseRate } from '../../../../src/protocols/dns/response-rate.ts'
import { FLAG, type Message, RCODE, type TypeName } from '../../../../src/protocols/dns/wire.ts'
import { decodeMessage } from '../../../../src/protocols/dns/wire-decode.ts'
import { createZone } from '../../../../src/protocols/dns/zone.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { createRandom } from '../../../kit/random.ts'
import { suite } from '../../../kit/suite.ts'
import { queryPacket } from '../../../kit/zone-client.ts'

const test = suite('dns/response-rate')
const APEX = 'mailhorn.example'
/** Hash seed for which the clients of these tests do not collide; one seed in seventy makes them collide. */
const SEED = 7
const KEY = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`

function setUp() {
  const clock = createManualClock()
  const rate = createResponseRate({ clock, perSecond: 20, seed: SEED })
  const zone = createZone({
    apex: APEX,
    records: providerRecords({
      mailHost: APEX,
      nameServers: [`ns1.${APEX}`],
      addresses: ['192.0.2.1'],
      regions: [],
      serial: 1,
    }),
    dkim: () => KEY,
  })
  const respond = createResponder({ zone, rate, log: createLog('error') })
  const send = async (packet: Buffer, from: string, transport: 'udp' | 'tcp') => {
    const reply = await respond(packet, transport, from)
    return reply && decodeMessage(reply)
  }
  const ask = (
    name: string,
    type: TypeName,
    { from = '192.0.2.7', transport = 'udp' as 'udp' | 'tcp' } = {},
  ) => send(queryPacket(name, type), from, transport)
  return { clock, rate, respond, ask, send }
}

const tokenOf = (i: number) => i.toString(36).padStart(32, 'a')

/** Counts the replies to so many queries in a row by kind. */
async function tally(count: number, once: (i: number) => Promise<Message | undefined>) {
  const seen = { whole: 0, truncated: 0, nothing: 0 }
  for (let i = 0; i < count; i++) {
    const reply = await once(i)
    if (!reply) seen.nothing++
    else if (reply.flags & FLAG.TC) seen.truncated++
    else seen.whole++
  }
  return seen
}

test('response rate: beyond 20 equal answers a second every second one is truncated, the others are dropped', async () => {
  const { ask, clock } = setUp()
  assert.equal(await tally(60, () => ask(APEX, 'A')), { whole: 20, truncated: 20, nothing: 20 })
  clock.advance(500)
  assert.equal(await tally(30, () => ask(APEX, 'A')), { whole: 10, truncated: 10, nothing: 10 })
  clock.advance(5_000)
  assert.is((await tally(60, () => ask(APEX, 'A'))).whole, 20)
})

test('response rate: other answers, other networks and TCP are not limited', async () => {
  const { ask } = setUp()
  await tally(100, () => ask(APEX, 'A'))
  const none = { truncated: 0, nothing: 0 }
  assert.equal(await tally(20, () => ask(APEX, 'MX')), { whole: 20, ...none })
  assert.equal(await tally(20, () => ask(APEX, 'A', { from: '192.0.3.7' })), { whole: 20, ...none })
  assert.equal(await tally(20, () => ask(APEX, 'A', { from: '2001:db8::1' })), { whole: 20, ...none })
  assert.equal(await tally(50, () => ask(APEX, 'A', { transport: 'tcp' })), { whole: 50, ...none })
})

test('response rate: addresses of one network share a limit', async () => {
  const { ask } = setUp()
  const seen = await tally(200, i => ask(APEX, 'A', { from: `192.0.2.${i}` }))
  assert.is(seen.whole, 20)
  const upper = (i: number) => `2001:db8:0:${i.toString(16)}::${i}`
  assert.is((await tally(200, i => ask(APEX, 'A', { from: upper(i) }))).whole, 20)
})

test('response rate: all names that do not exist share a limit', async () => {
  const { ask } = setUp()
  const seen = await tally(60, i => ask(`x${i}.${APEX}`, 'A'))
  assert.equal(seen, { whole: 20, truncated: 20, nothing: 20 })
})

test('response rate: errors beyond the rate are dropped, counted by code', async () => {
  const { ask, send } = setUp()
  assert.equal(await tally(60, () => ask('there.example', 'A')), { whole: 20, truncated: 0, nothing: 40 })
  const malformed = queryPacket(APEX, 'A').subarray(0, 20)
  assert.equal(await tally(60, () => send(malformed, '192.0.2.7', 'udp')), {
    whole: 20,
    truncated: 0,
    nothing: 40,
  })
  const update = queryPacket(APEX, 'SOA', { flags: 0 })
  update[2] = 5 << 3
  const replies = await Promise.all(Array.from({ length: 30 }, () => send(update, '192.0.2.7', 'udp')))
  assert.is(replies.filter(reply => reply?.rcode === RCODE.NOTIMP).length, 20)
})

test('response rate: beyond an allowance answers longer than three queries are truncated', async () => {
  const { ask, clock } = setUp()
  const keys = await tally(1_000, i => ask(`${tokenOf(i)}.dkim.${APEX}`, 'TXT'))
  assert.is(keys.nothing, 0)
  assert.ok(keys.whole > 200 && keys.whole < 600, `${keys.whole} whole`)
  assert.equal(await tally(20, () => ask(APEX, 'A')), { whole: 20, truncated: 0, nothing: 0 })
  const other = await tally(10, i => ask(`${tokenOf(i)}.dkim.${APEX}`, 'TXT', { from: '198.51.100.1' }))
  assert.is(other.whole, 10)
  clock.advance(1_000)
  assert.is((await tally(50, i => ask(`${tokenOf(i)}.dkim.${APEX}`, 'TXT'))).whole, 50)
})

test('response rate: a quiet network is served during a flood from others', () => {
  const { rate } = setUp()
  for (let i = 0; i < 50_000; i++) rate.sendingOf(`10.${i % 256}.${i >> 8}`, `name-${i} A`)
  let whole = 0
  for (let i = 0; i < 20; i++) if (rate.sendingOf('192.0.2', 'quiet A') === 'whole') whole++
  assert.ok(whole >= 15, `${whole} of 20`)
})

test('response rate: memory does not grow with networks and names', () => {
  const { rate } = setUp()
  const flood = (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      const network = netblockOf(`${i & 255}.${(i >> 8) & 255}.${(i >> 16) & 255}.1`)
      rate.sendingOf(network, `name-${i} A`)
      rate.mayExceed(network, 500)
    }
  }
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = () => {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  flood(0, 20_000)
  const before = used()
  flood(20_000, 320_000)
  const grown = used() - before
  assert.ok(grown < 1_000_000, `${grown} bytes more`)
})

test('response rate: a network gets at most three times its own octets and the allowance', async () => {
  const random = createRandom(Number(process.env.FUZZ_SEED ?? 20_261_121))
  const { respond, clock } = setUp()
  const began = clock.monotonic()
  const networks = new Map<string, { received: number; sent: number }>()
  for (let i = 0; i < 20_000; i++) {
    if (random.next() < 0.02) clock.advance(random.below(50))
    const address = `192.0.${random.below(4)}.${random.below(256)}`
    const name = random.of([
      APEX,
      `x${random.below(500)}.${APEX}`,
      `${tokenOf(random.below(500))}.dkim.${APEX}`,
    ])
    const query = queryPacket(name, random.of(['A', 'TXT', 'SOA', 'ANY', 'NS']))
    const reply = await respond(query, 'udp', address)
    const network = networks.get(netblockOf(address)) ?? { received: 0, sent: 0 }
    network.received += query.length
    network.sent += reply?.length ?? 0
    networks.set(netblockOf(address), network)
    const seconds = (clock.monotonic() - began) / 1_000
    assert.ok(network.sent <= 3 * network.received + 100_000 * (1 + seconds))
  }
  assert.is(networks.size, 4)
})

test.run()
