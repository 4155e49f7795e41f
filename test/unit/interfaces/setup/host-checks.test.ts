import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import * as assert from 'uvu/assert'
import type { Examination } from '../../../../src/interfaces/doctor/finding.ts'
import {
  freePorts,
  ownAddresses,
  parentDelegation,
  pointers,
  reservedName,
} from '../../../../src/interfaces/setup/host-checks.ts'
import { systemClock as clock } from '../../../../src/lib/clock.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import { createCheckSessions } from '../../../../src/resources/domains/check-session.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { startZone } from '../../../kit/zone.ts'

const test = suite('setup: checks of the host')
const MAIL_HOST = 'mail.example.com'
const ADDRESS = '203.0.113.7'
const UNSEEN = 'Whether firewalls let connections through cannot be checked from here.'

async function check({ examine }: Examination) {
  const findings = await examine(new AbortController().signal)
  return findings.map(({ subject, status, message }) => [status, subject, message])
}

test('addresses: one that no interface has is a warning', async () => {
  assert.equal(await check(ownAddresses([ADDRESS, '203.0.113.8'], [ADDRESS, '10.0.0.4'])), [
    ['ok', ADDRESS, 'The address is assigned to a network interface of this host.'],
    ['warning', '203.0.113.8', 'No network interface of this host has this address.'],
  ])
})

test('ports: those that another program uses are found, by TCP and by UDP', async t => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => void socket.close())
  const [tcp, udp] = [(server.address() as AddressInfo).port, socket.address().port]
  const taken = [
    { host: '127.0.0.1', port: tcp, transport: 'tcp' as const },
    { host: '127.0.0.1', port: udp, transport: 'udp' as const },
  ]
  assert.equal(await check(freePorts(taken)), [
    ['failed', `127.0.0.1:${tcp} (TCP)`, 'Another program uses the port.'],
    ['failed', `127.0.0.1:${udp} (UDP)`, 'Another program uses the port.'],
  ])
  assert.equal(await check(freePorts(taken, true)), [
    [
      'ok',
      null,
      `Ports ${[tcp, udp].sort((a, b) => a - b).join(', ')} are free on this host, or used by the running service. ${UNSEEN}`,
    ],
  ])
  const free = [{ host: '127.0.0.1', port: 0, transport: 'tcp' as const }]
  assert.equal(await check(freePorts(free)), [['ok', null, `Ports 0 are free on this host. ${UNSEEN}`]])
  const elsewhere = [{ host: ADDRESS, port: 0, transport: 'udp' as const }]
  assert.equal(await check(freePorts(elsewhere)), [
    ['failed', `${ADDRESS}:0 (UDP)`, 'This host does not have the address.'],
  ])
})

for (const [lines, status, message] of [
  ['7.113.0.203.in-addr.arpa PTR Mail.Example.com', 'ok', 'The PTR record names mail.example.com.'],
  ['7.113.0.203.in-addr.arpa PTR vps-7.provider.test', 'failed', 'The PTR record names vps-7.provider.test.'],
  ['', 'failed', 'There is no PTR record.'],
  ['7.113.0.203.in-addr.arpa SERVFAIL', 'unknown', /^The PTR record could not be looked up: /],
] as const)
  test(`PTR: ${lines || 'none'}`, async t => {
    const zone = await t.using(startZone(lines))
    const resolver = createResolver({ servers: [zone.server], clock, tries: 1 })
    t.after(() => resolver.close())
    const [found] = await check(pointers({ resolver, addresses: [ADDRESS], mailHost: MAIL_HOST }))
    assert.equal(found!.slice(0, 2), [status, ADDRESS])
    if (typeof message === 'string') assert.is(found![2], message)
    else assert.match(String(found![2]), message)
  })

/** The name server of `example.com`, and the resolver that leads to it. */
async function delegationIn(t: TestContext, lines: string, isDelegated = true) {
  const parent = await t.using(
    startZone(`example.com NS ns.example.com\n${lines}`, {
      host: '127.0.0.2',
      authoritative: true,
      delegates: isDelegated ? [MAIL_HOST] : [],
    }),
  )
  const resolver = await t.using(startZone('example.com NS ns.example.com\nns.example.com A 127.0.0.2'))
  const inquiries = createCheckSessions({
    servers: [resolver.server],
    clock,
    authorityPort: Number(parent.server.split(':').at(-1)),
    allowPrivateAddresses: true,
  })
  t.after(() => inquiries.close())
  return check(parentDelegation({ mailHost: MAIL_HOST, addresses: [ADDRESS], inquiries }))
}

const NAMES = `${MAIL_HOST} NS ns1.${MAIL_HOST}\n${MAIL_HOST} NS ns2.${MAIL_HOST}\n`

test('delegation: the parent zone has both name servers and their addresses', async t => {
  const glue = `ns1.${MAIL_HOST} A ${ADDRESS}\nns2.${MAIL_HOST} A ${ADDRESS}`
  assert.equal(await delegationIn(t, NAMES + glue), [
    ['ok', MAIL_HOST, `The zone is delegated to ns1.${MAIL_HOST} and ns2.${MAIL_HOST} on this host.`],
  ])
})

test('delegation: missing and wrong glue is named', async t => {
  assert.equal(await delegationIn(t, `${NAMES}ns1.${MAIL_HOST} A 203.0.113.9`), [
    [
      'failed',
      `ns1.${MAIL_HOST}`,
      `The parent zone has 203.0.113.9 for ns1.${MAIL_HOST}, and lacks ${ADDRESS}.`,
    ],
    [
      'failed',
      `ns2.${MAIL_HOST}`,
      `The parent zone has no address for ns2.${MAIL_HOST}, and lacks ${ADDRESS}.`,
    ],
  ])
})

test('delegation: other name servers are named', async t => {
  assert.equal(await delegationIn(t, `${MAIL_HOST} NS ns.elsewhere.test`), [
    [
      'failed',
      MAIL_HOST,
      `The zone is delegated to ns.elsewhere.test in place of ns1.${MAIL_HOST}, ns2.${MAIL_HOST}.`,
    ],
  ])
})

test('delegation: without NS records, the server that says so is named', async t => {
  assert.equal(await delegationIn(t, '', false), [
    ['failed', MAIL_HOST, 'The zone is not delegated, says ns.example.com (127.0.0.2).'],
  ])
})

test('delegation: a name for examples and tests is named as such', async () => {
  assert.equal(await check(reservedName('mail.acme.example')), [
    ['failed', 'mail.acme.example', 'The name is reserved for examples and tests, and cannot be delegated.'],
  ])
})

test('delegation: it is unknown when the parent zone cannot be asked', async t => {
  const [found] = await delegationIn(t, `${MAIL_HOST} SERVFAIL`, false)
  assert.is(found![0], 'unknown')
  assert.match(
    String(found![2]),
    /could not be looked up: ns\.example\.com \(127\.0\.0\.2\) answers with SERVFAIL/,
  )
})

test.run()
