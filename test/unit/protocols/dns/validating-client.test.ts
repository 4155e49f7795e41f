import { createSocket } from 'node:dgram'
import * as assert from 'uvu/assert'
import { serverOf } from '../../../../src/protocols/dns/query.ts'
import { createValidatingClient } from '../../../../src/protocols/dns/validating-client.ts'
import { FLAG } from '../../../../src/protocols/dns/wire.ts'
import { decodeMessage } from '../../../../src/protocols/dns/wire-decode.ts'
import { encodeMessage } from '../../../../src/protocols/dns/wire-encode.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { startZone } from '../../../kit/zone.ts'

const test = suite('dns/validating-client')
const ZONE = `
  mx.signed.test     120 A 127.0.0.2
  alias.signed.test  CNAME mx.signed.test
  away.signed.test   CNAME mx.plain.test
  mx.plain.test      A 127.0.0.3
  bogus.signed.test  SERVFAIL
  long.signed.test   A 127.0.0.4
  long.signed.test   TRUNCATED
  _25._tcp.mx.signed.test TLSA 3 1 1 0102
`

async function open(t: TestContext) {
  const zone = await t.using(startZone(ZONE, { signed: ['signed.test'] }))
  const clock = createManualClock()
  const client = await t.using(createValidatingClient({ server: zone.server, clock }))
  return { zone, clock, client }
}

for (const [name, type, kind, secure] of [
  ['mx.signed.test', 'A', 'found', true],
  ['alias.signed.test', 'A', 'found', true],
  ['away.signed.test', 'A', 'found', false],
  ['mx.plain.test', 'A', 'found', false],
  ['none.signed.test', 'A', 'none', true],
  ['mx.signed.test', 'AAAA', 'none', true],
  ['none.plain.test', 'A', 'none', false],
  ['long.signed.test', 'A', 'found', true],
] as const)
  test(`${type} of ${name}: ${kind}, ${secure ? '' : 'not '}vouched for`, async t => {
    const { client } = await open(t)
    const answer = await client.ask(name, type)
    assert.equal([answer.kind, answer.kind !== 'failure' && answer.secure], [kind, secure])
  })

test('validating client: a name that does not validate is a failure', async t => {
  const { client } = await open(t)
  assert.equal(await client.ask('bogus.signed.test', 'A'), {
    kind: 'failure',
    reason: 'the validating resolver answered with code 2',
  })
})

test('validating client: TLSA records are returned as octets', async t => {
  const { client } = await open(t)
  const answer = await client.ask('_25._tcp.mx.signed.test', 'TLSA')
  const [record] = answer.kind === 'found' ? answer.answers : []
  assert.ok(record?.type === 'TLSA')
  assert.equal([...record.bytes], [3, 1, 1, 1, 2])
})

test('validating client: answers are cached for their TTL; a fresh look-up queries', async t => {
  const { client, zone, clock } = await open(t)
  const ask = () => client.ask('mx.signed.test', 'A')
  await Promise.all([ask(), ask()])
  clock.advance(119_000)
  await ask()
  assert.is(zone.queries.length, 1)
  await client.ask('mx.signed.test', 'A', { fresh: true })
  assert.is(zone.queries.length, 2)
  clock.advance(120_000)
  await ask()
  assert.is(zone.queries.length, 3)
})

test('validating client: an absent or silent resolver is a failure', async t => {
  const clock = createManualClock()
  const silent = createSocket('udp4')
  let requests = 0
  silent.on('message', () => void requests++)
  await new Promise<void>(resolve => silent.bind(0, '127.0.0.1', resolve))
  t.after(() => silent.close())
  const client = await t.using(
    createValidatingClient({
      server: `127.0.0.1:${silent.address().port}`,
      clock,
      tries: 2,
      timeoutMs: 1_000,
    }),
  )
  const asking = client.ask('mx.signed.test', 'A')
  await until(() => requests === 1)
  clock.advance(1_000)
  await until(() => requests === 2)
  clock.advance(1_000)
  assert.match(((await asking) as { reason: string }).reason, /nothing within 1 s/)
  const absent = await t.using(createValidatingClient({ server: '127.0.0.1:1', clock }))
  assert.match(((await absent.ask('mx.signed.test', 'A')) as { reason: string }).reason, /ECONNREFUSED/)
})

test('validating client: packets that do not answer the query are ignored', async t => {
  const forger = createSocket('udp4')
  forger.on('message', (packet, { port, address }) => {
    const query = decodeMessage(packet)
    const reply = (over: object) =>
      forger.send(
        encodeMessage({ ...query, flags: FLAG.QR | FLAG.AD, edns: undefined, ...over }, 512),
        port,
        address,
      )
    forger.send(Buffer.from('junk'), port, address)
    reply({ id: (query.id + 1) % 65_536, rcode: 2 })
    reply({ flags: 0, rcode: 2 })
    reply({
      question: { ...query.question!, bytes: Buffer.from('\x05other\x04test\x00\x00\x01\x00\x01', 'latin1') },
      rcode: 2,
    })
    reply({ rcode: 3 })
  })
  await new Promise<void>(resolve => forger.bind(0, '127.0.0.1', resolve))
  t.after(() => forger.close())
  const server = `127.0.0.1:${forger.address().port}`
  const client = await t.using(createValidatingClient({ server, clock: createManualClock() }))
  assert.equal(await client.ask('mx.signed.test', 'A'), { kind: 'none', secure: true })
})

test('validating client: a server is an address with or without port', () => {
  assert.equal(serverOf('127.0.0.1'), { host: '127.0.0.1', port: 53 })
  assert.equal(serverOf('127.0.0.1:5353'), { host: '127.0.0.1', port: 5353 })
  assert.equal(serverOf('[::1]:5353'), { host: '::1', port: 5353 })
  assert.equal(serverOf('[::1]'), { host: '::1', port: 53 })
})

test.run()
