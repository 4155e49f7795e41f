import * as assert from 'uvu/assert'
import { createAdjustableClock } from '../../../../src/lib/adjustable-clock.ts'
import type { SmartHost } from '../../../../src/pipeline/delivery/destinations/smart-host.ts'
import {
  countedDestination,
  createRouter,
  type RouteTarget,
  routeTo,
} from '../../../../src/pipeline/delivery/route.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { startZone } from '../../../kit/zone.ts'

const test = suite('route')

const ZONE = `
  there.test         MX 10 mx1.there.test
  there.test         MX 20 mx2.there.test
  same.test          MX 5  MX2.there.test
  same.test          MX 5  mx1.there.test
  other.test         MX 10 mx1.there.test
  implicit.test      A 192.0.2.1
  null.test          MX 0 .
  empty.test         TXT nothing
  loop.test          MX 10 mail.mailhorn.test
  broken.test        SERVFAIL
`

const NONE_ASKED = async () => undefined

async function open(t: TestContext) {
  const zone = await t.using(startZone(ZONE))
  const clock = await t.using(createAdjustableClock())
  const resolver = createResolver({ servers: [zone.server], clock, timeoutMs: 10_000, tries: 1 })
  t.after(() => resolver.close())
  const router = createRouter({
    resolver,
    clock,
    random: () => 0,
    simulatorDomains: new Set(['simulator.test']),
    hostedOf: async () => undefined,
    securityOf: NONE_ASKED,
    smartHostOf: () => undefined,
    ownNames: ['mail.mailhorn.test'],
  })
  const requests = (name: string) =>
    zone.queries.filter(query => query.name === name && query.type === 'MX').length
  return { zone, clock, resolver, router, requests }
}

test('mail goes to the MX hosts, most preferred first', async t => {
  const { router } = await open(t)
  const { target } = await router.routeOf('there.test')
  assert.equal(target, {
    kind: 'hosts',
    hostSet: 'mx1.there.test mx2.there.test',
    hosts: [
      { name: 'mx1.there.test', preference: 10 },
      { name: 'mx2.there.test', preference: 20 },
    ],
  })
})

test('domains with the same set of hosts share a destination, whatever the preferences', async t => {
  const { router } = await open(t)
  const destination = async (domain: string) => (await router.routeOf(domain)).destination
  assert.is(await destination('same.test'), await destination('there.test'))
  assert.is.not(await destination('other.test'), await destination('there.test'))
})

test('a destination is named after its hosts, sorted', () => {
  assert.is(pathsOf('b.test', 'a.test'), 'a.test b.test')
  assert.is(pathsOf('a.test'), 'a.test')
})

test('all domains of a large provider share a destination, but connections only for equal hosts', () => {
  assert.is(pathsOf('aspmx.l.google.com', 'alt1.aspmx.l.google.com'), 'google')
  assert.is(pathsOf('gmail-smtp-in.l.google.com'), 'google')
  assert.is(pathsOf('one-test.mail.protection.outlook.com'), 'microsoft365')
  assert.is(pathsOf('hotmail-com.olc.protection.outlook.com'), 'outlook')
  const { target } = routeTo([{ name: 'one-test.mail.protection.outlook.com', preference: 0 }])
  assert.is(target.kind === 'hosts' && target.hostSet, 'one-test.mail.protection.outlook.com')
})

test('a domain with only one of its hosts at a provider is its own destination', () => {
  assert.is(pathsOf('aspmx.l.google.com', 'mx.there.test'), 'aspmx.l.google.com mx.there.test')
  assert.is(pathsOf('mx.notgoogle.com'), 'mx.notgoogle.com')
})

function pathsOf(...hosts: string[]): string {
  return routeTo(hosts.map(name => ({ name, preference: 10 }))).destination
}

test('a domain without MX records is its own host', async t => {
  const { router } = await open(t)
  assert.equal(await router.routeOf('implicit.test'), {
    destination: 'implicit.test',
    target: {
      kind: 'hosts',
      hostSet: 'implicit.test',
      hosts: [{ name: 'implicit.test', preference: 0 }],
    },
  })
})

for (const [domain, enhanced, reason] of [
  ['null.test', '5.1.10', 'null.test takes no mail (null MX)'],
  ['nowhere.test', '5.1.2', 'nowhere.test does not exist'],
  ['empty.test', '5.4.4', 'empty.test has no mail host'],
  ['loop.test', '5.4.6', 'mail for loop.test would come back to us'],
] as const)
  test(`mail for ${domain} goes nowhere: ${enhanced} ${reason}`, async t => {
    const { router } = await open(t)
    assert.equal(await router.routeOf(domain), {
      destination: `!${domain}`,
      target: { kind: 'undeliverable', enhanced, reason },
    })
  })

test('a failed lookup gives an unknown route', async t => {
  const { router } = await open(t)
  const { destination, target } = await router.routeOf('broken.test')
  assert.is(destination, '!broken.test')
  assert.is(target.kind, 'unknown')
  assert.match(
    target.kind === 'unknown' ? target.reason : '',
    /MX hosts of broken\.test are not known: .*SERVFAIL/,
  )
})

test('simulator domains need no lookup', async t => {
  const { router, zone } = await open(t)
  assert.equal(await router.routeOf('simulator.test'), {
    destination: 'simulator',
    target: { kind: 'simulator' },
  })
  assert.equal(zone.queries, [])
})

test('a route is cached for a minute, and concurrent lookups are shared', async t => {
  const { router, requests, clock, zone } = await open(t)
  const routes = await Promise.all(Array.from({ length: 10 }, () => router.routeOf('there.test')))
  assert.is(new Set(routes).size, 1)
  assert.is(requests('there.test'), 1)
  zone.remove('there.test')
  clock.advance(59_000)
  assert.is((await router.routeOf('there.test')).target.kind, 'hosts')
  clock.advance(2_000)
  assert.is((await router.routeOf('there.test')).target.kind, 'undeliverable')
  assert.is(requests('there.test'), 2)
})

test('an unknown route is looked up again after five seconds', async t => {
  const { router, zone, clock } = await open(t)
  await router.routeOf('broken.test')
  zone.set(ZONE.replace('broken.test        SERVFAIL', 'broken.test MX 10 mx1.there.test'))
  clock.advance(4_000)
  assert.is((await router.routeOf('broken.test')).target.kind, 'unknown')
  clock.advance(1_500)
  assert.is((await router.routeOf('broken.test')).target.kind, 'hosts')
})

test('a route from another thread replaces the cached one', async t => {
  const { router, zone, clock } = await open(t)
  const theirs = await router.routeOf('other.test')
  router.prime('new.test', theirs)
  assert.is(await router.routeOf('new.test'), theirs)
  router.prime('there.test', theirs)
  assert.is(await router.routeOf('there.test'), theirs)
  const unknown = { destination: '!new.test', target: { kind: 'unknown' as const, reason: 'why not' } }
  router.prime('new.test', unknown)
  assert.is((await router.routeOf('new.test')).target.kind, 'unknown')
  clock.advance(6_000)
  zone.add('new.test MX 10 mx1.there.test')
  assert.is((await router.routeOf('new.test')).target.kind, 'hosts')
})

test('a lookup that throws is not cached', async t => {
  const { zone, clock } = await open(t)
  const resolver = createResolver({ servers: [zone.server], clock })
  t.after(() => resolver.close())
  let broken = true
  const mx: typeof resolver.mx = (name, options) =>
    broken ? Promise.reject(new Error('broken')) : resolver.mx(name, options)
  const router = createRouter({
    resolver: { ...resolver, mx },
    clock,
    random: () => 0,
    simulatorDomains: new Set(['simulator.test']),
    hostedOf: async () => undefined,
    securityOf: NONE_ASKED,
    smartHostOf: () => undefined,
    ownNames: [],
  })
  await router.routeOf('there.test').then(
    () => assert.unreachable(),
    error => assert.is(error.message, 'broken'),
  )
  broken = false
  assert.is((await router.routeOf('there.test')).target.kind, 'hosts')
})

test('the TLS requirements of the domain are part of the route', async t => {
  const zone = await t.using(startZone(ZONE))
  const clock = await t.using(createAdjustableClock())
  const resolver = createResolver({ servers: [zone.server], clock, timeoutMs: 10_000, tries: 1 })
  t.after(() => resolver.close())
  const security = { sts: null, secureHosts: ['mx1.there.test'], unknown: null, bogus: null }
  const router = createRouter({
    resolver,
    clock,
    random: () => 0,
    simulatorDomains: new Set(['simulator.test']),
    smartHostOf: () => undefined,
    ownNames: [],
    hostedOf: async () => undefined,
    securityOf: async domain => (domain === 'there.test' ? security : undefined),
  })
  const [asking, free] = [await router.routeOf('there.test'), await router.routeOf('other.test')]
  assert.is(asking.target.kind === 'hosts' && asking.target.security, security)
  assert.not.ok('security' in free.target)
})

test('mail of a hosted domain that would loop or has no host is delivered locally', async t => {
  const { resolver, clock } = await open(t)
  const domain = { accountId: new Uint8Array(16), id: new Uint8Array(16).fill(1) }
  let isHosted = true
  const router = createRouter({
    ...{ resolver, clock, random: () => 0, simulatorDomains: new Set(['simulator.test']) },
    securityOf: NONE_ASKED,
    hostedOf: async () => (isHosted ? domain : undefined),
    smartHostOf: () => undefined,
    ownNames: ['mail.mailhorn.test'],
  })
  const kindOf = async (name: string) => (await router.routeOf(name)).target.kind
  assert.equal(await router.routeOf('loop.test'), { destination: 'here', target: { kind: 'hosted', domain } })
  assert.is(await kindOf('empty.test'), 'hosted')
  assert.is(await kindOf('unknown-to-dns.test'), 'hosted')
  assert.is(await kindOf('there.test'), 'hosts')
  assert.is(await kindOf('null.test'), 'undeliverable')
  isHosted = false
  assert.is(await kindOf('loop.test'), 'hosted')
  router.forget(['loop.test'])
  assert.is(await kindOf('loop.test'), 'undeliverable')
})

test('a general smart host does not get mail that would return here; one for the domain does', async t => {
  const { resolver, clock, requests } = await open(t)
  const domain = { accountId: new Uint8Array(16), id: new Uint8Array(16).fill(1) }
  const relay = (name: string): SmartHost => ({
    ...{ name, host: 'relay.test', port: 587, tls: 'required', login: null },
  })
  let named: SmartHost | undefined
  const router = createRouter({
    ...{ resolver, clock, random: () => 0, simulatorDomains: new Set(['simulator.test']) },
    securityOf: NONE_ASKED,
    hostedOf: async name => (name === 'other.test' ? undefined : domain),
    smartHostOf: () => named ?? relay('smart-host'),
    ownNames: ['mail.mailhorn.test'],
  })
  const relayed = (destination: string) => ({ destination, target: { kind: 'smart-host' } })
  assert.equal(await router.routeOf('loop.test'), { destination: 'here', target: { kind: 'hosted', domain } })
  assert.is((await router.routeOf('empty.test')).destination, 'here')
  for (const name of ['there.test', 'broken.test', 'other.test'])
    assert.equal(await router.routeOf(name), relayed('smart-host'), name)
  assert.is(requests('other.test'), 0)
  named = relay('smart-host-own')
  assert.equal(await router.routeOf('loop.test'), relayed('smart-host-own'))
})

const routes: [target: RouteTarget, destination: string | null][] = [
  [{ kind: 'hosts', hosts: [], hostSet: 'mx.there.test' }, 'a destination'],
  [{ kind: 'smart-host' }, 'a destination'],
  [{ kind: 'simulator' }, null],
  [{ kind: 'undeliverable', enhanced: '5.1.2', reason: 'no such domain' }, null],
  [{ kind: 'unknown', reason: 'no answer' }, null],
]
for (const [target, destination] of routes)
  test(`mail to ${target.kind} is ${destination === null ? 'not ' : ''}counted`, () => {
    assert.is(countedDestination({ destination: 'a destination', target }), destination)
  })

test.run()
