import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import type { DnsObserver, ObservedAnswer } from '../../../../src/protocols/dns/dns-observer.ts'
import { resolverObserver } from '../../../../src/protocols/dns/dns-observer.ts'
import { dnsRecordsOf } from '../../../../src/resources/domains/dns-records.ts'
import { checkDomain, type DomainChecks } from '../../../../src/resources/domains/verify.ts'
import { NO_LINK_HOSTS } from '../../../kit/inquiries.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { type ScriptedZone, startZone } from '../../../kit/zone.ts'

const test = suite('domains/verify')
const HOST = 'mail.provider.example'
const KEYS = [
  { slot: 1, token: 'one', publicKey: 'KEYONE==' },
  { slot: 2, token: 'two', publicKey: 'KEYTWO==' },
  { slot: 3, token: 'three', publicKey: 'KEYTHREE==' },
]
const RECORDS = dnsRecordsOf(
  { name: 'here.test', region: 'us-west-2', verificationToken: 'token', keys: KEYS },
  HOST,
)
const SPF = `v=spf1 include:${HOST} ~all`

/** The customer's records as they are asked for, and the provider's zone behind them. */
const RIGHT = {
  ownership: '_svc.here.test TXT "svc-verify=token"',
  one: `one._domainkey.here.test CNAME one.dkim.${HOST}`,
  two: `two._domainkey.here.test CNAME two.dkim.${HOST}`,
  three: `three._domainkey.here.test CNAME three.dkim.${HOST}`,
  keys: KEYS.map(({ token, publicKey }) => `${token}.dkim.${HOST} TXT "v=DKIM1; k=rsa; p=${publicKey}"`).join(
    '\n',
  ),
  provider: `${HOST} TXT "v=spf1 ip4:192.0.2.1 -all"\nother.example TXT "v=spf1 -all"`,
  spf: `send.here.test TXT "${SPF}"`,
  mx: `send.here.test MX 10 feedback-smtp.us-west-2.${HOST}`,
  dmarc: '_dmarc.here.test TXT "v=DMARC1; p=quarantine"',
}

const zoneOf = (over: Partial<typeof RIGHT> = {}) => Object.values({ ...RIGHT, ...over }).join('\n')

/** @param silenceMs how long an answer is waited for: as any machine takes, unless a test waits for none */
function resolverFor(t: TestContext, { server }: { server: string }, silenceMs = 10_000): DnsObserver {
  const over = new AbortController()
  t.after(() => over.abort(new Error('the test is over')))
  return resolverObserver(server, { clock: systemClock, timeoutMs: silenceMs, tries: 1, signal: over.signal })
}

async function check(t: TestContext, zone: string, { laboratory = false } = {}): Promise<DomainChecks> {
  const server = await t.using(startZone(zone))
  const silenceMs = /TIMEOUT|MALFORMED/.test(zone) ? 300 : undefined
  return checkWith([resolverFor(t, server, silenceMs)], laboratory)
}

async function checkWith(resolvers: DnsObserver[], laboratory = false): Promise<DomainChecks> {
  const { checks } = await checkDomain({
    domain: 'here.test',
    records: RECORDS,
    selectors: KEYS.map(({ slot, publicKey }) => ({
      record: RECORDS.find(({ record }) => record === `DKIM ${slot}`)!,
      publicKey,
    })),
    mailHost: HOST,
    receiving: false,
    tracking: undefined,
    visit: NO_LINK_HOSTS.visitHost,
    former: null,
    inquiry: { resolvers, isAllowed: () => false, openObserver: () => resolvers[0]! },
    laboratory,
  })
  return checks
}

const summary = ({ ownership, dkim, spf, mx, dmarc }: DomainChecks) =>
  [ownership, dkim, spf, mx, dmarc].map(({ status }) => status).join(' ')

test('checks: correct records are verified', async t => {
  const checks = await check(t, zoneOf())
  assert.is(summary(checks), 'verified verified verified verified verified')
  assert.equal(checks.ownership.found, ['svc-verify=token'])
  assert.is(checks.dmarc.advice, null)
  assert.equal(
    checks.dkim.selectors.map(({ host, status, expected }) => [host, status, expected]),
    KEYS.map(({ token }) => [`${token}._domainkey.here.test`, 'verified', `${token}.dkim.${HOST}`]),
  )
})

test('checks: missing records are pending, with DMARC advice', async t => {
  const checks = await check(t, 'other.test A 192.0.2.1')
  assert.is(summary(checks), 'pending pending pending pending pending')
  assert.is(checks.ownership.expected, 'svc-verify=token')
  assert.match(checks.dmarc.advice!, /_dmarc\.here\.test/)
})

test('checks: a failing or silent name server gives pending', async t => {
  for (const trouble of ['SERVFAIL', 'TIMEOUT', 'REFUSED', 'MALFORMED']) {
    const names = RECORDS.map(({ host }) => `${host} ${trouble}`).join('\n')
    const checks = await check(t, names)
    assert.is(summary(checks), 'pending pending pending pending pending', trouble)
    assert.equal(checks.ownership.found, [], trouble)
  }
})

test('checks: another value is failed and shown', async t => {
  const checks = await check(
    t,
    zoneOf({
      ownership: '_svc.here.test TXT "svc-verify=somebody-else"',
      one: 'one._domainkey.here.test CNAME elsewhere.example',
      spf: 'send.here.test TXT "v=spf1 include:other.example ~all"',
      mx: 'send.here.test MX 10 mx.other.example',
    }),
  )
  assert.is(summary(checks), 'failed failed failed failed verified')
  assert.equal(checks.ownership.found, ['svc-verify=somebody-else'])
  assert.equal(checks.dkim.selectors[0]!.found, ['elsewhere.example'])
  assert.equal(checks.spf.found, ['v=spf1 include:other.example ~all'])
  assert.equal(checks.mx.found, ['10 mx.other.example'])
})

test('checks: other TXT records are ignored', async t => {
  const checks = await check(
    t,
    `${zoneOf()}\n_svc.here.test TXT "google-site-verification=1"\nsend.here.test TXT "note to self"`,
  )
  assert.is(summary(checks), 'verified verified verified verified verified')
  assert.equal(checks.ownership.found, ['svc-verify=token'])
})

test('checks: several ownership records are allowed', async t => {
  const checks = await check(t, `${zoneOf()}\n_svc.here.test TXT "svc-verify=of-another-installation"`)
  assert.is(checks.ownership.status, 'verified')
  assert.is(checks.ownership.found.length, 2)
})

test('checks: extra spaces are ignored', async t => {
  const checks = await check(
    t,
    zoneOf({
      ownership: '_svc.here.test TXT " svc-verify=token  "',
      spf: `send.here.test TXT "v=spf1   include:${HOST}  ~all "`,
    }),
  )
  assert.equal([checks.ownership.status, checks.spf.status], ['verified', 'verified'])
})

test('checks: extra quotes fail for SPF and DKIM only', async t => {
  const { server, ask } = resolverFor(t, await t.using(startZone(zoneOf())))
  const quoted = (answer: ObservedAnswer): ObservedAnswer =>
    answer.kind === 'unknown'
      ? answer
      : {
          ...answer,
          records: answer.records.map(record =>
            record.type === 'TXT' ? { ...record, text: `"${record.text}"` } : record,
          ),
        }
  const checks = await checkWith([{ server, ask: async (name, type) => quoted(await ask(name, type)) }])
  assert.is(summary(checks), 'verified failed failed verified failed')
  assert.equal(checks.spf.found, [`"${SPF}"`])
})

test('checks: a host with the zone appended twice is reported', async t => {
  const doubled = zoneOf().replaceAll('.here.test ', '.here.test.here.test ')
  assert.is(summary(await check(t, doubled)), 'pending pending pending pending pending')
})

test('checks: an SPF record may have other includes, but must be the only one', async t => {
  const status = async (...texts: string[]) =>
    (await check(t, zoneOf({ spf: texts.map(text => `send.here.test TXT "${text}"`).join('\n') }))).spf.status
  assert.is(await status(`v=spf1 include:other.example include:${HOST} -all`), 'verified')
  assert.is(await status(`v=spf1 ip4:192.0.2.1 +include:${HOST.toUpperCase()} ?all`), 'verified')
  assert.is(await status(SPF, 'v=spf1 include:other.example ~all'), 'failed')
  assert.is(await status(`v=spf1 -include:${HOST} ~all`), 'failed')
  assert.is(await status(`v=spf1 include:${HOST}.evil.example ~all`), 'failed')
  assert.is(await status(`v=spf1 -all include:${HOST}`), 'failed')
  assert.is(await status('v=spf10 nonsense'), 'pending')
})

test('checks: an MX is identified by its host', async t => {
  const checks = await check(
    t,
    zoneOf({
      mx: `send.here.test MX 5 Feedback-SMTP.us-west-2.${HOST}.\nsend.here.test MX 20 backup.example`,
    }),
  )
  assert.is(checks.mx.status, 'verified')
  assert.is((await check(t, zoneOf({ mx: 'send.here.test MX 0 .' }))).mx.status, 'failed')
})

test('checks: a selector is verified by its key', async t => {
  const status = async (over: Partial<typeof RIGHT>) =>
    (await check(t, zoneOf(over))).dkim.selectors[0]!.status
  assert.is(await status({ one: 'one._domainkey.here.test TXT "v=DKIM1; p=KEYONE=="' }), 'verified')
  assert.is(await status({ one: 'one._domainkey.here.test TXT "k=rsa; p=KEY ONE== ; t=s"' }), 'verified')
  assert.is(await status({ one: 'one._domainkey.here.test TXT "v=DKIM1; p=OTHERKEY"' }), 'failed')
  assert.is(await status({ one: 'one._domainkey.here.test TXT "v=DKIM1; p="' }), 'failed')
  assert.is(await status({ one: `one._domainkey.here.test CNAME two.dkim.${HOST}` }), 'failed')
  assert.is(
    await status({ one: `one._domainkey.here.test CNAME hop.example\nhop.example CNAME one.dkim.${HOST}` }),
    'verified',
  )
})

test('checks: the worst selector determines the DKIM status', async t => {
  const checks = await check(t, zoneOf({ two: '', three: 'three._domainkey.here.test TXT "p=OTHER"' }))
  assert.equal(
    [checks.dkim.status, ...checks.dkim.selectors.map(({ status }) => status)],
    ['failed', 'verified', 'pending', 'failed'],
  )
  assert.is((await check(t, zoneOf({ two: '' }))).dkim.status, 'pending')
})

test('checks: with a reserved provider zone only the CNAME is required', async t => {
  const unserved = zoneOf({ keys: '' })
  const real = await check(t, unserved)
  assert.equal(
    real.dkim.selectors.map(({ status, found }) => [status, found.length]),
    KEYS.map(() => ['pending', 1]),
  )
  const laboratory = await check(t, unserved, { laboratory: true })
  assert.is(laboratory.dkim.status, 'verified')
  const wrong = await check(t, zoneOf({ keys: '', one: 'one._domainkey.here.test CNAME other.example' }), {
    laboratory: true,
  })
  assert.is(wrong.dkim.selectors[0]!.status, 'failed')
})

test('checks: two DMARC records are invalid', async t => {
  const two = await check(t, `${zoneOf()}\n_dmarc.here.test TXT "v=DMARC1; p=none"`)
  assert.is(two.dmarc.status, 'failed')
  assert.match(two.dmarc.advice!, /There are 2 DMARC records/)
  const other = await check(t, zoneOf({ dmarc: '_dmarc.here.test TXT "v=DMARC2; p=none"' }))
  assert.is(other.dmarc.status, 'pending')
})

async function startTwo(
  t: TestContext,
  first: string,
  second: string,
): Promise<[ScriptedZone, DnsObserver[]]> {
  const zones = [await t.using(startZone(first)), await t.using(startZone(second))]
  return [zones[0]!, zones.map(zone => resolverFor(t, zone))]
}

test('checks: one resolver that sees the record suffices', async t => {
  const [, resolvers] = await startTwo(
    t,
    zoneOf({ ownership: '_svc.here.test TXT "svc-verify=old"', one: '' }),
    zoneOf(),
  )
  const checks = await checkWith(resolvers)
  assert.is(summary(checks), 'verified verified verified verified verified')
  assert.equal(checks.ownership.resolvers, [
    { server: resolvers[0]!.server, status: 'failed', found: ['svc-verify=old'] },
    { server: resolvers[1]!.server, status: 'verified', found: ['svc-verify=token'] },
  ])
  assert.equal(checks.ownership.found, ['svc-verify=old', 'svc-verify=token'])
})

test('checks: a wrong value seen by one resolver is reported', async t => {
  const [, resolvers] = await startTwo(
    t,
    'x.test A 192.0.2.1',
    zoneOf({ spf: 'send.here.test TXT "v=spf1 -all"' }),
  )
  assert.is((await checkWith(resolvers)).spf.status, 'failed')
})

test('checks: results are not cached', async t => {
  const zone = await t.using(startZone('x.test A 192.0.2.1'))
  const resolvers = [resolverFor(t, zone)]
  assert.is(summary(await checkWith(resolvers)), 'pending pending pending pending pending')
  zone.set(zoneOf())
  assert.is(summary(await checkWith(resolvers)), 'verified verified verified verified verified')
})

test.run()
