import * as assert from 'uvu/assert'
import {
  fitsPolicy,
  parseStsPolicy,
  stsIdOf,
} from '../../../../../src/pipeline/delivery/tls-policy/sts-policy.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('MTA-STS policy')

for (const [texts, id] of [
  [['v=STSv1; id=20160831085700Z;'], '20160831085700Z'],
  [['v=STSv1;id=a'], 'a'],
  [['v=STSv1 ; other=x; id=9'], '9'],
  [['v=spf1 -all', 'v=STSv1; id=1'], '1'],
  [['v=STSv1; id=1', 'v=STSv1; id=2'], undefined],
  [['v=STSv1; id=1; id=2'], undefined],
  [['v=STSv1;'], undefined],
  [['id=1; v=STSv1'], undefined],
  [['v=STSv2; id=1'], undefined],
  [['v=STSv1; id=not-a-number'], undefined],
  [[`v=STSv1; id=${'1'.repeat(33)}`], undefined],
  [['v=STSv11; id=1'], undefined],
  [[], undefined],
] as const)
  test(`the id of ${JSON.stringify(texts)} is ${id}`, () => {
    assert.is(stsIdOf(texts), id)
  })

const GOOD = 'version: STSv1\nmode: enforce\nmx: mail.example.test\nmx: *.Example.NET\nmax_age: 604800\n'

test('a policy says its mode, its hosts and its age', () => {
  const policy = { mode: 'enforce', mx: ['mail.example.test', '*.example.net'], maxAgeSeconds: 604_800 }
  assert.equal(parseStsPolicy(GOOD), policy)
  assert.equal(parseStsPolicy(GOOD.replaceAll('\n', '\r\n')), policy)
  assert.equal(parseStsPolicy(`${GOOD}mode: none\nfuture_field: x\n\n`), policy)
})

for (const [what, text, changes] of [
  [
    'an age of more than a year is a year',
    GOOD.replace('604800', '9999999999'),
    { maxAgeSeconds: 31_557_600 },
  ],
  [
    'mode none needs no hosts',
    'version: STSv1\nmode: none\nmax_age: 60',
    { mode: 'none', mx: [], maxAgeSeconds: 60 },
  ],
] as const)
  test(what, () => {
    const policy = parseStsPolicy(text)
    assert.equal(policy, { ...(parseStsPolicy(GOOD) as object), ...changes })
  })

for (const [what, text] of [
  ['another version', GOOD.replace('STSv1', 'STSv2')],
  ['no version', GOOD.replace('version: STSv1\n', '')],
  ['an unknown mode', GOOD.replace('enforce', 'strict')],
  ['no mode', GOOD.replace('mode: enforce\n', '')],
  ['no age', GOOD.replace('max_age: 604800\n', '')],
  ['an age that is no number', GOOD.replace('604800', '1e9')],
  ['a negative age', GOOD.replace('604800', '-1')],
  ['no hosts', GOOD.replace(/mx: .*\n/g, '')],
  ['a host that is none', GOOD.replace('mail.example.test', 'mail example test')],
  ['a pattern within a name', GOOD.replace('mail.example.test', 'mx.*.example.test')],
  ['a pattern of part of a label', GOOD.replace('mail.example.test', 'mx*.example.test')],
  ['every host there is', GOOD.replace('mail.example.test', '*')],
  ['an address', GOOD.replace('mail.example.test', '[192.0.2.1]')],
  ['a line that is no field', `${GOOD}<html>`],
  ['nothing', ''],
] as const)
  test(`a policy with ${what} is none`, () => {
    assert.ok('fault' in parseStsPolicy(text))
  })

for (const [mx, host, fits] of [
  ['mx.there.test', 'mx.there.test', true],
  ['mx.there.test', 'mx2.there.test', false],
  ['*.there.test', 'mx.there.test', true],
  ['*.there.test', 'a.mx.there.test', false],
  ['*.there.test', 'there.test', false],
  ['*.there.test', 'mxthere.test', false],
  ['there.test', 'mx.there.test', false],
] as const)
  test(`${host} is ${fits ? '' : 'not '}in ${mx}`, () => {
    assert.is(fitsPolicy({ mx: [mx] }, host), fits)
  })

test.run()
