import dgram from 'node:dgram'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { createAdjustableClock } from '../../../../src/lib/adjustable-clock.ts'
import { systemClock } from '../../../../src/lib/clock.ts'
import { createResolver, type ResolverOptions } from '../../../../src/protocols/dns/resolver.ts'
import { FLAG } from '../../../../src/protocols/dns/wire.ts'
import { decodeMessage } from '../../../../src/protocols/dns/wire-decode.ts'
import { encodeMessage, encodeQuestion } from '../../../../src/protocols/dns/wire-encode.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { type ScriptedZone, startZone, type ZoneOptions } from '../../../kit/zone.ts'

const test = suite('dns/resolver')
/** Time limits that every machine meets; a test of a timeout sets a shorter one. */
const PATIENT = { timeoutMs: 30_000, totalMs: 60_000 }
/** Discard: nothing listens there, and the kernel says so. */
const CLOSED = '127.0.0.1:9'

async function setUp(t: TestContext, text: string, options: Partial<ResolverOptions> & ZoneOptions = {}) {
  const dns = await t.using(startZone(text, options))
  return { dns, resolver: await resolving(t, [dns], options) }
}

async function resolving(
  t: TestContext,
  servers: readonly (ScriptedZone | string)[],
  options: Partial<ResolverOptions> = {},
) {
  const names = servers.map(server => (typeof server === 'string' ? server : server.server))
  return t.using(createResolver({ servers: names, ...PATIENT, tries: 1, clock: systemClock, ...options }))
}

test('resolver: MX hosts are in lower case with their preferences', async t => {
  const { resolver } = await setUp(
    t,
    `
    there.example MX 20 mx2.there.example
    there.example MX 10 MX1.There.EXAMPLE`,
  )
  assert.equal(await resolver.mx('there.example'), {
    kind: 'found',
    records: [
      { exchange: 'mx2.there.example', preference: 20 },
      { exchange: 'mx1.there.example', preference: 10 },
    ],
  })
})

test('resolver: a null MX is an MX without a name', async t => {
  const { resolver } = await setUp(t, 'no-mail.example MX 0 .')
  assert.equal(await resolver.mx('no-mail.example'), {
    kind: 'found',
    records: [{ exchange: '', preference: 0 }],
  })
})

test('resolver: addresses have the lowest TTL of their CNAME chain', async t => {
  const { resolver } = await setUp(
    t,
    `
    mx.there.example   300 A 127.0.0.2
    mx.there.example   300 A 127.0.0.3
    mx.there.example   120 AAAA ::1
    www.there.example   20 CNAME mx.there.example`,
  )
  const addresses = ['127.0.0.2', '127.0.0.3']
  assert.equal(await resolver.addresses4('mx.there.example'), {
    kind: 'found',
    records: addresses,
    ttlMs: 300_000,
  })
  assert.equal(await resolver.addresses6('mx.there.example'), {
    kind: 'found',
    records: ['::1'],
    ttlMs: 120_000,
  })
  assert.equal(await resolver.addresses4('www.there.example'), {
    kind: 'found',
    records: addresses,
    ttlMs: 20_000,
  })
})

test('resolver: strings of a TXT record are joined, records are not', async t => {
  const long = 'x'.repeat(700)
  const { resolver } = await setUp(
    t,
    `
    key.example TXT "${long}"
    two.example TXT "v=spf1 -all"
    two.example TXT "something else"`,
  )
  assert.equal(await resolver.txt('key.example'), { kind: 'found', records: [long] })
  assert.equal(await resolver.txt('two.example'), {
    kind: 'found',
    records: ['v=spf1 -all', 'something else'],
  })
})

test('resolver: NS and CNAME can be looked up', async t => {
  const { resolver } = await setUp(
    t,
    `
    zone.example NS NS1.zone.example
    www.zone.example CNAME Zone.example`,
  )
  assert.equal(await resolver.ns('zone.example'), { kind: 'found', records: ['ns1.zone.example'] })
  assert.equal(await resolver.cname('www.zone.example'), { kind: 'found', records: ['zone.example'] })
})

test('resolver: NXDOMAIN is no-domain, a name without the type is no-data', async t => {
  const { resolver } = await setUp(t, 'host.there.example A 127.0.0.2')
  for (const ask of [
    resolver.mx,
    resolver.addresses4,
    resolver.addresses6,
    resolver.txt,
    resolver.cname,
    resolver.ns,
  ]) {
    assert.equal(await ask('nowhere.example'), { kind: 'no-domain' })
    assert.equal(await ask('there.example'), { kind: 'no-data' })
  }
  assert.equal(await resolver.mx('host.there.example'), { kind: 'no-data' })
})

test('resolver: a CNAME chain followed by the name server gives the final records', async t => {
  const { dns, resolver } = await setUp(
    t,
    `
    a.example CNAME b.example
    b.example CNAME c.example
    c.example MX 10 mx.example
    c.example TXT "found"
    dangling.example CNAME nowhere.example
    empty.example CNAME c.example`,
  )
  assert.equal(await resolver.mx('a.example'), {
    kind: 'found',
    records: [{ exchange: 'mx.example', preference: 10 }],
  })
  assert.equal(await resolver.txt('a.example'), { kind: 'found', records: ['found'] })
  assert.equal(await resolver.mx('dangling.example'), { kind: 'no-domain' })
  assert.equal(await resolver.addresses4('empty.example'), { kind: 'no-data' })
  assert.is(dns.queries.length, 4)
})

test('resolver: a CNAME not followed by the name server is no-data for other types', async t => {
  const { resolver } = await setUp(t, 'a.example CNAME b.example\nb.example MX 10 mx.example', {
    bareCname: true,
  })
  for (const ask of [resolver.mx, resolver.addresses4, resolver.addresses6, resolver.txt, resolver.ns])
    assert.equal(await ask('a.example'), { kind: 'no-data' })
  assert.equal(await resolver.cname('a.example'), { kind: 'found', records: ['b.example'] })
})

for (const [behaviour, reason] of [
  ['SERVFAIL', /SERVFAIL/],
  ['REFUSED', /REFUSED/],
  ['MALFORMED', /malformed/],
  ['TIMEOUT', /in time/],
] as const)
  test(`resolver: ${behaviour} is a failure`, async t => {
    const { resolver } = await setUp(
      t,
      `bad.example ${behaviour}`,
      behaviour === 'TIMEOUT' ? { timeoutMs: 250 } : {},
    )
    for (const ask of [resolver.mx, resolver.addresses4, resolver.txt]) {
      const answer = await ask('bad.example')
      assert.is(answer.kind, 'failure')
      assert.match(answer.kind === 'failure' ? answer.reason : '', reason)
    }
  })

test('resolver: a CNAME loop (SERVFAIL) is a failure', async t => {
  const { resolver } = await setUp(t, 'a.example CNAME b.example\nb.example CNAME a.example')
  assert.is((await resolver.mx('a.example')).kind, 'failure')
})

test('resolver: an address without name server is a failure', async t => {
  const resolver = await resolving(t, [CLOSED])
  assert.equal(await resolver.mx('there.example'), { kind: 'failure', reason: 'no name server is reachable' })
})

test('resolver: a truncated answer is queried again over TCP', async t => {
  const { dns, resolver } = await setUp(
    t,
    `
    big.example TRUNCATED
    big.example MX 10 mx.example
    ${Array.from({ length: 1000 }, (_, i) => `many.example MX ${i} mx${i}.many.example`).join('\n')}`,
  )
  assert.is((await resolver.mx('big.example')).kind, 'found')
  const many = await resolver.mx('many.example')
  assert.is(many.kind === 'found' && many.records.length, 1000)
  assert.equal(
    dns.queries.map(({ name, transport }) => `${name} ${transport}`),
    ['big.example udp', 'big.example tcp', 'many.example udp', 'many.example tcp'],
  )
})

test('resolver: a server may be a bracketed IPv6 address', async t => {
  const { dns, resolver } = await setUp(t, 'there.example MX 10 mx.there.example', { host: '::1' })
  assert.match(dns.server, /^\[::1\]:\d+$/)
  assert.is((await resolver.mx('there.example')).kind, 'found')
})

test('resolver: a server that is not an IP literal is refused at once', () => {
  assert.throws(() => createResolver({ servers: ['localhost:53'], clock: systemClock }), /Invalid IP address/)
})

const GOOD = 'there.example MX 10 mx.there.example'

test('resolver: the second server answers if the first is dead or silent', async t => {
  const good = await t.using(startZone(GOOD))
  const silent = await t.using(startZone('there.example TIMEOUT'))
  for (const first of [CLOSED, silent])
    assert.is(
      (await (await resolving(t, [first, good], { timeoutMs: 1_000 })).mx('there.example')).kind,
      'found',
    )
})

for (const behaviour of ['SERVFAIL', 'REFUSED', 'MALFORMED'])
  test(`resolver: after ${behaviour} from the first server the next ones are queried`, async t => {
    const bad = await t.using(startZone(`there.example ${behaviour}`))
    const worse = await t.using(startZone(`there.example ${behaviour}`))
    const good = await t.using(startZone(GOOD))
    const resolver = await resolving(t, [bad, worse, good])
    assert.is((await resolver.mx('there.example')).kind, 'found')
  })

test('resolver: all servers are queried before a failure', async t => {
  const first = await t.using(startZone('there.example SERVFAIL'))
  const second = await t.using(startZone('there.example REFUSED'))
  const resolver = await resolving(t, [first, second])
  assert.equal(await resolver.mx('there.example'), {
    kind: 'failure',
    reason: 'the name server answered REFUSED',
  })
  assert.is(first.queries.length, 1)
  assert.is(second.queries.length, 1)
})

test('resolver: no other server is queried after NXDOMAIN or no-data', async t => {
  const first = await t.using(startZone('host.example A 127.0.0.1'))
  const second = await t.using(startZone('nowhere.example MX 10 mx.example'))
  const resolver = await resolving(t, [first, second])
  assert.is((await resolver.mx('nowhere.example')).kind, 'no-domain')
  assert.is((await resolver.mx('host.example')).kind, 'no-data')
  assert.is(second.queries.length, 0)
})

test('resolver: an invalid name is no-domain without a query', async t => {
  const { dns, resolver } = await setUp(t, '')
  const label = 'x'.repeat(63)
  for (const name of [
    '',
    '.',
    'a..example',
    '.example',
    'two words.example',
    'bücher.example',
    'a/b.example',
    'a\\046b.example',
    'a\0b.example',
    '*.example',
    `${'x'.repeat(64)}.example`,
    [label, label, label, label].join('.'),
  ])
    assert.equal(await resolver.mx(name), { kind: 'no-domain' }, name)
  assert.equal(dns.queries, [])
})

test('resolver: underscores, A-labels, a final dot and 253 octets are valid names', async t => {
  const longest = [...Array(3).fill('x'.repeat(63)), 'y'.repeat(61)].join('.')
  const { dns, resolver } = await setUp(t, '*.example TXT "yes"')
  for (const name of ['_dmarc.there.example', 'xn--bcher-kva.example', 'there.example.', 'THERE2.Example'])
    assert.is((await resolver.txt(name)).kind, 'found', name)
  assert.is((await resolver.txt(longest)).kind, 'no-domain')
  assert.is(dns.queries.at(-1)?.name, longest)
})

test('resolver: c-ares does not cache, so a fresh look-up reaches the server', async t => {
  const { dns, resolver } = await setUp(t, 'there.example 300 MX 10 mx.there.example')
  for (let i = 0; i < 3; i++) await resolver.mx('there.example', { fresh: true })
  assert.is(dns.queries.length, 3)
})

test('resolver: an answer is cached and renewed by a fresh look-up', async t => {
  const { dns, resolver } = await setUp(t, 'there.example TXT "old"')
  await resolver.txt('there.example')
  dns.set('there.example TXT "new"')
  assert.equal(await resolver.txt('There.Example.'), { kind: 'found', records: ['old'] })
  assert.equal(await resolver.txt('there.example', { fresh: true }), { kind: 'found', records: ['new'] })
  assert.equal(await resolver.txt('there.example'), { kind: 'found', records: ['new'] })
  assert.is(dns.queries.length, 2)
})

test('resolver: types of one name are cached separately', async t => {
  const { resolver } = await setUp(t, 'there.example A 127.0.0.1')
  assert.is((await resolver.mx('there.example')).kind, 'no-data')
  assert.is((await resolver.addresses4('there.example')).kind, 'found')
  assert.is((await resolver.addresses6('there.example')).kind, 'no-data')
})

test('resolver: a look-up ends within its limit with slow servers', async t => {
  const clock = await t.using(createAdjustableClock())
  const { dns, resolver } = await setUp(t, 'slow.example TIMEOUT', {
    clock,
    totalMs: 20_000,
    timeoutMs: 60_000,
  })
  const requests = resolver.mx('slow.example')
  clock.advance(20_000)
  assert.equal(await requests, { kind: 'failure', reason: 'no answer within 20 s' })
  assert.ok(dns.queries.length <= 1)
})

test('resolver: after close all look-ups fail, including those in progress', async t => {
  const { dns, resolver } = await setUp(t, 'slow.example TIMEOUT')
  const requests = resolver.mx('slow.example')
  while (dns.queries.length === 0) await new Promise(setImmediate)
  const waiting = resolver.txt('slow.example')
  resolver.close()
  assert.equal(await requests, { kind: 'failure', reason: 'the look-up was cancelled' })
  for (const late of [waiting, resolver.mx('slow.example')])
    assert.equal(await late, { kind: 'failure', reason: 'the resolver is closed' })
  assert.is(dns.queries.length, 1)
})

/**
 * A busy machine loses datagrams before they reach a socket; `query-batching.test.ts` counts them per turn.
 */
test('resolver: a burst of look-ups is answered, each once unless the machine loses it', async t => {
  const patience = { tries: 20, timeoutMs: 2_000, totalMs: 120_000 }
  const { dns, resolver } = await setUp(t, '*.many.example MX 10 mx.example', patience)
  const names = Array.from({ length: 2_000 }, (_, i) => `d${i}.many.example`)
  const answers = await Promise.all(names.map(name => resolver.mx(name)))
  assert.equal(
    answers.filter(({ kind }) => kind !== 'found'),
    [],
  )
  assert.is(new Set(dns.queries.map(({ name }) => name)).size, names.length)
})

test('resolver: answers with wrong id, question or port are ignored', async t => {
  const server = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  const stranger = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  t.after(() => [server, stranger].map(socket => socket.close()))
  await Promise.all([once(server, 'listening'), once(stranger, 'listening')])
  server.on('message', (packet, peer) => {
    const query = decodeMessage(packet)
    const reply = (exchange: string, change: object = {}) =>
      encodeMessage(
        {
          ...query,
          edns: undefined,
          flags: FLAG.QR | FLAG.RA,
          answers: [{ name: query.question!.name, ttlSeconds: 60, type: 'MX', preference: 1, exchange }],
          ...change,
        },
        512,
      )
    const other = {
      name: 'other.example',
      type: 'MX',
      class: 1,
      bytes: encodeQuestion('other.example', 'MX'),
    }
    stranger.send(reply('forged-port.example'), peer.port, peer.address, () => {
      server.send(reply('forged-id.example', { id: query.id ^ 1 }), peer.port, peer.address)
      server.send(reply('forged-question.example', { question: other }), peer.port, peer.address)
      server.send(reply('honest.example'), peer.port, peer.address)
    })
  })
  const resolver = await resolving(t, [`127.0.0.1:${server.address().port}`])
  assert.equal(await resolver.mx('there.example'), {
    kind: 'found',
    records: [{ exchange: 'honest.example', preference: 1 }],
  })
})

test.run()
