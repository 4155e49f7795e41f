import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import { nameFaults, reverseName } from '../../../../src/protocols/dns/reverse.ts'
import { suite } from '../../../kit/suite.ts'
import { startZone } from '../../../kit/zone.ts'

const test = suite('dns/reverse')
const V6 = '2001:db8::1'

const ZONE = `
  1.2.0.192.in-addr.arpa  PTR  Mail1.Here.Test
  mail1.here.test         A    192.0.2.1
  2.2.0.192.in-addr.arpa  PTR  old.here.test
  2.2.0.192.in-addr.arpa  PTR  mail2.here.test
  mail2.here.test         A    192.0.2.9
  mail2.here.test         A    192.0.2.2
  4.2.0.192.in-addr.arpa  PTR  mail1.here.test
  5.2.0.192.in-addr.arpa  SERVFAIL
  mail5.here.test         A    192.0.2.5
  ${reverseName(V6)}      PTR  mail6.here.test
  mail6.here.test         AAAA 2001:db8:0:0::1
`

for (const [address, ehlo, ...faults] of [
  ['192.0.2.1', 'mail1.here.test'],
  ['192.0.2.2', 'mail2.here.test'],
  [V6, 'mail6.here.test'],
  ['192.0.2.1', 'mail2.here.test', 'the EHLO name mail2.here.test does not resolve to 192.0.2.1'],
  [
    '192.0.2.3',
    'missing.here.test',
    '192.0.2.3 has no PTR record',
    'the EHLO name missing.here.test does not resolve to 192.0.2.3',
  ],
  [
    '192.0.2.4',
    'mail1.here.test',
    'the PTR record of 192.0.2.4 names mail1.here.test, which does not resolve to it',
    'the EHLO name mail1.here.test does not resolve to 192.0.2.4',
  ],
  [
    '192.0.2.5',
    'mail5.here.test',
    'the PTR record of 192.0.2.5 could not be looked up: the name server answered SERVFAIL',
  ],
] as const)
  test(`${address} as ${ehlo}: ${faults[0] ?? 'good'}`, async t => {
    const zone = await t.using(startZone(ZONE))
    const resolver = await t.using(
      createResolver({ servers: [zone.server], clock: systemClock, timeoutMs: 10_000, tries: 1 }),
    )
    assert.equal(await nameFaults(resolver, address, ehlo), faults)
  })

test('reverse DNS: names of addresses in the reverse trees', () => {
  assert.is(reverseName('192.0.2.10'), '10.2.0.192.in-addr.arpa')
  assert.is(
    reverseName('2001:db8::567:89ab'),
    'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
  )
})

test.run()
