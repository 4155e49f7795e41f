/** The provider zone as the running service serves it. */
import { createSocket } from 'node:dgram'
import { readdirSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { FLAG, RCODE, type TypeName } from '../../../src/protocols/dns/wire.ts'
import { decodeMessage } from '../../../src/protocols/dns/wire-decode.ts'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { askServer, queryPacket } from '../../kit/zone-client.ts'

const test = suite('dns/provider zone')
const HOST = 'mailhorn.test'
const dataOf = async (server: string, name: string, type: TypeName, transport: 'udp' | 'tcp' = 'udp') =>
  (await askServer(server, name, type, { transport })).answers.map(
    ({ name: _, ttlSeconds: __, type: ___, ...data }) => Object.values(data).join(' '),
  )
const serverOf = ({ app }: Mailhorn) => `127.0.0.1:${app.dnsAddress!.port}`

test('it is served at every address over UDP and TCP as configured', async t => {
  const port = await freePort()
  const mailhorn = await t.using(
    startMailhorn({
      dns: true,
      env: {
        MAILHORN_DNS_LISTEN: `127.0.0.1:${port},[::1]:${port}`,
        MAILHORN_DNS_ADDRESSES: '192.0.2.1,2001:db8::1',
        MAILHORN_DNS_NAME_SERVERS: `ns.${HOST},ns.elsewhere.example`,
        MAILHORN_DNS_RECORDS: '@ CAA 0 issue "ca.example"; www A 192.0.2.9',
        MAILHORN_DNS_REPORTS_TO: 'reports@there.example',
      },
    }),
  )
  assert.is(mailhorn.app.dnsAddress!.port, port)
  for (const server of [`127.0.0.1:${port}`, `[::1]:${port}`])
    for (const transport of ['udp', 'tcp'] as const) {
      const seen = (name: string, type: TypeName) => dataOf(server, name, type, transport)
      assert.equal(await seen(HOST, 'NS'), [`ns.${HOST}`, 'ns.elsewhere.example'])
      assert.equal(await seen(HOST, 'TXT'), ['v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 -all'])
      assert.equal(await seen(`ns.${HOST}`, 'A'), ['192.0.2.1'])
      assert.equal(await seen(`feedback-smtp.us-west-2.${HOST}`, 'AAAA'), ['2001:db8::1'])
      assert.equal(await seen(HOST, 'CAA'), ['0 issue ca.example'])
      assert.equal(await seen(`www.${HOST}`, 'A'), ['192.0.2.9'])
      assert.equal(await seen(`_smtp._tls.${HOST}`, 'TXT'), ['v=TLSRPTv1; rua=mailto:reports@there.example'])
    }
})

test('it is served at wildcard addresses of both families', async t => {
  const port = await freePort()
  const mailhorn = await t.using(
    startMailhorn({
      dns: true,
      env: {
        MAILHORN_DNS_LISTEN: `0.0.0.0:${port},[::]:${port}`,
        MAILHORN_DNS_ADDRESSES: '192.0.2.1',
      },
    }),
  )
  assert.equal(mailhorn.app.dnsAddress, { host: '0.0.0.0', port })
  for (const server of [`127.0.0.1:${port}`, `[::1]:${port}`])
    for (const transport of ['udp', 'tcp'] as const)
      assert.equal(await dataOf(server, HOST, 'A', transport), ['192.0.2.1'])
})

test('a key is served from creation to deletion of its domain', async t => {
  const mailhorn = await t.using(startMailhorn({ dns: true }))
  const session = await mailhorn.signIn()
  const server = serverOf(mailhorn)
  const { body: domain } = await mailhorn.call('POST', '/domains', {
    session,
    body: { name: 'here.example' },
  })
  for (const { record, value } of domain.records.filter(({ type }: { type: string }) => type === 'CNAME'))
    assert.match((await dataOf(server, value, 'TXT')).join(), /^v=DKIM1; k=(rsa|ed25519); p=\S+$/, record)
  const [, { value }] = domain.records
  await mailhorn.call('DELETE', `/domains/${domain.id}`, { session })
  await until(async () => (await askServer(server, value, 'TXT')).rcode === RCODE.NXDOMAIN)
})

async function serialOf(mailhorn: Mailhorn): Promise<number> {
  const [soa] = (await askServer(serverOf(mailhorn), HOST, 'SOA')).answers
  return soa?.type === 'SOA' ? soa.serial : -1
}

/** Waits until the served serial is the listed one. @returns it */
async function settledSerial(mailhorn: Mailhorn, session: string): Promise<number> {
  const { body } = await mailhorn.call('GET', '/dns/records?limit=1', { session })
  const listed = Number(/ (\d+) 3600 600 /.exec(body.data[0].line)![1])
  await until(async () => (await serialOf(mailhorn)) === listed)
  return listed
}

test('the serial increases with every change of the zone, and only then, also over restarts', async t => {
  const { path: dataDir } = await t.using(tempFolder())
  const env = { MAILHORN_DNS_ADDRESSES: '192.0.2.1' }
  const first = await startMailhorn({ dns: true, dataDir, env })
  const session = await first.signIn()
  const begun = await settledSerial(first, session)
  const { body: domain } = await first.call('POST', '/domains', { session, body: { name: 'here.example' } })
  const added = await settledSerial(first, session)
  assert.ok(added > begun)
  first.clock.advance(3_600_000)
  await first.call('POST', `/domains/${domain.id}/verify`, { session })
  assert.is(await settledSerial(first, session), added)
  await first.call('DELETE', `/domains/${domain.id}`, { session })
  const deleted = await settledSerial(first, session)
  assert.ok(deleted > added)
  await first.close()
  const again = await startMailhorn({ dns: true, dataDir, env })
  assert.is(await serialOf(again), deleted)
  await again.close()
  const other = await t.using(
    startMailhorn({ dns: true, dataDir, env: { MAILHORN_DNS_ADDRESSES: '192.0.2.2' } }),
  )
  assert.ok((await serialOf(other)) > deleted)
})

test('the configured rate limits equal queries of a network', async t => {
  const mailhorn = await t.using(
    startMailhorn({ dns: true, env: { MAILHORN_DNS_RESPONSES_PER_SECOND: '4' } }),
  )
  const socket = createSocket('udp4')
  t.after(() => socket.close())
  const isTruncated: boolean[] = []
  socket.on('message', reply => isTruncated.push((decodeMessage(reply).flags & FLAG.TC) !== 0))
  // the default rate would have all of them answered
  for (let id = 1; id <= 12; id++)
    socket.send(queryPacket(HOST, 'SOA', { id }), mailhorn.app.dnsAddress!.port, '127.0.0.1')
  await until(() => isTruncated.includes(true))
  assert.is(isTruncated[0], false)
})

test('a disabled zone is not served, and its records can be listed', async t => {
  const mailhorn = await t.using(
    startMailhorn({ dns: true, env: { MAILHORN_DNS_LISTEN: '', MAILHORN_DNS_ADDRESSES: '192.0.2.1' } }),
  )
  assert.is(mailhorn.app.dnsAddress, null)
  const session = await mailhorn.signIn()
  const { body: domain } = await mailhorn.call('POST', '/domains', {
    session,
    body: { name: 'here.example' },
  })
  const page = async (limit: number, offset: number) =>
    (await mailhorn.call('GET', `/dns/records?limit=${limit}&offset=${offset}`, { session })).body
  const all = await page(100, 0)
  assert.equal([all.data.length, all.has_more], [all.total, false])
  const lines: string[] = all.data.map(({ line }: { line: string }) => line)
  assert.ok(lines.includes(`${HOST}. 3600 IN TXT "v=spf1 ip4:192.0.2.1 -all"`))
  assert.ok(lines.includes(`ns2.${HOST}. 3600 IN A 192.0.2.1`))
  for (const { value } of domain.records.filter(({ type }: { type: string }) => type === 'CNAME'))
    assert.is(lines.filter(line => line.startsWith(`${value}. 300 IN TXT "v=DKIM1; k=`)).length, 1)
  const pieces = await Promise.all(Array.from({ length: Math.ceil(all.total / 4) }, (_, i) => page(4, i * 4)))
  assert.equal(
    pieces.flatMap(({ data }) => data),
    all.data,
  )
})

test('an invalid record prevents the start with a reason', async () => {
  try {
    const mailhorn = await startMailhorn({
      dns: true,
      env: { MAILHORN_DNS_RECORDS: 'www.elsewhere.example. A 192.0.2.1' },
    })
    await mailhorn.close()
    assert.unreachable()
  } catch (error) {
    assert.match((error as Error).message, /www\.elsewhere\.example lies outside/)
  }
})

test('a port in use prevents the start and is named', async t => {
  const first = await t.using(startMailhorn({ dns: true }))
  const { port } = first.app.dnsAddress!
  try {
    const second = await startMailhorn({ dns: true, env: { MAILHORN_DNS_LISTEN: `127.0.0.1:${port}` } })
    await second.close()
    assert.unreachable()
  } catch (error) {
    assert.match((error as Error).message, new RegExp(`EADDRINUSE.* 127\\.0\\.0\\.1:${port}`))
  }
})

test('queries are answered by one low-priority thread', async t => {
  const nicenesses = () =>
    readdirSync('/proc/self/task').map(id =>
      Number(readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[16]),
    )
  const own = nicenesses()[0]!
  const mailhorn = await t.using(startMailhorn({ dns: true }))
  assert.equal((await askServer(serverOf(mailhorn), HOST, 'SOA')).rcode, RCODE.NOERROR)
  assert.equal(
    nicenesses().filter(niceness => niceness !== own),
    [10],
  )
})

test.run()
