import * as assert from 'uvu/assert'
import { readPath } from '../../../../src/pipeline/inbound/envelope-path.ts'
import { assertLinear } from '../../../kit/linear.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/envelope-path')

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
    assert.equal(readPath(`MAIL FROM:<${address}> BODY=8BITMIME`), { address, rest: ' BODY=8BITMIME' })
    assert.equal(readPath(`mail from: <${address}>`), { address, rest: '' })
    assert.equal(readPath(`RCPT TO:<${address}>`), { address, rest: '' })
  })

test('return path: the null sender has no address, and a source route is left out', () => {
  assert.equal(readPath('MAIL FROM:<> SIZE=1'), { address: '', rest: ' SIZE=1' })
  assert.is(readPath('MAIL FROM:<@a.example,@b.example:x..y@c.example>')!.address, 'x..y@c.example')
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
  ['a mark of the direction', '<ab@there.example\u202c>'],
  ['a soft hyphen', '<a\u00adb@there.example>'],
  ['255 octets', `<${'a'.repeat(255 - '@x.example'.length)}@x.example>`],
  ['255 octets in fewer characters', `<${'ü'.repeat(123)}@xx.example>`],
]
for (const [what, path] of REFUSED)
  test(`return path: with ${what} it is a syntax error`, () =>
    assert.is(readPath(`MAIL FROM:${path}`), undefined))

test('the root dot of a domain is left out, and further dots are an error', () => {
  assert.is(readPath('MAIL FROM:<a@peer.example.>')!.address, 'a@peer.example')
  assert.is(readPath('RCPT TO:<"x. y."@peer.example.> NOTIFY=NEVER')!.address, '"x. y."@peer.example')
  assert.is(readPath('MAIL FROM:<a@peer.example..>'), undefined)
  assert.is(readPath('MAIL FROM:<a@.>'), undefined)
})

test('a recipient without a domain is the postmaster alone, and never nobody', () => {
  assert.is(readPath('RCPT TO:<Postmaster>')!.address, 'Postmaster')
  for (const path of ['<>', '<ann>', '<postmaster@>']) assert.is(readPath(`RCPT TO:${path}`), undefined)
})

/** MAIL FROM and RCPT TO commands as devices write them, with the parsed address. */
const OF_DEVICES: readonly [command: string, address: string | undefined, rest?: string][] = [
  ['MAIL FROM:ann@x.example', 'ann@x.example'],
  ['MAIL FROM: ann@x.example SIZE=100', 'ann@x.example', ' SIZE=100'],
  ['MAIL FROM:"a b"@x.example BODY=8BITMIME', '"a b"@x.example', ' BODY=8BITMIME'],
  ['MAIL FROM:<scanner>', 'scanner'],
  ['MAIL FROM:printer', 'printer'],
  ['MAIL FROM:<>', ''],
  ['RCPT TO:bob@x.example.', 'bob@x.example'],
  ['RCPT TO:bob', undefined],
  ['MAIL FROM:', undefined],
  ['MAIL FROM:Ann <ann@x.example>', undefined],
  ['MAIL FROM:<ann@x.example', undefined],
  ['MAIL FROM:ann@x.example>', undefined],
  ['MAIL FROM:a b@x.example', 'a', ' b@x.example'],
]
for (const [command, address, rest = ''] of OF_DEVICES)
  test(`of a device: ${command} is ${address ?? 'a syntax error'}`, () =>
    assert.equal(readPath(command, 'of-devices'), address === undefined ? undefined : { address, rest }))

test('return path: hostile commands are read in linear time', () => {
  const read = (path: string) => assert.is(readPath(`MAIL FROM:${path}`, 'of-devices'), undefined)
  for (const unit of ['"', '"a"', '"\\', '\\"', '<', '@a,', 'a@', '.'])
    for (const bracket of ['<', '']) assertLinear(unit, count => read(bracket + unit.repeat(count)), 125_000)
})

test.run()
