import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import {
  type AddressOptions,
  lookUpAddresses,
  lookUpMxHosts,
  type MxHosts,
  type MxOptions,
} from '../../../../src/protocols/dns/mx-hosts.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { startZone, type ZoneOptions } from '../../../kit/zone.ts'

const test = suite('dns/mx-hosts')
/** Leaves every list as it is. */
const LAST = 1 - Number.EPSILON

async function setUp(t: TestContext, text: string, options: ZoneOptions & { timeoutMs?: number } = {}) {
  const dns = await t.using(startZone(text, options))
  const resolver = await t.using(
    createResolver({
      servers: [dns.server],
      timeoutMs: options.timeoutMs ?? 15_000,
      tries: 1,
      clock: systemClock,
    }),
  )
  return {
    dns,
    hostsOf: (domain: string, mxOptions: Partial<MxOptions> = {}) =>
      lookUpMxHosts(resolver, domain, { random: () => LAST, ...mxOptions }),
    addressesOf: (host: string, addressOptions: Partial<AddressOptions> = {}) =>
      lookUpAddresses(resolver, host, { families: ['ipv4', 'ipv6'], random: () => LAST, ...addressOptions }),
  }
}

function namesOf(found: MxHosts): string[] {
  return found.kind === 'hosts' ? found.hosts.map(({ name }) => name) : [found.kind]
}

test('MX hosts: sorted by preference', async t => {
  const { hostsOf } = await setUp(
    t,
    `
    there.example MX 30 c.example
    there.example MX 10 a.example
    there.example MX 20 b.example`,
  )
  assert.equal(await hostsOf('there.example'), {
    kind: 'hosts',
    implicit: false,
    hosts: [
      { name: 'a.example', preference: 10 },
      { name: 'b.example', preference: 20 },
      { name: 'c.example', preference: 30 },
    ],
  })
})

test('MX hosts: hosts with the same preference are shuffled', async t => {
  const { hostsOf } = await setUp(
    t,
    `
    there.example MX 5 first.example
    there.example MX 10 a.example
    there.example MX 10 b.example
    there.example MX 10 c.example
    there.example MX 20 last.example`,
  )
  const begins = new Map<string, number>()
  let seed = 1
  const random = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  for (let i = 0; i < 300; i++) {
    const [first, ...rest] = namesOf(await hostsOf('there.example', { random }))
    assert.is(first, 'first.example')
    assert.is(rest.at(-1), 'last.example')
    begins.set(rest[0]!, (begins.get(rest[0]!) ?? 0) + 1)
  }
  for (const name of ['a.example', 'b.example', 'c.example']) assert.ok(begins.get(name)! > 60, name)
})

test('MX hosts: a duplicate host keeps its better preference', async t => {
  const { hostsOf } = await setUp(
    t,
    `
    there.example MX 20 mx.example
    there.example MX 10 MX.example
    there.example MX 15 other.example`,
  )
  assert.equal(namesOf(await hostsOf('there.example')), ['mx.example', 'other.example'])
})

test('MX hosts: only the 20 most preferred hosts are kept', async t => {
  const lines = Array.from({ length: 1000 }, (_, i) => `many.example MX ${i} mx${i}.many.example`)
  const { hostsOf } = await setUp(t, lines.reverse().join('\n'))
  const names = namesOf(await hostsOf('many.example'))
  assert.equal(
    names,
    Array.from({ length: 20 }, (_, i) => `mx${i}.many.example`),
  )
})

test('MX hosts: a null MX is recognized with any preference', async t => {
  const { hostsOf } = await setUp(
    t,
    `
    zero.example MX 0 .
    zero.example A 127.0.0.2
    ten.example MX 10 .`,
  )
  assert.equal(await hostsOf('zero.example'), { kind: 'null-mx' })
  assert.equal(await hostsOf('ten.example'), { kind: 'null-mx' })
})

test('MX hosts: a null MX among other records is ignored', async t => {
  const { hostsOf } = await setUp(t, 'there.example MX 0 .\nthere.example MX 10 mx.example')
  assert.equal(namesOf(await hostsOf('there.example')), ['mx.example'])
})

test('MX hosts: an MX that is not a host name is skipped', async t => {
  const { hostsOf } = await setUp(
    t,
    `
    there.example MX 10 two\\032words.example
    there.example MX 20 mx.example
    hopeless.example MX 10 <mx>.example`,
  )
  assert.equal(namesOf(await hostsOf('there.example')), ['mx.example'])
  assert.equal(await hostsOf('hopeless.example'), { kind: 'no-mail' })
})

test('MX hosts: a domain with an address and no MX is its own host', async t => {
  const { hostsOf } = await setUp(t, 'four.example A 127.0.0.2\nsix.example AAAA ::1')
  for (const name of ['four.example', 'six.example'])
    assert.equal(await hostsOf(name), { kind: 'hosts', implicit: true, hosts: [{ name, preference: 0 }] })
})

test('MX hosts: a domain without MX and address accepts no mail', async t => {
  const { hostsOf } = await setUp(t, 'host.there.example A 127.0.0.2\nthere.example TXT "no mail here"')
  assert.equal(await hostsOf('there.example'), { kind: 'no-mail' })
})

test('MX hosts: no address is looked up for a domain that does not exist', async t => {
  const { dns, hostsOf } = await setUp(t, '')
  assert.equal(await hostsOf('nowhere.example'), { kind: 'no-domain' })
  assert.equal(
    dns.queries.map(({ type }) => type),
    ['MX'],
  )
})

for (const behaviour of ['SERVFAIL', 'REFUSED', 'TIMEOUT', 'MALFORMED'])
  test(`MX hosts: ${behaviour} for MX is a failure without fallback to the address`, async t => {
    const { dns, hostsOf } = await setUp(t, `there.example ${behaviour} MX\nthere.example A 127.0.0.2`, {
      timeoutMs: behaviour === 'TIMEOUT' ? 250 : 15_000,
    })
    assert.is((await hostsOf('there.example')).kind, 'failure')
    assert.ok(dns.queries.every(({ type }) => type === 'MX'))
  })

test('MX hosts: without MX, a failed address look-up is a failure unless the other family has an address', async t => {
  const { hostsOf } = await setUp(
    t,
    `
    none.example AAAA ::1
    none.example SERVFAIL AAAA
    some.example A 127.0.0.2
    some.example SERVFAIL AAAA`,
  )
  assert.is((await hostsOf('none.example')).kind, 'failure')
  assert.is((await hostsOf('some.example')).kind, 'hosts')
})

for (const bareCname of [false, true]) {
  const who = bareCname ? 'us' : 'the name server'
  test(`MX hosts: a domain that is a CNAME, followed by ${who}, has the MX or address of its target`, async t => {
    const { hostsOf } = await setUp(
      t,
      `
      alias.example CNAME second.example
      second.example CNAME there.example
      there.example MX 10 mx.example
      short.example CNAME host.example
      host.example A 127.0.0.2
      null.example CNAME no-mail.example
      no-mail.example MX 0 .
      dangling.example CNAME nowhere.example`,
      { bareCname },
    )
    assert.equal(namesOf(await hostsOf('alias.example')), ['mx.example'])
    assert.equal(namesOf(await hostsOf('short.example')), ['host.example'])
    assert.is((await hostsOf('null.example')).kind, 'null-mx')
    assert.is((await hostsOf('dangling.example')).kind, 'no-domain')
  })

  test(`MX hosts: a CNAME loop, found by ${who}, is a failure`, async t => {
    const { dns, hostsOf, addressesOf } = await setUp(
      t,
      'a.example CNAME b.example\nb.example CNAME a.example',
      { bareCname },
    )
    assert.is((await hostsOf('a.example')).kind, 'failure')
    assert.is((await addressesOf('a.example')).kind, 'failure')
    assert.ok(dns.queries.length < 100)
  })
}

test('MX hosts: 16 CNAMEs are followed, 17 are not', async t => {
  const chain = Array.from({ length: 17 }, (_, i) => `c${i}.example CNAME c${i + 1}.example`)
  const { hostsOf } = await setUp(t, [...chain, 'c17.example MX 10 mx.example'].join('\n'), {
    bareCname: true,
  })
  assert.is((await hostsOf('c1.example')).kind, 'hosts')
  assert.is((await hostsOf('c0.example')).kind, 'failure')
})

test('MX hosts: if this installation is a host, only more preferred hosts are tried', async t => {
  const { hostsOf } = await setUp(
    t,
    `
    there.example MX 5 nearer.example
    there.example MX 10 equal.example
    there.example MX 10 us.example
    there.example MX 20 farther.example`,
  )
  const ownNames = ['other.example', 'US.Example']
  assert.equal(namesOf(await hostsOf('there.example', { ownNames })), ['nearer.example'])
})

test('MX hosts: without a more preferred host the result is a loop', async t => {
  const { hostsOf } = await setUp(
    t,
    `
    there.example MX 10 us.example
    there.example MX 20 backup.example
    us.example A 127.0.0.1`,
  )
  assert.equal(await hostsOf('there.example', { ownNames: ['us.example'] }), { kind: 'loop' })
  assert.equal(await hostsOf('us.example', { ownNames: ['us.example'] }), { kind: 'loop' })
})

const DUAL = `
  mx.example A 127.0.0.2
  mx.example A 127.0.0.3
  mx.example A 127.0.0.4
  mx.example AAAA ::2
  mx.example AAAA ::3`

test('MX addresses: the families alternate, the preferred one first', async t => {
  const { addressesOf } = await setUp(t, DUAL)
  assert.equal(await addressesOf('mx.example'), {
    kind: 'addresses',
    addresses: ['127.0.0.2', '::2', '127.0.0.3', '::3', '127.0.0.4'],
  })
  assert.equal(await addressesOf('mx.example', { families: ['ipv6', 'ipv4'] }), {
    kind: 'addresses',
    addresses: ['::2', '127.0.0.2', '::3', '127.0.0.3', '127.0.0.4'],
  })
})

test('MX addresses: an unreachable family is not looked up', async t => {
  const { dns, addressesOf } = await setUp(t, DUAL)
  assert.equal(await addressesOf('mx.example', { families: ['ipv6'] }), {
    kind: 'addresses',
    addresses: ['::2', '::3'],
  })
  assert.equal(
    dns.queries.map(({ type }) => type),
    ['AAAA'],
  )
  assert.equal(await addressesOf('mx.example', { families: [] }), { kind: 'none' })
})

test('MX addresses: addresses of a family are shuffled and limited', async t => {
  const { addressesOf } = await setUp(t, DUAL)
  const found = await addressesOf('mx.example', { families: ['ipv4'], limit: 2, random: () => 0 })
  assert.equal(found, { kind: 'addresses', addresses: ['127.0.0.3', '127.0.0.4'] })
})

test('MX addresses: one family suffices; a failure of both is a failure', async t => {
  const { addressesOf } = await setUp(
    t,
    `
    half.example A 127.0.0.2
    half.example SERVFAIL AAAA
    broken.example SERVFAIL`,
  )
  assert.equal(await addressesOf('half.example'), { kind: 'addresses', addresses: ['127.0.0.2'] })
  assert.is((await addressesOf('broken.example')).kind, 'failure')
})

test('MX addresses: a host without addresses or that does not exist has none', async t => {
  const { addressesOf } = await setUp(t, 'mx.example TXT "no address"')
  assert.equal(await addressesOf('mx.example'), { kind: 'none' })
  assert.equal(await addressesOf('nowhere.example'), { kind: 'none' })
  assert.equal(await addressesOf('127.0.0.1'), { kind: 'none' })
})

for (const bareCname of [false, true])
  test(`an MX host that is a CNAME is tolerated${bareCname ? ', chased by us' : ''}`, async t => {
    const { addressesOf } = await setUp(t, 'mx.example CNAME host.example\nhost.example A 127.0.0.2', {
      bareCname,
    })
    assert.equal(await addressesOf('mx.example'), { kind: 'addresses', addresses: ['127.0.0.2'] })
  })

test.run()
