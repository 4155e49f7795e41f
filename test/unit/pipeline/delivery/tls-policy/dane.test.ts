import { createHash, X509Certificate } from 'node:crypto'
import * as assert from 'uvu/assert'
import { createDane } from '../../../../../src/pipeline/delivery/tls-policy/dane.ts'
import { createHostTlsPolicies } from '../../../../../src/pipeline/delivery/tls-policy/host-tls-policy.ts'
import { createSecurityOf, nextHopTo } from '../../../../../src/pipeline/delivery/tls-policy/next-hop.ts'
import { createValidatingClient } from '../../../../../src/protocols/dns/validating-client.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { testCertificate } from '../../../../kit/tls.ts'
import { until } from '../../../../kit/until.ts'
import { startZone } from '../../../../kit/zone.ts'

const test = suite('DANE')
const spki = new X509Certificate(testCertificate('good').cert).publicKey.export({
  type: 'spki',
  format: 'der',
})
const GOOD_KEY = createHash('sha256').update(spki).digest('hex')
const ZONE = `
  signed.test              SOA ns.signed.test hostmaster.signed.test
  signed.test              MX 10 MX.signed.test
  signed.test              MX 20 mx.plain.test
  implicit.signed.test     A 127.0.0.2
  alias.signed.test        CNAME signed.test
  forged.signed.test       SERVFAIL
  plain.test               MX 10 mx.signed.test
  mx.signed.test           A 127.0.0.2
  _25._tcp.mx.signed.test  TLSA 3 1 1 ${GOOD_KEY}
  other.signed.test        CNAME mx.signed.test
  far.signed.test          CNAME Other.signed.test
  own.signed.test          CNAME plain-named.signed.test
  plain-named.signed.test  A 127.0.0.2
  _25._tcp.own.signed.test TLSA 3 1 1 ${GOOD_KEY}
  bare.signed.test         A 127.0.0.2
  strange.signed.test      A 127.0.0.2
  _25._tcp.strange.signed.test TLSA 1 1 1 ${GOOD_KEY}
  broken.signed.test       A 127.0.0.2
  _25._tcp.broken.signed.test  SERVFAIL
  lost.signed.test         SERVFAIL A
  mx.plain.test            A 127.0.0.3
  _25._tcp.mx.plain.test   TLSA 3 1 1 ${GOOD_KEY}
`

async function open(t: TestContext, { signed = ['signed.test'] } = {}) {
  const zone = await t.using(startZone(ZONE, { signed }))
  const clock = createManualClock()
  const client = createValidatingClient({ server: zone.server, clock, timeoutMs: 10_000, tries: 1 })
  const changes: boolean[] = []
  const onChange = (isOn: boolean) => void changes.push(isOn)
  const dane = await t.using(createDane({ client, clock, port: 25, signedName: 'signed.test', onChange }))
  return { zone, clock, dane, changes }
}

for (const [domain, hosts] of [
  ['signed.test', ['mx.signed.test', 'mx.plain.test']],
  ['implicit.signed.test', ['implicit.signed.test']],
  ['alias.signed.test', ['mx.signed.test', 'mx.plain.test']],
  ['plain.test', []],
] as const)
  test(`the hosts of ${domain} that DNSSEC vouches for`, async t => {
    const { dane, changes } = await open(t)
    assert.equal(await dane.secureHosts(domain), hosts)
    assert.equal(changes, [true])
  })

test('MX records that do not validate defer the mail', async t => {
  const { dane } = await open(t)
  const found = await dane.secureHosts('forged.signed.test')
  assert.ok('failure' in found)
  const security = await createSecurityOf({ sts: null, dane })('forged.signed.test')
  const nextHop = nextHopTo({ domain: 'forged.signed.test', hosts: [], hostSet: '', security }, 'any')
  assert.equal('reason' in nextHop && nextHop.kind, 'deferred')
})

for (const [host, kind, count, baseDomain] of [
  ['mx.signed.test', 'records', 1, 'mx.signed.test'],
  ['other.signed.test', 'records', 1, 'mx.signed.test'],
  ['far.signed.test', 'records', 1, 'mx.signed.test'],
  ['own.signed.test', 'records', 1, 'own.signed.test'],
  ['strange.signed.test', 'records', 0, 'strange.signed.test'],
  ['bare.signed.test', 'none', 0, undefined],
  ['mx.plain.test', 'none', 0, undefined],
  ['broken.signed.test', 'failure', 0, undefined],
  ['lost.signed.test', 'failure', 0, undefined],
] as const)
  test(`TLSA of ${host}: ${kind}, ${count} to be used, at ${baseDomain}`, async t => {
    const { dane } = await open(t)
    const found = await dane.tlsaOf(host)
    const { records, baseDomain: base } =
      found.kind === 'records' ? found : { records: [], baseDomain: undefined }
    assert.equal([found.kind, records.length, base], [kind, count, baseDomain])
  })

test('DANE is off while the resolver does not validate, and on again afterwards', async t => {
  const signed: string[] = []
  const { dane, changes, clock, zone } = await open(t, { signed })
  assert.equal(await dane.secureHosts('signed.test'), [])
  assert.equal(changes, [false])
  signed.push('signed.test')
  clock.advance(5 * 60_000)
  await until(() => changes.length === 2)
  assert.equal(changes, [false, true])
  clock.advance(3_600_000)
  zone.set('signed.test SERVFAIL')
  await until(() => changes.length === 3)
  assert.equal(await dane.secureHosts('signed.test'), [])
})

async function policyOf(t: TestContext, host: string, requests: 'any' | 'enforced' = 'any') {
  const { dane, clock } = await open(t)
  const terms = createHostTlsPolicies({ clock, dane })
  const security = { sts: null, secureHosts: [host, 'mx.signed.test'], unknown: null, bogus: null }
  const nextHop = nextHopTo({ domain: 'signed.test', hosts: [], hostSet: '', security }, requests)
  if ('reason' in nextHop) throw new Error(nextHop.reason)
  return (to: string) => terms.policyFor(nextHop, to)
}

for (const [host, requests, policy, checks] of [
  ['mx.signed.test', 'any', 'dane', true],
  ['mx.signed.test', 'enforced', 'dane', true],
  ['strange.signed.test', 'any', 'dane', false],
  ['strange.signed.test', 'enforced', 'domain', false],
  ['bare.signed.test', 'any', 'none', false],
  ['bare.signed.test', 'enforced', 'domain', false],
] as const)
  test(`${host}, ${requests}: by ${policy}`, async t => {
    const found = await (await policyOf(t, host, requests))(host)
    if ('refusal' in found) throw new Error(found.refusal)
    assert.equal([found.policy, found.tls.checkPeer !== undefined], [policy, checks])
    if (policy !== 'none') assert.is(found.tls.mode, 'required')
  })

for (const [host, name] of [
  ['mx.signed.test', 'mx.signed.test'],
  ['other.signed.test', 'mx.signed.test'],
  ['far.signed.test', 'mx.signed.test'],
  ['own.signed.test', 'own.signed.test'],
] as const)
  test(`the SNI for the MX host ${host} is the base domain of its TLSA records, ${name}`, async t => {
    const found = await (await policyOf(t, host))(host)
    assert.is('tls' in found && found.tls.serverName, name)
  })

test('a host that DNSSEC does not validate for the domain, or whose TLSA lookup fails, is refused', async t => {
  const policyFor = await policyOf(t, 'broken.signed.test')
  for (const host of ['mx.attacker.test', 'broken.signed.test'])
    assert.ok('refusal' in (await policyFor(host)))
})

test.run()
