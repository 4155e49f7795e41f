import * as assert from 'uvu/assert'
import {
  type Mailbox,
  mailboxText,
  needsSmtpUtf8,
  parseDomain,
  parseForeignAddress,
  parseHeaderMailbox,
  parseMailbox,
  searchedAddress,
} from '../../../../src/protocols/smtp/address.ts'
import { assertLinear } from '../../../kit/linear.ts'
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
  ['Acme, Inc. <a@b.test>', 'Acme, Inc.', 'a@b.test'],
  ['Doe, John <a@b.test>', 'Doe, John', 'a@b.test'],
  ['A&B: Team <a@b.test>', 'A&B: Team', 'a@b.test'],
  ['Support (Billing) <a@b.test>', 'Support (Billing)', 'a@b.test'],
  ['Ann [x] <a@b.test>', 'Ann [x]', 'a@b.test'],
  ["O'Neil; Sales <a@b.test>", "O'Neil; Sales", 'a@b.test'],
  ['"Quoted, Name" <a@b.test>', 'Quoted, Name', 'a@b.test'],
  ['Dr. "Bee" Ann, PhD <a@b.test>', 'Dr. "Bee" Ann, PhD', 'a@b.test'],
  ['Hüte & "Hats", Inc. <a@b.test>', 'Hüte & "Hats", Inc.', 'a@b.test'],
  ['Say "hi", Bob <a@b.test>', 'Say "hi", Bob', 'a@b.test'],
  ['Hats "R" Us <a@b.test>', 'Hats "R" Us', 'a@b.test'],
  ['"Hats" & Co <a@b.test>', '"Hats" & Co', 'a@b.test'],
  ['"Hats \\"R\\" Us" <a@b.test>', 'Hats "R" Us', 'a@b.test'],
  ['"Ann" "Bee" <a@b.test>', 'Ann Bee', 'a@b.test'],
  ['AC\\DC <a@b.test>', 'AC\\DC', 'a@b.test'],
  ['I <3 Mail <a@b.test>', 'I <3 Mail', 'a@b.test'],
  ['1 > 0, really <a@b.test>', '1 > 0, really', 'a@b.test'],
  ['Ann @ Work, Inc. <a@b.test>', 'Ann @ Work, Inc.', 'a@b.test'],
  ['ann@b.test via Acme <a@b.test>', 'ann@b.test via Acme', 'a@b.test'],
  ['a@b.test <a@b.test>', 'a@b.test', 'a@b.test'],
  ['"x@y.test, Bob" <a@b.test>', 'x@y.test, Bob', 'a@b.test'],
  ['12" Records <a@b.test>', '12" Records', 'a@b.test'],
  ['Ann "the boss <a@b.test>', 'Ann "the boss', 'a@b.test'],
  ['"Ann" Lee 5" <a@b.test>', '"Ann" Lee 5"', 'a@b.test'],
  ['Ann < a@b.test >', 'Ann', 'a@b.test'],
  ['Ann <a@b.test>\r\n', 'Ann', 'a@b.test'],
  ['\n a@b.test\n', null, 'a@b.test'],
  ['"a b"@b.test', null, '"a b"@b.test'],
  ['"john..doe"@b.test', null, '"john..doe"@b.test'],
  ['<".john.."@b.test>', null, '".john.."@b.test'],
  ['Ann "Bee" <"a.@"@B.test>', 'Ann "Bee"', '"a.@"@b.test'],
  ['"jo\\hn"@b.test', null, 'john@b.test'],
  ['"\\j\\o..hn"@b.test', null, '"jo..hn"@b.test'],
  ['"a\\"b"@b.test', null, '"a\\"b"@b.test'],
  ['"a\\\\"@b.test', null, '"a\\\\"@b.test'],
  ['"evil@evil.test x"@b.test', null, '"evil@evil.test x"@b.test'],
  ['"a,b;c:d(e)[f]"@b.test', null, '"a,b;c:d(e)[f]"@b.test'],
  ['Ann <"a<b>"@b.test>', 'Ann', '"a<b>"@b.test'],
  ['Ann <"<"@b.test>', 'Ann', '"<"@b.test'],
  ['Ann <"\\"<\\"@x"@b.test>', 'Ann', '"\\"<\\"@x"@b.test'],
  ['"Ann"@home <a@b.test>', '"Ann"@home', 'a@b.test'],
  ['"日 本"@b.test', null, '"日 本"@b.test'],
  ['a@b.test (Cron Daemon)', 'Cron Daemon', 'a@b.test'],
  ['(nightly \\) run) a@b.test', 'nightly ) run', 'a@b.test'],
  ['Ann <a@b.test> (work)', 'Ann', 'a@b.test'],
  ['a@b.test ()', null, 'a@b.test'],
  ['a@col·lecció.test', null, 'a@xn--collecci-ioa91d.test'],
  ['a@ΑΒΓ.test', null, 'a@xn--mxacd.test'],
  ['a@テスト・例.test', null, 'a@xn--zckzah8ry26l.test'],
  ['=?utf-8?Q?a=40evil.test=2C?= <x@y.test>', '=?utf-8?Q?a=40evil.test=2C?=', 'x@y.test'],
]
for (const [text, name, address] of accepted)
  test(`address: ${JSON.stringify(text)} is accepted`, () => {
    assert.equal(parseMailbox(text), { name, address, domain: address.slice(address.lastIndexOf('@') + 1) })
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
  'a@b.test, Bob <c@d.test>',
  'a@b.test; Bob <c@d.test>',
  'Ann <a@b.test>, Bob <c@d.test>',
  'Ann <a@b.test> Bob <c@d.test>',
  '"Ann" <a@b.test>, "Bob" <c@d.test>',
  'g: a@b.test, Bob <c@d.test>',
  'Ann <a@b.test, Bob <c@d.test>',
  '<"a b"@b.test>, Bob <c@d.test>',
  '""@b.test',
  '"a\tb"@b.test',
  '"a\nb"@b.test',
  '"a\u200bb"@b.test',
  '"a\u00a0b"@b.test',
  '"a"b@b.test',
  'a"b"@b.test',
  '"a".b@b.test',
  '"a b" @b.test',
  '"a b"@b.test x',
  '"a b@b.test',
  'Ann <"a b"@b.test',
  'Ann <"a"b"@b.test>',
  'Ann <"a b">',
  'Ann <"@b.test>',
  `"${' '.repeat(63)}"@b.test`,
  'Ann <a@b.test\n>',
  'Ann\r <a@b.test>',
  'g: a@b.test, c@d.test;',
  '<@r.test:a@b.test>',
  '(comment',
  'a@b.test (comment',
  'a@b.test (c) (d)',
  'a@b.test (c@d.test), b@c.test',
  '(comment)',
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

/** A character, and what the refusal says about it. */
const named: readonly [text: string, says: string][] = [
  ['a@acme’s.test', '’ (U+2019) in its domain'],
  ['a@“acme”.test', '“ (U+201C) in its domain'],
  ['a@ac·me.test', '· (U+00B7) in its domain'],
  ['a@acme™.test', '™ (U+2122) in its domain'],
  ['a@acme–shop.test', '– (U+2013) in its domain'],
  ['a@acme….test', '… (U+2026) in its domain'],
  ['a@i❤.test', '❤ (U+2764) in its domain'],
  ['a@a・b.test', '・ (U+30FB) in its domain'],
  ['a@ac\u00adme.test', 'invisible character U+00AD'],
  ['\u200ba@b.test', 'invisible character U+200B'],
  ['a@b.test\u200e', 'invisible character U+200E'],
  ['\u202aa@b.test\u202c', 'invisible character U+202A'],
  ['Ann <\ufeffa@b.test>', 'invisible character U+FEFF'],
  ['\u00a0a@b.test', 'invisible character U+00A0'],
  ['a@b.test\ufeff', 'invisible character U+FEFF'],
  ['Ann <a\u00a0@b.test>', 'invisible character U+00A0'],
]
for (const [text, says] of named)
  test(`address: ${JSON.stringify(text)} is refused with ${says}`, () => {
    const result = parseMailbox(text)
    assert.ok('fault' in result && result.fault.includes(says), JSON.stringify(result))
  })

test('address: parsing takes linear time', () => {
  for (const [before, piece, after] of [
    ['', '.', ''],
    ['', '"', ''],
    ['', '<', ''],
    ['', 'a.', '@b.test'],
    ['a@', 'b', '.test'],
    ['a@', 'b.', '1'],
    ['a@', 'b-', ''],
    ['<', '"@<"', '>'],
    ['', 'a,', '<x>'],
    ['', '""', '<x>'],
    ['"', '\\"', ''],
  ] as const) {
    const parse = (count: number) => parseMailbox(before + piece.repeat(count) + after)
    assert.ok('fault' in parse(50_000))
    assertLinear(before + piece + after, parse, 50_000)
  }
})

const foreign: [text: string, address: string | undefined][] = [
  ['john..doe@b.test', '"john..doe"@b.test'],
  ['.john.@b.test', '".john."@b.test'],
  ['"john..doe"@b.test', '"john..doe"@b.test'],
  ['john@b.test', 'john@b.test'],
  ['a b@b.test', undefined],
  ['a@c.test@b.test', undefined],
  ['..@[127.0.0.1]', undefined],
  ['john..doe', undefined],
]
for (const [text, address] of foreign)
  test(`address: ${JSON.stringify(text)} of a foreign program is ${address ?? 'refused'}`, () => {
    const parsed = parseForeignAddress(text)
    assert.is('fault' in parsed ? undefined : parsed.address, address)
  })

const searched: [text: string, converted: string][] = [
  ['z@bücher.example', 'z@xn--bcher-kva.example'],
  ['@BÜCHER.example', '@xn--bcher-kva.example'],
  ['z@bücher', 'z@xn--bcher-kva'],
  ['z@bücher.exa', 'z@xn--bcher-kva.exa'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['z@例え。テスト', 'z@xn--r8jz45g.xn--zckzah'],
  ['z@bücher.', 'z@bücher.'],
  ['z@bü%', 'z@bü%'],
  ['bücher', 'bücher'],
  ['é', 'é'],
  ['"john"@b.test', 'john@b.test'],
  ['a@b', 'a@b'],
  ['@', '@'],
  ['', ''],
]
for (const [text, converted] of searched)
  test(`address: a search for ${JSON.stringify(text)} looks for ${JSON.stringify(converted)}`, () => {
    assert.is(searchedAddress(text), converted)
  })

test('address: a field of a header needs quotes around special characters in names', () => {
  for (const text of [
    'Bee, Ann <a@b.test>',
    'a@c.test <a@b.test>',
    'Ann (work) <a@b.test>',
    'AC\\DC <a@b.test>',
  ])
    assert.ok('fault' in parseHeaderMailbox(text), text)
  assert.equal(parseHeaderMailbox('"Bee, Ann" <"a b"@b.test>'), {
    name: 'Bee, Ann',
    address: '"a b"@b.test',
    domain: 'b.test',
  })
  assert.is((parseHeaderMailbox('Ann "B." Lee <a@b.test>') as Mailbox).name, 'Ann B. Lee')
})

test('address: what is shown for people is read as the same mailbox', () => {
  for (const [text] of accepted) {
    const mailbox = parseMailbox(text) as Mailbox
    assert.equal(parseMailbox(mailboxText(mailbox)), mailbox)
    assert.equal(parseHeaderMailbox(mailboxText(mailbox)), mailbox)
  }
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
