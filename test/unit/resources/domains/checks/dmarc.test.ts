import * as assert from 'uvu/assert'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { openScene } from './scene.ts'

const test = suite('domains/checks/dmarc')

async function dmarc(t: TestContext, zone: string, domain = 'here.test') {
  const { check } = await openScene(t, zone, { domain })
  return (await check()).checks.dmarc
}

for (const [text, status, policy, ...codes] of [
  ['v=DMARC1; p=none', 'verified', 'none'],
  ['v=DMARC1;p=Reject;sp=none; rua=mailto:dmarc@here.test', 'verified', 'reject'],
  ['v=DMARC1; p=quarantine; rua=mailto:a@here.test,mailto:b@elsewhere.test!10m', 'verified', 'quarantine'],
  ['v=DMARC1; p=none; rua=dmarc@here.test', 'verified', 'none', 'dmarc_rua'],
  ['v=DMARC1; p=none; aspf=s', 'verified', 'none', 'strict_spf_alignment'],
  ['v=DMARC1; p=none; aspf=S', 'verified', 'none', 'strict_spf_alignment'],
  ['v=DMARC1; p=none; aspf=r', 'verified', 'none'],
  ['v=DMARC1', 'failed', undefined, 'dmarc_syntax'],
  ['v=DMARC1; p=everything', 'failed', undefined, 'dmarc_syntax'],
  ['v=DMARC1; p=none; sp=maybe', 'failed', undefined, 'dmarc_syntax'],
  ['v=dmarc1; p=none', 'failed', undefined, 'dmarc_syntax'],
  ['v=DMARC1 p=none', 'failed', undefined, 'dmarc_syntax'],
  ['\\"v=DMARC1; p=none\\"', 'failed', undefined, 'quoted'],
  ['v=DMARC2; p=none', 'pending', undefined, 'missing'],
] as const)
  test(`${text} is ${status}${policy ? `, ${policy}` : ''}`, async t => {
    const check = await dmarc(t, `_dmarc.here.test TXT "${text}"`)
    assert.equal(
      [check.status, check.policy?.policy, ...check.problems.map(({ code }) => code)],
      [status, policy, ...codes],
    )
  })

test('DMARC: report addresses are listed', async t => {
  const { policy } = await dmarc(
    t,
    '_dmarc.here.test TXT "v=DMARC1; p=none; rua=mailto:a@b.test, mailto:c@d.test"',
  )
  assert.equal(policy, {
    domain: 'here.test',
    inherited: false,
    policy: 'none',
    p: 'none',
    sp: null,
    rua: ['mailto:a@b.test', 'mailto:c@d.test'],
  })
})

test('DMARC: a domain inherits the subdomain policy of its parent', async t => {
  const zone = '_dmarc.here.test TXT "v=DMARC1; p=reject; sp=quarantine"'
  const { status, policy } = await dmarc(t, zone, 'shop.eu.here.test')
  assert.equal(
    [status, policy!.domain, policy!.inherited, policy!.policy],
    ['verified', 'here.test', true, 'quarantine'],
  )
  const own = await dmarc(t, `${zone}\n_dmarc.shop.here.test TXT "v=DMARC1; p=none"`, 'shop.here.test')
  assert.equal([own.policy!.domain, own.policy!.policy], ['shop.here.test', 'none'])
})

test('DMARC: two records or none give advice', async t => {
  const two = await dmarc(
    t,
    '_dmarc.here.test TXT "v=DMARC1; p=none"\n_dmarc.here.test TXT "v=DMARC1; p=reject"',
  )
  assert.equal([two.status, two.problems[0]!.code, two.policy], ['failed', 'several_dmarc', null])
  const none = await dmarc(t, 'here.test A 192.0.2.1')
  assert.equal([none.status, none.found], ['pending', []])
  assert.match(none.advice!, /Add a TXT record at _dmarc\.here\.test, for example "v=DMARC1; p=none"/)
})

test('DMARC: no answer is not a missing policy', async t => {
  const check = await dmarc(t, '_dmarc.here.test SERVFAIL')
  assert.equal([check.status, check.problems.map(({ code }) => code)], ['pending', ['no_answer']])
})

test.run()
