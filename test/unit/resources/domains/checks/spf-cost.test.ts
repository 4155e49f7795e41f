import * as assert from 'uvu/assert'
import { systemClock } from '../../../../../src/lib/clock.ts'
import type { DnsObserver } from '../../../../../src/protocols/dns/dns-observer.ts'
import { resolverObserver } from '../../../../../src/protocols/dns/dns-observer.ts'
import { spfCost } from '../../../../../src/resources/domains/checks/spf-cost.ts'
import { parseSpf } from '../../../../../src/resources/domains/checks/spf-record.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { startZone } from '../../../../kit/zone.ts'
import { customerZone, HOST, openScene } from './scene.ts'

const test = suite('domains/checks/spf-cost')

async function witnessOf(t: TestContext, zone: string): Promise<DnsObserver> {
  const { server } = await t.using(startZone(zone))
  const over = new AbortController()
  t.after(() => over.abort(new Error('the test is over')))
  return resolverObserver(server, { clock: systemClock, timeoutMs: 10_000, tries: 1, signal: over.signal })
}

const ZONE = `
  flat.test    TXT "v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 -all"
  nested.test  TXT "v=spf1 include:flat.test include:flat.test a mx:mail.test -all"
  nested.test  A 192.0.2.1
  mail.test    MX 10 mail.test
  onward.test  TXT "v=spf1 redirect=flat.test"
  loop.test    TXT "v=spf1 include:circle.test -all"
  circle.test  TXT "v=spf1 include:loop.test -all"
  twice.test   TXT "v=spf1 -all"
  twice.test   TXT "v=spf1 ~all"
  text.test    TXT "hello"
  broken.test  SERVFAIL
  six.test     AAAA 2001:db8::1
`

for (const [text, lookUps, voids, ...codes] of [
  ['v=spf1 -all', 0, 0],
  ['v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 exp=why.test ~all', 0, 0],
  ['v=spf1 include:flat.test ~all', 1, 0],
  ['v=spf1 include:nested.test ~all', 5, 0],
  ['V=SPF1 INCLUDE:flat.test ~ALL', 1, 0],
  ['v=spf1 Redirect=flat.test', 1, 0],
  ['v=spf1 redirect=nested.test', 5, 0],
  ['v=spf1 redirect=nested.test -all', 0, 0],
  ['v=spf1 include:onward.test -all', 2, 0],
  ['v=spf1 a:nested.test/24 mx:mail.test//64 ptr exists:%{i}.test -all', 4, 0],
  ['v=spf1 include:%{d}.test -all', 1, 0],
  ['v=spf1 a:none.test mx:none.test -all', 2, 2],
  ['v=spf1 a:none.test mx:none.test a:void.test -all', 3, 3, 'too_many_void_look_ups'],
  ['v=spf1 a:six.test -all', 1, 0],
  ['v=spf1 mx:six.test -all', 1, 1],
  ['v=spf1 ptr:none.test exists:none.test -all', 2, 0],
  ['v=spf1 include:none.test -all', 1, 1, 'broken_include'],
  ['v=spf1 include:text.test -all', 1, 0, 'broken_include'],
  ['v=spf1 include:twice.test -all', 1, 0, 'broken_include'],
  ['v=spf1 include:broken.test -all', 1, 0],
  ['v=spf1 include:loop.test -all', 3, 0, 'spf_loop'],
  ['v=spf1 include:nested.test include:nested.test -all', 10, 0],
  ['v=spf1 include:nested.test include:nested.test a:mail.test -all', 11, 1, 'too_many_look_ups'],
] as const)
  test(`SPF: ${text} needs ${lookUps} lookups, ${voids} of them void`, async t => {
    const cost = await spfCost('send.here.test', text, await witnessOf(t, ZONE))
    assert.equal(
      [cost.lookUps, cost.voids, ...cost.problems.map(({ code }) => code)],
      [lookUps, voids, ...codes],
    )
  })

for (const [target, what] of [
  ['text.test', 'no SPF record'],
  ['none.test', 'no SPF record'],
  ['twice.test', '2 SPF records'],
])
  test(`SPF: the include of ${target} is told to have ${what}`, async t => {
    const { problems } = await spfCost(
      'send.here.test',
      `v=spf1 include:${target} -all`,
      await witnessOf(t, ZONE),
    )
    assert.equal(
      problems.map(({ message }) => message),
      [
        `${target}, which the SPF record includes, has ${what}, which makes the whole record invalid (permerror).`,
      ],
    )
  })

test('SPF: counting stops at a limit', async t => {
  const names = Array.from({ length: 10 }, (_, i) => `w${i}.test`)
  const zone = names
    .map(
      name =>
        `${name} TXT "v=spf1 ${names
          .filter(other => other !== name)
          .map(other => `include:${other}`)
          .join(' ')} -all"`,
    )
    .join('\n')
  const { lookUps, problems } = await spfCost(
    'send.here.test',
    'v=spf1 include:w0.test -all',
    await witnessOf(t, zone),
  )
  assert.ok(lookUps >= 30 && lookUps < 45, String(lookUps))
  assert.match(problems.find(({ code }) => code === 'too_many_look_ups')!.message, /far more DNS lookups/)
})

test('SPF: too many lookups are reported', async t => {
  const many = Array.from({ length: 10 }, (_, i) => `include:i${i}.test`).join(' ')
  const includes = Array.from({ length: 10 }, (_, i) => `i${i}.test TXT "v=spf1 -all"`).join('\n')
  const spf = `send.here.test TXT "v=spf1 include:${HOST} ${many} ~all"`
  const { check } = await openScene(t, `${includes}\n${customerZone('here.test', { SPF: spf })}`)
  const { spf: told } = (await check()).checks
  assert.equal([told.status, told.problems[0]!.code], ['failed', 'too_many_look_ups'])
  assert.match(told.advice!, /needs 11 DNS lookups; more than 10 make it invalid/)
})

test('SPF: terms are parsed, invalid ones are errors', () => {
  const { terms, faults } = parseSpf('v=spf1  +A -MX:h.test/24 ?ip4:192.0.2.1 x-note=hi include: bogus ~ALL')
  assert.equal(
    terms.map(({ qualifier, name, value }) => `${qualifier}${name} ${value}`.trim()),
    ['+a', '-mx h.test/24', '?ip4 192.0.2.1', '+x-note hi', '~all'],
  )
  assert.equal(faults, ['include:', 'bogus'])
})

test.run()
