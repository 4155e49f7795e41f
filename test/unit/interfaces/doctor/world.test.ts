import { createServer, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { blocklists } from '../../../../src/interfaces/doctor/blocklists.ts'
import { mailFilters } from '../../../../src/interfaces/doctor/filters.ts'
import type { Examination } from '../../../../src/interfaces/doctor/finding.ts'
import { inboundMail } from '../../../../src/interfaces/doctor/inbound.ts'
import { reverseNames } from '../../../../src/interfaces/doctor/names.ts'
import { outboundPort } from '../../../../src/interfaces/doctor/outbound-port.ts'
import { providerZone } from '../../../../src/interfaces/doctor/provider-zone.ts'
import { systemClock } from '../../../../src/lib/clock.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import { createCheckSessions } from '../../../../src/resources/domains/check-session.ts'
import { startFakeMx } from '../../../kit/fake-mx.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { startZone } from '../../../kit/zone.ts'
import { atOnce, startFilter } from '../../pipeline/inbound/verdicts/scripted-filters.ts'

const test = suite('doctor: the world')
const clock = systemClock
const ADDRESS = '192.0.2.25'

async function resolverOver(t: TestContext, text: string) {
  const zone = await t.using(startZone(text))
  const resolver = createResolver({ servers: [zone.server], clock, timeoutMs: 10_000, tries: 1 })
  t.after(() => resolver.close())
  return { zone, resolver }
}

async function check({ examine }: Examination) {
  const findings = await examine(new AbortController().signal)
  return findings.map(({ subject, status, message, advice }) => ({ subject, status, message, advice }))
}

const LIST = 'bl.test'
const TEST_NIBBLES = `0.0.0.0.0.0.f.7.f.f.f.f${'.0'.repeat(20)}`
/** Entries that every list has. */
const testEntries = (list: string) =>
  `2.0.0.127.${list} A 127.0.0.2\n2.${TEST_NIBBLES.slice(2)}.${list} A 127.0.0.2`
const EMPTY_LIST = testEntries(LIST)
for (const [what, lines, status, says] of [
  ['is not on', EMPTY_LIST, 'ok', /Not listed/],
  ['is not on, because it does not exist,', '', 'unknown', /does not list its test address/],
  [
    'is not on, because it has no entries,',
    `other.${LIST} A 127.0.0.2`,
    'unknown',
    /does not list its test address/,
  ],
  ['cannot be told from', `2.0.0.127.${LIST} SERVFAIL`, 'unknown', /does not list its test address/],
  [
    'is not told the truth about by',
    `2.0.0.127.${LIST} A 203.0.113.1`,
    'unknown',
    /does not list its test address/,
  ],
  ['is on, like all addresses,', `*.${LIST} A 127.0.0.2`, 'unknown', /may have been shut down/],
  [
    'is on',
    `${EMPTY_LIST}\n25.2.0.192.${LIST} A 127.0.0.2\n25.2.0.192.${LIST} TXT "see bl.test/192.0.2.25"`,
    'failed',
    /127\.0\.0\.2.*see bl\.test/,
  ],
  [
    'is told nothing by',
    `25.2.0.192.${LIST} A 127.255.255.254`,
    'unknown',
    /as is common for public resolvers/,
  ],
  [
    'is told nothing by (typing error)',
    `25.2.0.192.${LIST} A 127.255.255.252`,
    'unknown',
    /refuses queries from this resolver/,
  ],
  ['gets an advertisement from', `*.${LIST} A 203.0.113.1`, 'unknown', /may have been shut down/],
  ['gets no answer from', `25.2.0.192.${LIST} SERVFAIL`, 'unknown', /SERVFAIL/],
] as const)
  test(`blocklist: an address that ${what} a list`, async t => {
    const { resolver } = await resolverOver(t, lines)
    const [finding] = await check(blocklists({ resolver, addresses: [ADDRESS], lists: [LIST] }))
    assert.equal([finding!.status, finding!.subject], [status, `${ADDRESS} ${LIST}`])
    assert.match(finding!.message, says)
    assert.is(finding!.advice !== null, status === 'failed')
  })

test('blocklist: every address is looked up in every list, IPv6 by nibbles', async t => {
  const name = `${'1.0.0.0.'.padEnd(46, '0.')}0.8.b.d.0.1.0.0.2.${LIST}`
  const nibbles = `1${'.0'.repeat(23)}.8.b.d.0.1.0.0.2.${LIST}`
  assert.ok(name)
  const lists = [LIST, 'other.test'].map(testEntries).join('\n')
  const { resolver } = await resolverOver(t, `${lists}\n${nibbles} A 127.0.0.4`)
  const findings = await check(
    blocklists({ resolver, addresses: [ADDRESS, '2001:db8::1'], lists: [LIST, 'other.test'] }),
  )
  assert.equal(
    findings.map(({ subject, status }) => `${subject} ${status}`),
    [
      `${ADDRESS} ${LIST} ok`,
      `${ADDRESS} other.test ok`,
      `2001:db8::1 ${LIST} failed`,
      '2001:db8::1 other.test ok',
    ],
  )
})

const ZONE = 'big.test MX 10 mx.big.test\nmx.big.test A 127.0.0.2\nempty.test A 127.0.0.1'

test('outbound port 25: it is open when one probe sends a greeting', async t => {
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const { resolver } = await resolverOver(t, ZONE)
  const options = { resolver, clock, port: mx.port, isAllowed: () => true, smartHost: null }
  const [open] = await check(outboundPort({ ...options, probes: ['empty.test', 'big.test'] }))
  assert.is(open!.status, 'ok')
  assert.match(open!.message, /mx\.big\.test responded with "220 /)
  const [lost] = await check(outboundPort({ ...options, probes: ['empty.test', 'nowhere.test'] }))
  assert.equal(
    [lost!.status, lost!.message],
    ['unknown', 'No mail server could be tested (empty.test: no MX record; nowhere.test: no MX record).'],
  )
  const [forbidden] = await check(outboundPort({ ...options, probes: ['big.test'], isAllowed: () => false }))
  assert.is(forbidden!.status, 'unknown')
  assert.equal(await check(outboundPort({ ...options, probes: [] })), [])
})

test('outbound port 25: it is closed when no probe can be reached, with advice', async t => {
  const { resolver } = await resolverOver(t, ZONE)
  const port = await closedPort()
  const [closed] = await check(
    outboundPort({ resolver, clock, port, isAllowed: () => true, smartHost: null, probes: ['big.test'] }),
  )
  assert.is(closed!.status, 'failed')
  assert.match(closed!.message, /blocked \(mx\.big\.test: .*ECONNREFUSED/)
  assert.match(closed!.advice!, /delivery\.smart_host/)
})

test('outbound: a smart host is checked instead of port 25', async t => {
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const { resolver } = await resolverOver(t, 'relay.test A 127.0.0.2')
  const options = { resolver, clock, port: 25, probes: ['big.test'], isAllowed: () => true }
  const [good] = await check(outboundPort({ ...options, smartHost: { host: 'relay.test', port: mx.port } }))
  assert.equal([good!.status, good!.subject], ['ok', `relay.test:${mx.port}`])
  const smartHost = { host: 'relay.test', port: await closedPort() }
  assert.is((await check(outboundPort({ ...options, smartHost })))[0]!.status, 'failed')
})

test('outbound: a smart host that waits for TLS accepts connections, one that hangs up does not respond', async t => {
  const clock = createManualClock()
  const connected = Promise.withResolvers<void>()
  const silent = await listening(t, () => connected.resolve())
  const { resolver } = await resolverOver(t, '')
  const options = { resolver, clock, port: 25, probes: [], isAllowed: () => true }
  const looking = check(outboundPort({ ...options, smartHost: { host: '127.0.0.2', port: silent } }))
  await connected.promise
  clock.advance(8_000)
  const [waiting] = await looking
  assert.equal([waiting!.status, waiting!.message], ['ok', 'The smart host accepts connections.'])
  const closing = await listening(t, socket => socket.end())
  const [gone] = await check(outboundPort({ ...options, smartHost: { host: '127.0.0.2', port: closing } }))
  assert.is(gone!.status, 'failed')
  assert.match(gone!.message, /connection closed/)
  assert.is(clock.timerCount, 0)
})

test('reverse DNS: PTR and EHLO names must resolve to the address', async t => {
  const { resolver, zone } = await resolverOver(
    t,
    `25.2.0.192.in-addr.arpa PTR mail.here.test\nmail.here.test A ${ADDRESS}`,
  )
  const names = (ehlo: string) => check(reverseNames({ resolver, addresses: [{ address: ADDRESS, ehlo }] }))
  assert.is((await names('mail.here.test'))[0]!.status, 'ok')
  const [wrong] = await names('other.here.test')
  assert.equal([wrong!.status, wrong!.subject], ['failed', ADDRESS])
  assert.match(wrong!.advice!, /PTR \(reverse DNS\) record/)
  zone.add('26.2.0.192.in-addr.arpa SERVFAIL')
  const lost = await check(
    reverseNames({ resolver, addresses: [{ address: '192.0.2.26', ehlo: 'mail.here.test' }] }),
  )
  assert.is(lost[0]!.status, 'unknown')
  assert.is((await check(reverseNames({ resolver, addresses: [] })))[0]!.status, 'warning')
})

test('inbound SMTP: the MX of the provider host must reach this service', async t => {
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const { resolver, zone } = await resolverOver(t, 'mail.test MX 10 mx.mail.test\nmx.mail.test A 127.0.0.2')
  const inbound = (mailHost: string, port = mx.port) =>
    check(inboundMail({ resolver, clock, mailHost, port, isAllowed: () => true }))
  assert.is((await inbound('mail.test'))[0]!.status, 'ok')
  assert.is((await inbound('mail.test', await closedPort()))[0]!.status, 'warning')
  assert.is((await inbound('none.test'))[0]!.status, 'failed')
  zone.add('lost.test SERVFAIL')
  assert.is((await inbound('lost.test'))[0]!.status, 'unknown')
  zone.add('bare.test MX 10 mx.bare.test')
  const [bare] = await inbound('bare.test')
  assert.equal(
    [bare!.status, bare!.subject, bare!.message, bare!.advice],
    ['failed', 'mx.bare.test', 'No A or AAAA record.', 'Add the address to dns.addresses.'],
  )
})

test('filters: a configured filter must respond in its protocol', async t => {
  const clamd = await startFilter(t, atOnce('PONG\0'))
  const none = { rspamdUrl: null, spamd: null, clamd: null }
  const filters = (configured: object) => check(mailFilters({ filters: { ...none, ...configured }, clock }))
  assert.equal(await filters({}), [])
  const [good] = await filters({ clamd: clamd.address })
  assert.equal([good!.subject, good!.status], ['clamd', 'ok'])
  const gone = { host: '127.0.0.1', port: await closedPort() }
  const both = await filters({ spamd: clamd.address, clamd: gone })
  assert.equal(
    both.map(({ subject, status }) => [subject, status]),
    [
      ['spamd', 'warning'],
      ['clamd', 'warning'],
    ],
  )
  assert.match(both[0]!.message, /instead of PONG/)
  assert.match(both[1]!.message, /ECONNREFUSED/)
  assert.match(both[1]!.advice!, /virus\.clamd/)
  const [web] = await filters({ rspamdUrl: `http://127.0.0.1:${gone.port}` })
  assert.equal([web!.subject, web!.status], ['rspamd', 'warning'])
})

const RECORDS = [
  { name: 'mail.here.test', ttlSeconds: 60, type: 'A', address: '192.0.2.1' },
  { name: 'mail.here.test', ttlSeconds: 60, type: 'TXT', text: 'v=spf1 ip4:192.0.2.1 -all' },
  { name: 'mail.here.test', ttlSeconds: 60, type: 'MX', preference: 10, exchange: 'mail.here.test' },
] as const
const KEY = { name: 'one.dkim.mail.here.test', ttlSeconds: 60, type: 'TXT', text: 'v=DKIM1; p=KEY' } as const
const SERVED = `
  mail.here.test A 192.0.2.1
  mail.here.test TXT "v=spf1 ip4:192.0.2.1 -all"
  mail.here.test MX 10 mail.here.test
  one.dkim.mail.here.test TXT "v=DKIM1; p=KEY"
  _dmarc.mail.here.test TXT "v=DMARC1; p=reject"
`

async function zoneLook(
  t: TestContext,
  seen: string,
  { laboratory = false, served = true, reportsTo = null as string | null } = {},
) {
  const authority = await t.using(
    startZone(`mail.here.test SOA ns1.mail.here.test h.test 1\n${SERVED}`, {
      host: '127.0.0.9',
      authoritative: true,
    }),
  )
  const delegated = served ? 'mail.here.test NS ns1.mail.here.test\nns1.mail.here.test A 127.0.0.9\n' : ''
  const zone = await t.using(startZone(delegated + seen))
  const inquiries = createCheckSessions({
    servers: [zone.server],
    clock,
    authorityPort: Number(authority.server.split(':')[1]),
    allowPrivateAddresses: true,
    timeoutMs: 10_000,
    tries: 1,
  })
  t.after(() => inquiries.close())
  const examinations = providerZone({
    ...{ mailHost: 'mail.here.test', inquiries, records: RECORDS, laboratory, reportsTo },
    sampleKeys: async () => [KEY],
  })
  const found = await Promise.all(examinations.map(check))
  return found.map(findings => findings.map(({ status }) => status).join(' '))
}

test('provider zone: correct public records are ok', async t => {
  assert.equal(await zoneLook(t, SERVED), ['ok', 'ok', 'ok', 'ok'])
})

const CONSENT_NAME = 'mail.here.test._report._dmarc.reports.example'
for (const [what, reportsTo, lines, expected] of [
  ['no address', null, '', 'ok'],
  ['an address of mail_host', 'dmarc@mail.here.test', '', 'ok'],
  ['an address of the same organization', 'dmarc@Other.HERE.test', '', 'ok'],
  ['a foreign address', 'x@reports.example', '', 'ok warning'],
  ['a foreign address that agrees', 'x@reports.example', `${CONSENT_NAME} TXT "v=DMARC1"`, 'ok ok'],
  [
    'a foreign address that agrees with an address of its own',
    'x@Reports.Example',
    `${CONSENT_NAME} TXT "v=DMARC1; rua=mailto:y@reports.example"`,
    'ok ok',
  ],
  [
    'a foreign address that agrees to all',
    'x@reports.example',
    `*._report._dmarc.reports.example TXT "v=DMARC1;"`,
    'ok ok',
  ],
  [
    'a foreign address with another text',
    'x@reports.example',
    `${CONSENT_NAME} TXT "v=DMARC11"`,
    'ok warning',
  ],
  [
    'a foreign address that cannot be looked up',
    'x@reports.example',
    `${CONSENT_NAME} SERVFAIL`,
    'ok unknown',
  ],
] as const)
  test(`provider zone: with reports to ${what}, DMARC is ${expected}`, async t => {
    const [, , , dmarc] = await zoneLook(t, `${SERVED}\n${lines}`, { reportsTo })
    assert.is(dmarc, expected)
  })

test('provider zone: a missing delegation or record fails', async t => {
  assert.equal(await zoneLook(t, '', { served: false }), [
    'failed',
    'failed failed failed',
    'failed',
    'warning',
  ])
  const old = SERVED.replace('p=KEY', 'p=OLD').replace('-all', '?all').replace('p=reject', 'p=all')
  assert.equal(await zoneLook(t, old), ['ok', 'failed', 'failed', 'failed'])
})

test('provider zone: silent resolvers give unknown', async t => {
  const [, records, keys] = await zoneLook(t, '*.here.test SERVFAIL\nmail.here.test SERVFAIL', {
    served: false,
  })
  assert.equal([records, keys], ['unknown unknown unknown', 'unknown'])
})

test('provider zone: a reserved name is reported as not delegable', async t => {
  assert.equal(await zoneLook(t, SERVED, { laboratory: true }), Array(4).fill('warning'))
})

/** Returns a port of 127.0.0.2 that accepts connections and says nothing. */
async function listening(t: TestContext, onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.2', resolve))
  t.after(() => new Promise(resolve => server.close(resolve)))
  return (server.address() as { port: number }).port
}

/** Returns a port of 127.0.0.2 on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.2', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

test.run()
