/** The scripted DNS server of the kit is itself proved here, since every other test believes it. */
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { providerRecords } from '../../../../src/protocols/dns/provider-zone.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import { createDnsServer } from '../../../../src/protocols/dns/server.ts'
import { FLAG, RCODE, type TypeName } from '../../../../src/protocols/dns/wire.ts'
import { decodeMessage, MalformedMessage } from '../../../../src/protocols/dns/wire-decode.ts'
import { createZone } from '../../../../src/protocols/dns/zone.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { startZone } from '../../../kit/zone.ts'
import { askServer, exchangeUdp, queryPacket } from '../../../kit/zone-client.ts'

const test = suite('kit/zone')
const MAIL_HOST = 'mailhorn.example'
const KEY = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`

async function answered(server: string, name: string, type: TypeName) {
  const { rcode, answers } = await askServer(server, name, type)
  return { rcode, data: answers.map(({ name: _, ttlSeconds: __, ...data }) => Object.values(data).join(' ')) }
}

test('each line is a record, as in a zone file', async t => {
  const { server } = await t.using(
    startZone(`
      ; a comment
      # another
      there.example      MX 10 mx.there.example.
      There.Example. 300 A 127.0.0.2
      there.example      AAAA ::2
      there.example      TXT "two " "strings; one text" bare
      there.example      NS ns1.there.example
      there.example      CAA 0 issue "ca.example"
      there.example      SOA ns1.there.example hostmaster.there.example 7
      2.0.0.127.in-addr.arpa PTR mx.there.example
      no-mail.example    MX 0 .`),
  )
  const rows: [string, TypeName, string][] = [
    ['there.example', 'MX', 'MX 10 mx.there.example'],
    ['there.example', 'A', 'A 127.0.0.2'],
    ['there.example', 'AAAA', 'AAAA ::2'],
    ['there.example', 'TXT', 'TXT two strings; one textbare'],
    ['there.example', 'NS', 'NS ns1.there.example'],
    ['there.example', 'CAA', 'CAA 0 issue ca.example'],
    ['there.example', 'SOA', 'SOA ns1.there.example hostmaster.there.example 7 3600 600 86400 60'],
    ['2.0.0.127.in-addr.arpa', 'PTR', 'PTR mx.there.example'],
    ['no-mail.example', 'MX', 'MX 0 '],
  ]
  for (const [name, type, data] of rows)
    assert.equal(await answered(server, name, type), { rcode: RCODE.NOERROR, data: [data] })
  assert.is((await askServer(server, 'there.example', 'A')).answers[0]?.ttlSeconds, 300)
})

test('a line that says nothing known is an error', async () => {
  for (const line of ['there.example', 'there.example MAIL 10 x', 'there.example TXTT "x"'])
    await startZone(line).then(
      () => assert.unreachable(line),
      error => assert.match(error.message, /cannot read/),
    )
})

test('a behaviour is for the whole name, or for one type of it', async t => {
  const { server } = await t.using(
    startZone(`
      all.example  SERVFAIL
      all.example  A 127.0.0.2
      some.example REFUSED MX
      some.example A 127.0.0.2
      gone.example NXDOMAIN
      gone.example A 127.0.0.2`),
  )
  const rcodeOf = async (name: string, type: TypeName) => (await answered(server, name, type)).rcode
  assert.is(await rcodeOf('all.example', 'A'), RCODE.SERVFAIL)
  assert.is(await rcodeOf('some.example', 'MX'), RCODE.REFUSED)
  assert.equal(await answered(server, 'some.example', 'A'), { rcode: RCODE.NOERROR, data: ['A 127.0.0.2'] })
  assert.is(await rcodeOf('gone.example', 'A'), RCODE.NXDOMAIN)
})

test('TRUNCATED is cut over UDP and whole over TCP, MALFORMED cannot be read', async t => {
  const { server } = await t.using(
    startZone('cut.example TRUNCATED\ncut.example A 127.0.0.2\nbad.example MALFORMED'),
  )
  const cut = await askServer(server, 'cut.example', 'A')
  assert.ok(cut.flags & FLAG.TC)
  assert.equal(cut.answers, [])
  assert.is((await askServer(server, 'cut.example', 'A', { transport: 'tcp' })).answers.length, 1)
  const bad = await exchangeUdp(server, queryPacket('bad.example', 'A'))
  assert.throws(
    () => decodeMessage(bad),
    (error: unknown) => error instanceof MalformedMessage,
  )
})

test('unknown names do not exist, names between known ones do, and a star stands for the rest', async t => {
  const { server } = await t.using(
    startZone(`
      a.b.example A 127.0.0.2
      *.many.example A 127.0.0.3
      own.many.example TXT "x"`),
  )
  assert.is((await answered(server, 'x.example', 'A')).rcode, RCODE.NXDOMAIN)
  assert.equal(await answered(server, 'b.example', 'A'), { rcode: RCODE.NOERROR, data: [] })
  assert.equal(await answered(server, 'd7.many.example', 'A'), {
    rcode: RCODE.NOERROR,
    data: ['A 127.0.0.3'],
  })
  assert.equal(await answered(server, 'x.d7.many.example', 'A'), {
    rcode: RCODE.NOERROR,
    data: ['A 127.0.0.3'],
  })
  assert.equal(await answered(server, 'own.many.example', 'A'), { rcode: RCODE.NOERROR, data: [] })
  assert.equal(await answered(server, 'many.example', 'A'), { rcode: RCODE.NOERROR, data: [] })
})

test('the world can change while it runs', async t => {
  const zone = await t.using(startZone('a.example A 127.0.0.1'))
  const at = async (name: string) => (await answered(zone.server, name, 'A')).data[0]
  zone.add('b.example A 127.0.0.2')
  assert.equal([await at('a.example'), await at('b.example')], ['A 127.0.0.1', 'A 127.0.0.2'])
  zone.remove('A.example')
  assert.equal([await at('a.example'), await at('b.example')], [undefined, 'A 127.0.0.2'])
  zone.set('a.example A 127.0.0.3')
  assert.equal([await at('a.example'), await at('b.example')], ['A 127.0.0.3', undefined])
})

test('the ledger has every query in its order', async t => {
  const { server, queries } = await t.using(startZone('a.example A 127.0.0.1'))
  await askServer(server, 'A.Example', 'A')
  await askServer(server, 'b.example', 'MX', { transport: 'tcp' })
  assert.equal(queries, [
    { name: 'a.example', type: 'A', transport: 'udp' },
    { name: 'b.example', type: 'MX', transport: 'tcp' },
  ])
})

test('CNAMEs are chased as a recursive resolver does, or left bare', async t => {
  const text =
    'a.example CNAME B.example\nb.example CNAME c.example\nc.example A 127.0.0.1\nd.example CNAME nowhere.example'
  const chasing = await t.using(startZone(text))
  assert.equal((await answered(chasing.server, 'a.example', 'A')).data, [
    'CNAME B.example',
    'CNAME c.example',
    'A 127.0.0.1',
  ])
  assert.equal((await answered(chasing.server, 'a.example', 'CNAME')).data, ['CNAME B.example'])
  assert.equal(await answered(chasing.server, 'd.example', 'A'), {
    rcode: RCODE.NXDOMAIN,
    data: ['CNAME nowhere.example'],
  })
  const bare = await t.using(startZone(text, { bareCname: true }))
  assert.equal(await answered(bare.server, 'a.example', 'A'), {
    rcode: RCODE.NOERROR,
    data: ['CNAME B.example'],
  })
})

async function providerServer(t: TestContext, keys: Map<string, string>) {
  const server = createDnsServer({
    listen: { host: '127.0.0.1', port: 0 },
    clock: systemClock,
    log: createLog('warn'),
    zone: createZone({
      apex: MAIL_HOST,
      dkim: token => keys.get(token),
      records: providerRecords({
        mailHost: MAIL_HOST,
        nameServers: [`ns1.${MAIL_HOST}`],
        addresses: ['127.0.0.1'],
        regions: ['us-west-2'],
        serial: 1,
      }),
    }),
  })
  const { port } = await server.listen()
  t.after(() => server.close())
  return `127.0.0.1:${port}`
}

test("a customer's CNAME leads through our own name server to the key, and follows its rotation", async t => {
  const keys = new Map([['tok1', KEY]])
  const zone = await t.using(startZone(`tok1._domainkey.customer.example CNAME tok1.dkim.${MAIL_HOST}`))
  zone.forward(MAIL_HOST, await providerServer(t, keys))
  const resolver = await t.using(createResolver({ servers: [zone.server], clock: systemClock }))
  const check = () => resolver.txt('tok1._domainkey.customer.example', { fresh: true })
  assert.equal(await check(), { kind: 'found', records: [KEY] })
  keys.set('tok1', 'v=DKIM1; p=')
  assert.equal(await check(), { kind: 'found', records: ['v=DKIM1; p='] })
  keys.delete('tok1')
  assert.equal(await check(), { kind: 'no-domain' })
  assert.equal(await resolver.mx(MAIL_HOST), {
    kind: 'found',
    records: [{ exchange: MAIL_HOST, preference: 10 }],
  })
  assert.is((await resolver.addresses4(`feedback-smtp.us-west-2.${MAIL_HOST}`)).kind, 'found')
  assert.equal(await resolver.txt(`dkim.${MAIL_HOST}`), { kind: 'no-data' })
})

test('when the server forwarded to is away, or refuses, that is SERVFAIL', async t => {
  const zone = await t.using(startZone())
  zone.forward('away.example', '127.0.0.1:9')
  zone.forward('lame.example', await providerServer(t, new Map()))
  for (const name of ['away.example', 'x.lame.example'])
    assert.is((await answered(zone.server, name, 'A')).rcode, RCODE.SERVFAIL)
})

test.run()
