/** Unbound in front of our servers, set as suspicious as it can be: what it believes, the world will. */
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/lib/clock.ts'
import { lookUpMxHosts } from '../../../src/protocols/dns/mx-hosts.ts'
import { createResolver } from '../../../src/protocols/dns/resolver.ts'
import { createResponseRate, type ResponseRate } from '../../../src/protocols/dns/response-rate.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { askServer } from '../../kit/zone-client.ts'
import { runUnbound } from './run-unbound.ts'
import {
  CUSTOMER,
  KEY,
  LONG_TEXT,
  MAIL_HOST,
  REVOKED_TOKEN,
  serveCustomer,
  serveProvider,
  TOKEN,
} from './tools.ts'

const test = suite('peers/dns: unbound')

function config(stubs: Record<string, number>): string {
  const zones = Object.entries(stubs).map(
    ([name, stubPort]) => `stub-zone:\n  name: "${name}"\n  stub-addr: 127.0.0.1@${stubPort}\n`,
  )
  return `
  module-config: "iterator"
  qname-minimisation: yes
  qname-minimisation-strict: yes
  use-caps-for-id: yes
  harden-glue: yes
  harden-short-bufsize: yes
  harden-large-queries: yes
  harden-below-nxdomain: yes
  harden-referral-path: yes
  deny-any: no
remote-control:
  control-enable: no
${zones.join('')}`
}

async function unbound(t: TestContext, rate?: ResponseRate) {
  const stubs = { [MAIL_HOST]: await serveProvider(t, rate), [CUSTOMER]: await serveCustomer(t) }
  const { server, log } = await runUnbound(t, () => config(stubs))
  const resolver = await t.using(createResolver({ servers: [server], clock: systemClock }))
  return { server, resolver, log }
}

/** An answer without its time to live, of which a busy machine may see a minute less. */
function recent(answer: object): object {
  const { ttlMs, ...rest } = answer as { ttlMs?: number }
  assert.ok(ttlMs! > 3_540_000 && ttlMs! <= 3_600_000, `${ttlMs}`)
  return rest
}

test('every kind of record resolves, with the case of queries kept', async t => {
  const { resolver, server, log } = await unbound(t)
  const found = (...records: unknown[]) => ({ kind: 'found', records })
  assert.equal(await resolver.mx(MAIL_HOST), found({ exchange: MAIL_HOST, preference: 10 }))
  const apex = await resolver.txt(MAIL_HOST)
  assert.equal(apex.kind === 'found' && apex.records.toSorted(), [
    'site-verification=abc',
    'v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 -all',
  ])
  for (const [name, text] of [
    ['_dmarc', 'v=DMARC1; p=reject; adkim=s; aspf=s; rua=mailto:reports@there.example'],
    ['_smtp._tls', 'v=TLSRPTv1; rua=mailto:reports@there.example'],
    ['_mta-sts', 'v=STSv1; id=20261121'],
    ['mail1', 'v=spf1 a -all'],
    [`${REVOKED_TOKEN}.dkim`, 'v=DKIM1; k=rsa; p='],
  ])
    assert.equal(await resolver.txt(`${name}.${MAIL_HOST}`), found(text), name)
  for (const [name, address] of [
    ['mta-sts', '192.0.2.1'],
    ['mail1', '192.0.2.25'],
    ['ns1', '192.0.2.1'],
    ['ns2', '192.0.2.1'],
  ])
    assert.equal(recent(await resolver.addresses4(`${name}.${MAIL_HOST}`)), found(address), name)
  assert.equal(recent(await resolver.addresses4(MAIL_HOST)), found('192.0.2.1'))
  assert.equal(
    recent(await resolver.addresses6(`feedback-smtp.us-west-2.${MAIL_HOST}`)),
    found('2001:db8::1'),
  )
  assert.equal(await resolver.cname(`www.${MAIL_HOST}`), found(MAIL_HOST))
  const ns = await resolver.ns(MAIL_HOST)
  assert.equal(ns.kind === 'found' && ns.records.toSorted(), [`ns1.${MAIL_HOST}`, `ns2.${MAIL_HOST}`])
  for (const type of ['SOA', 'CAA'] as const)
    assert.is((await askServer(server, MAIL_HOST, type)).answers[0]?.type, type)
  assert.not.match(log.join(''), /capsforid|caps_fallback|lame|formerr/i)
})

test("a customer's selector leads through its CNAME to the key", async t => {
  const { resolver } = await unbound(t)
  assert.equal(await resolver.txt(`${TOKEN}._domainkey.${CUSTOMER}`), { kind: 'found', records: [KEY] })
  assert.equal(await resolver.txt(`lost._domainkey.${CUSTOMER}`), { kind: 'no-domain' })
})

test('the way of a bounce: the MX of send.<domain> and its address', async t => {
  const { resolver } = await unbound(t)
  const host = `feedback-smtp.us-west-2.${MAIL_HOST}`
  assert.equal(await lookUpMxHosts(resolver, `send.${CUSTOMER}`, { random: Math.random }), {
    kind: 'hosts',
    implicit: false,
    hosts: [{ name: host, preference: 10 }],
  })
  assert.is((await resolver.addresses4(host)).kind, 'found')
  assert.is(
    (await lookUpMxHosts(resolver, `simulator.${MAIL_HOST}`, { random: Math.random })).kind,
    'null-mx',
  )
})

test('what is absent does not hide what lies below it', async t => {
  const { resolver } = await unbound(t)
  assert.equal(await resolver.txt(`dkim.${MAIL_HOST}`), { kind: 'no-data' })
  assert.equal(await resolver.addresses4(`us-west-2.${MAIL_HOST}`), { kind: 'no-data' })
  assert.equal(await resolver.txt(`other.dkim.${MAIL_HOST}`), { kind: 'no-domain' })
  assert.equal(await resolver.txt(`x.other.dkim.${MAIL_HOST}`), { kind: 'no-domain' })
  assert.equal(await resolver.txt(`${TOKEN}.dkim.${MAIL_HOST}`), { kind: 'found', records: [KEY] })
  assert.is((await resolver.addresses4(`feedback-smtp.us-west-2.${MAIL_HOST}`)).kind, 'found')
})

test('an answer too long for a datagram comes over TCP', async t => {
  const { resolver } = await unbound(t)
  assert.equal(await resolver.txt(`long.${MAIL_HOST}`), { kind: 'found', records: [LONG_TEXT] })
})

test('a resolver that asks in earnest misses nothing, though its network is held to a rate', async t => {
  const { resolver } = await unbound(t, createResponseRate({ clock: systemClock, perSecond: 5 }))
  const names = Array.from({ length: 60 }, (_, i) => `x${i}.${MAIL_HOST}`)
  const answers = await Promise.all(names.map(name => resolver.addresses4(name)))
  assert.equal(
    answers,
    names.map(() => ({ kind: 'no-domain' })),
  )
  assert.equal(await resolver.txt(`${TOKEN}._domainkey.${CUSTOMER}`), { kind: 'found', records: [KEY] })
})

test.run()
