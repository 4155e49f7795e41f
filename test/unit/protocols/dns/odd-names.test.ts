import * as assert from 'uvu/assert'
import { systemClock as clock } from '../../../../src/lib/clock.ts'
import { withOddNames } from '../../../../src/protocols/dns/odd-names.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { startZone } from '../../../kit/zone.ts'

const test = suite('dns/odd-names')

async function start(t: TestContext, text: string, more: readonly string[] = []) {
  const zone = await t.using(startZone(text))
  const servers = [...more, zone.server]
  const timeoutMs = more.length > 0 ? 300 : 10_000 // for any machine, unless a server is silent
  const resolver = await t.using(createResolver({ servers, clock, timeoutMs, tries: 1 }))
  return { zone, odd: withOddNames(resolver, { servers, clock, timeoutMs }) }
}

test('odd names: names of printable characters are looked up', async t => {
  const { odd, zone } = await start(
    t,
    `ann+tag.here.test TXT "hello"
     foo:bar/baz.here.test A 192.0.2.1
     (x)@y.here.test CNAME foo:bar/baz.here.test
     a=b.here.test MX 10 MX.here.test
     a=b.here.test AAAA 2001:db8::1`,
  )
  assert.equal(await odd.txt('Ann+Tag.here.test.'), { kind: 'found', records: ['hello'] })
  assert.equal(await odd.addresses4('foo:bar/baz.here.test'), { kind: 'found', records: ['192.0.2.1'] })
  assert.equal(await odd.addresses4('(x)@y.here.test'), { kind: 'found', records: ['192.0.2.1'] })
  assert.equal(await odd.mx('a=b.here.test'), {
    kind: 'found',
    records: [{ exchange: 'mx.here.test', preference: 10 }],
  })
  assert.equal(await odd.addresses6('a=b.here.test'), { kind: 'found', records: ['2001:db8::1'] })
  assert.equal(await odd.txt('a=b.here.test'), { kind: 'no-data' })
  assert.equal(await odd.txt('gone+.here.test'), { kind: 'no-domain' })
  assert.equal(await odd.txt('a \\b.here.test'), { kind: 'no-domain' })
  assert.is(zone.queries.at(-1)!.name, 'a\\032\\092b.here.test')
})

test('odd names: a text that cannot be a name is not queried', async t => {
  const { odd, zone } = await start(t, '')
  for (const name of [
    '',
    'a..b',
    '.a',
    `${'+'.repeat(64)}.test`,
    `${'+.'.repeat(130)}test`,
    'ü.test',
    'a\n.test',
  ])
    assert.equal(await odd.txt(name), { kind: 'no-domain' }, name)
  assert.is(zone.queries.length, 0)
})

test('odd names: the next server is tried after a failure; a failure of all is a failure', async t => {
  const bad = await t.using(startZone('a+b.test SERVFAIL\nc+d.test TIMEOUT'))
  const { odd, zone } = await start(t, 'a+b.test TXT "x"\nc+d.test TXT "y"', [bad.server])
  assert.equal(await odd.txt('a+b.test'), { kind: 'found', records: ['x'] })
  assert.equal(await odd.txt('c+d.test'), { kind: 'found', records: ['y'] })
  zone.set('a+b.test REFUSED')
  assert.equal(await odd.txt('a+b.test'), { kind: 'failure', reason: 'the name server answered with code 5' })
})

test.run()
