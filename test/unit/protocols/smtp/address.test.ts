import * as assert from 'uvu/assert'
import { needsSmtpUtf8, parseDomain, parseMailbox } from '../../../../src/protocols/smtp/address.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('smtp/address')

const accepted: [text: string, name: string | null, address: string][] = [
  ['a@b.test', null, 'a@b.test'],
  ['  a@b.test ', null, 'a@b.test'],
  ['<a@b.test>', null, 'a@b.test'],
  ['Ann Bee <a@b.test>', 'Ann Bee', 'a@b.test'],
  ['Ann<a@b.test>', 'Ann', 'a@b.test'],
  ['"Bee, Ann" <a@b.test>', 'Bee, Ann', 'a@b.test'],
  ['"say \\"hi\\"" <a@b.test>', 'say "hi"', 'a@b.test'],
  ['"" <a@b.test>', null, 'a@b.test'],
  ['Acme Inc. <a@b.test>', 'Acme Inc.', 'a@b.test'],
  ["O'Neil <o'neil@b.test>", "O'Neil", "o'neil@b.test"],
  ['Jörg Müller <j@b.test>', 'Jörg Müller', 'j@b.test'],
  ['"john"@b.test', null, 'john@b.test'],
  ['John.Doe+tag@B.TEST', null, 'John.Doe+tag@b.test'],
  ['a%b@c.test', null, 'a%b@c.test'],
  ['a@bücher.example', null, 'a@xn--bcher-kva.example'],
  ['a@ab--cd.test', null, 'a@ab--cd.test'],
  ['a@b。test', null, 'a@b.test'],
  ['日本@例え.テスト', null, '日本@xn--r8jz45g.xn--zckzah'],
  ['=?utf-8?Q?a=40evil.test=2C?= <x@y.test>', '=?utf-8?Q?a=40evil.test=2C?=', 'x@y.test'],
]
for (const [text, name, address] of accepted)
  test(`address: ${JSON.stringify(text)} is accepted`, () => {
    assert.equal(parseMailbox(text), { name, address, domain: address.slice(address.indexOf('@') + 1) })
  })

const refused = [
  '',
  '<>',
  'a',
  'a@',
  '@b.test',
  'a@@b.test',
  'a@b@c.test',
  'a@b',
  'a@b.test.',
  'a@.b.test',
  'a@b..test',
  'a@-b.test',
  'a@b_c.test',
  'a@1.2.3.4',
  'a@b.0x1f',
  'a@[127.0.0.1]',
  'a@ex%41mple.test',
  'a@b.test>',
  '<a@b.test',
  '<a@b.test> <c@d.test>',
  'a@b.test, c@d.test',
  'Bee, Ann <a@b.test>',
  'a@b.test <c@d.test>',
  'g: a@b.test, c@d.test;',
  '<@r.test:a@b.test>',
  '(comment)a@b.test',
  'a@b.test (comment)',
  'Ann (work) <a@b.test>',
  '"evil@evil.test x"@b.test',
  '"a b"@c.test',
  '"unfinished <a@b.test>',
  'a b@c.test',
  '.a@c.test',
  'a.@c.test',
  'a..b@c.test',
  'a@b.test\r\nRCPT TO:<evil@x.test>',
  'a@b.test\0@c.test',
  'Ann\nBee <a@b.test>',
  '\u200bx@b.test',
  `${'a'.repeat(65)}@b.test`,
  `a@${'b'.repeat(64)}.test`,
  `a@${'b.'.repeat(126)}test`,
  `${'n'.repeat(513)} <a@b.test>`,
]
for (const text of refused)
  test(`address: ${JSON.stringify(text.slice(0, 60))} is refused`, () => {
    const result = parseMailbox(text)
    assert.ok('fault' in result && result.fault.length > 0)
  })

test('address: parsing takes linear time', () => {
  for (const hostile of [
    '.'.repeat(200_000),
    '"'.repeat(200_000),
    '<'.repeat(200_000),
    `${'a.'.repeat(100_000)}@b.test`,
    `a@${'b'.repeat(200_000)}.test`,
    `a@${'b.'.repeat(100_000)}1`,
    `a@${'b-'.repeat(100_000)}`,
  ])
    assert.ok('fault' in parseMailbox(hostile))
})

test('address: a non-ASCII local part needs SMTPUTF8', () => {
  assert.is(needsSmtpUtf8('a@xn--bcher-kva.example'), false)
  assert.is(needsSmtpUtf8('jörg@b.test'), true)
})

test('address: domains can be parsed alone', () => {
  assert.is(parseDomain('Mail.EXAMPLE.test'), 'mail.example.test')
  assert.is(parseDomain('exa mple.test'), undefined)
  assert.is(parseDomain('localhost'), undefined)
})

test.run()
