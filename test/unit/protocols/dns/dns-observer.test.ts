import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import {
  authorityObserver,
  type ObservedAnswer,
  resolverObserver,
} from '../../../../src/protocols/dns/dns-observer.ts'
import { type DnsRecord, FLAG, type Message, RCODE } from '../../../../src/protocols/dns/wire.ts'
import { decodeMessage } from '../../../../src/protocols/dns/wire-decode.ts'
import { encodeMessage } from '../../../../src/protocols/dns/wire-encode.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { startZone } from '../../../kit/zone.ts'

const test = suite('dns/dns-observer')

/** @param timeoutMs as any machine takes, unless a test waits for silence */
function limitsOf(t: TestContext, timeoutMs = 10_000) {
  const over = new AbortController()
  t.after(() => over.abort(new Error('the test is over')))
  return { clock: systemClock, timeoutMs, tries: 2, signal: over.signal }
}

/** A server whose replies the test writes itself. */
async function serverThat(t: TestContext, reply: (query: Message) => Partial<Message>) {
  const queries: Message[] = []
  const socket = createSocket('udp4')
  t.after(() => socket.close())
  socket.on('message', (packet, { port, address }) => {
    const query = decodeMessage(packet)
    queries.push(query)
    const none = { answers: [], authority: [], additional: [] }
    const base = { id: query.id, flags: FLAG.QR, opcode: 0, rcode: 0, question: query.question, ...none }
    socket.send(encodeMessage({ ...base, ...reply(query) }, 1232), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { server: { host: '127.0.0.1', port: socket.address().port }, queries }
}

const answered = (testimony: ObservedAnswer) => {
  if (testimony.kind === 'unknown') throw new Error(testimony.reason)
  const { records, chain, exists, ttlSeconds } = testimony
  return {
    texts: records.map(record => (record.type === 'TXT' ? record.text : record.type)),
    chain,
    exists,
    ttlSeconds,
  }
}

test('DNS observer: a resolver returns records behind CNAMEs with their TTL', async t => {
  const zone = await t.using(
    startZone(
      'a.test 300 CNAME b.test\nb.test 60 CNAME C.test\nc.test 900 TXT "one"\nlost.test CNAME none.test',
    ),
  )
  const { ask } = resolverObserver(zone.server, limitsOf(t))
  assert.equal(answered(await ask('A.test', 'TXT')), {
    texts: ['one'],
    chain: ['b.test', 'c.test'],
    exists: true,
    ttlSeconds: 60,
  })
  assert.equal(answered(await ask('c.test', 'MX')), {
    texts: [],
    chain: [],
    exists: true,
    ttlSeconds: undefined,
  })
  const lost = answered(await ask('lost.test', 'TXT'))
  assert.equal([lost.chain, lost.exists], [['none.test'], false])
  assert.is(answered(await ask('not a name', 'TXT')).exists, false)
})

test('DNS observer: an authoritative server is queried without recursion and must set AA', async t => {
  const limits = limitsOf(t)
  const zone = await t.using(startZone('a.test TXT "one"', { authoritative: true }))
  const other = await t.using(startZone('a.test TXT "one"'))
  const serverAt = ({ server }: { server: string }) => ({
    host: '127.0.0.1',
    port: Number(server.split(':')[1]),
  })
  assert.equal(answered(await authorityObserver('ns', serverAt(zone), limits).ask('a.test', 'TXT')).texts, [
    'one',
  ])
  assert.equal(await authorityObserver('ns', serverAt(other), limits).ask('a.test', 'TXT'), {
    kind: 'unknown',
    reason: 'is not responsible for the zone (lame)',
  })
  const { server, queries } = await serverThat(t, () => ({
    authority: [{ name: 'sub.test', ttlSeconds: 60, type: 'NS', target: 'NS2.sub.test' }],
  }))
  assert.equal(await authorityObserver('ns', server, limits).ask('sub.test', 'NS'), {
    kind: 'unknown',
    reason: 'refers to other name servers',
    refersTo: ['ns2.sub.test'],
    glue: [],
  })
  assert.is(queries[0]!.flags & FLAG.RD, 0)
})

test('DNS observer: a negative answer has the TTL of the SOA record', async t => {
  const soa = (ttlSeconds: number, minimumSeconds: number): DnsRecord => {
    const times = { serial: 1, refreshSeconds: 1, retrySeconds: 1, expireSeconds: 1, minimumSeconds }
    return { name: 'test', ttlSeconds, type: 'SOA', primary: 'ns.test', contact: 'me.test', ...times }
  }
  for (const [ttl, minimum, remaining] of [
    [900, 300, 300],
    [120, 300, 120],
  ] as const) {
    const { server } = await serverThat(t, () => ({
      rcode: RCODE.NXDOMAIN,
      flags: FLAG.QR | FLAG.AA,
      authority: [soa(ttl, minimum)],
    }))
    const { exists, ttlSeconds } = answered(
      await authorityObserver('ns', server, limitsOf(t)).ask('a.test', 'TXT'),
    )
    assert.equal([exists, ttlSeconds], [false, remaining])
  }
})

test('DNS observer: a server without EDNS is queried again without OPT', async t => {
  const { server, queries } = await serverThat(t, ({ edns }) => ({
    rcode: edns ? RCODE.FORMERR : RCODE.NOERROR,
    flags: FLAG.QR | FLAG.AA,
  }))
  assert.is(answered(await authorityObserver('ns', server, limitsOf(t)).ask('a.test', 'TXT')).exists, true)
  assert.equal(
    queries.map(({ edns }) => edns !== undefined),
    [true, false],
  )
})

test('DNS observer: failures are values and not exceptions', async t => {
  const zone = await t.using(
    startZone('a.test SERVFAIL\nb.test REFUSED\nc.test TIMEOUT\nd.test TRUNCATED\nd.test TXT "long"'),
  )
  const { ask } = resolverObserver(zone.server, limitsOf(t, 300))
  const reasons = await Promise.all(['a.test', 'b.test', 'c.test'].map(name => ask(name, 'TXT')))
  assert.equal(
    reasons.map(answer => (answer.kind === 'unknown' ? answer.reason : answer.kind)),
    ['answers with SERVFAIL', 'answers with REFUSED', 'does not answer (nothing within 0.3 s)'],
  )
  assert.equal(answered(await ask('d.test', 'TXT')).texts, ['long'])
  const closed = resolverObserver(zone.server, {
    ...limitsOf(t),
    signal: AbortSignal.abort(new Error('over')),
  })
  assert.equal(await closed.ask('d.test', 'TXT'), { kind: 'unknown', reason: 'out of time' })
})

test.run()
