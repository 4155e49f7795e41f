import * as assert from 'uvu/assert'
import { readReversePath } from '../../../../src/pipeline/inbound/smtp-connection.ts'
import { assertLinear } from '../../../kit/linear.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/return-path')

const TAKEN = [
  'ann@there.example',
  'user..x@docomo.ne.jp',
  '.x@y.example',
  'x.@y.example',
  '...@y.example',
  '"user..x"@docomo.ne.jp',
  '"a b"@b.example',
  '"a\\"b"@x.example',
  '"a>b <c>"@x.example',
  '"a@c.example"@x.example',
  '""@x.example',
  '"a".b."c d"@x.example',
  'a"b@x.example',
  'a@c.example@x.example',
  'a:b,c;d(e)[f]\\g@x.example',
  'bounce+1=bob=there.example@x.example',
  'a@sub_domain.example',
  'a@_spf.example',
  'a@-x-.example',
  'a@localhost',
  'a@[192.0.2.1]',
  'a@[IPv6:2001:db8::1]',
  'jürgen@dörfer.example',
  'a@xn--drfer-jua.example',
  `${'a'.repeat(200)}@x.example`,
  `${'a'.repeat(254 - '@x.example'.length)}@x.example`,
]
for (const address of TAKEN)
  test(`return path: ${address.slice(0, 40)} is kept as text`, () => {
    assert.equal(readReversePath(`MAIL FROM:<${address}> BODY=8BITMIME`), { address, rest: ' BODY=8BITMIME' })
    assert.equal(readReversePath(`mail from: <${address}>`), { address, rest: '' })
  })

test('return path: the null sender has no address, and a source route is left out', () => {
  assert.equal(readReversePath('MAIL FROM:<> SIZE=1'), { address: '', rest: ' SIZE=1' })
  assert.is(readReversePath('MAIL FROM:<@a.example,@b.example:x..y@c.example>')!.address, 'x..y@c.example')
})

const REFUSED: [what: string, path: string][] = [
  ['no brackets', 'ann@there.example'],
  ['no closing bracket', '<ann@there.example'],
  ['no opening bracket', 'ann@there.example>'],
  ['brackets within brackets', '<<ann@there.example>>'],
  ['text behind the bracket', '<ann@there.example>SIZE=1'],
  ['a display name', 'Ann <ann@there.example>'],
  ['no domain', '<ann>'],
  ['an empty domain', '<ann@>'],
  ['a quoted local part alone', '<"a@b.example">'],
  ['no local part', '<@there.example>'],
  ['blanks alone', '< >'],
  ['a blank outside quotes', '<a b@there.example>'],
  ['a blank in quotes that do not close', '<"a b@there.example>'],
  ['a blank in its domain', '<a@there .example>'],
  ['an empty label', '<a@there..example>'],
  ['a literal that is not closed', '<a@[192.0.2.1>'],
  ['a control character', '<a\x01b@there.example>'],
  ['a quoted control character', '<"a\rb"@there.example>'],
  ['a quoted NUL', '<"a\\\0b"@there.example>'],
  ['a character without a width', '<a\u200bb@there.example>'],
  ['255 octets', `<${'a'.repeat(255 - '@x.example'.length)}@x.example>`],
  ['255 octets in fewer characters', `<${'ü'.repeat(123)}@xx.example>`],
]
for (const [what, path] of REFUSED)
  test(`return path: with ${what} it is a syntax error`, () =>
    assert.is(readReversePath(`MAIL FROM:${path}`), undefined))

test('return path: hostile commands are read in linear time', () => {
  for (const unit of ['"', '"a"', '"\\', '\\"', '<', '@a,', 'a@', '.'])
    assertLinear(
      unit,
      count => assert.is(readReversePath(`MAIL FROM:<${unit.repeat(count)}`), undefined),
      125_000,
    )
})

test.run()
