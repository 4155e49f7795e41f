import * as assert from 'uvu/assert'
import { mailboxList } from '../../../../src/protocols/mime/mailbox-list.ts'
import { suite } from '../../../kit/suite.ts'
import { mailbox } from './messages.ts'

const test = suite('mime/mailbox-list')

const names: [name: string | null, value: string][] = [
  [null, 'a@b.test'],
  ['', 'a@b.test'],
  [' \u00a0', 'a@b.test'],
  ['\u3000Ann \n', 'Ann <a@b.test>'],
  ['Ann', 'Ann <a@b.test>'],
  ['Ann Bee', 'Ann Bee <a@b.test>'],
  ["O'Neil & Sons", "O'Neil & Sons <a@b.test>"],
  ['Acme Inc.', '"Acme Inc." <a@b.test>'],
  ['Bee, Ann', '"Bee, Ann" <a@b.test>'],
  ['say "hi"', '"say \\"hi\\"" <a@b.test>'],
  ['Say "hi", Bob', '"Say \\"hi\\", Bob" <a@b.test>'],
  ['Hüte & "Hats", Inc.', '=?UTF-8?B?SMO8dGUgJiAiSGF0cyIsIEluYy4=?= <a@b.test>'],
  ['back\\slash', '"back\\\\slash" <a@b.test>'],
  ['x@y.test', '"x@y.test" <a@b.test>'],
  ['two  blanks', '"two  blanks" <a@b.test>'],
  ['Jörg Müller', '=?UTF-8?B?SsO2cmcgTcO8bGxlcg==?= <a@b.test>'],
  ['Jörg, von Beruf Koch', '=?UTF-8?Q?J=C3=B6rg=2C_von_Beruf_Koch?= <a@b.test>'],
  ['日本', '=?UTF-8?B?5pel5pys?= <a@b.test>'],
  ['=?utf-8?Q?x?=', '=?UTF-8?B?PT91dGYtOD9RP3g/PQ==?= <a@b.test>'],
  ['a\r\nBcc: x', '"a Bcc: x" <a@b.test>'],
  ['bell\u0007', '=?UTF-8?Q?bell=07?= <a@b.test>'],
]
for (const [name, value] of names)
  test(`the name ${JSON.stringify(name)} goes out as ${value}`, () => {
    assert.is(mailboxList('From', [mailbox('a@b.test', name)]), value)
  })

test('several mailboxes stand between commas and fold after them', () => {
  const list = Array.from({ length: 50 }, (_, at) => mailbox(`recipient-${at}@there.test`, `Bee, Ann ${at}`))
  const value = mailboxList('To', list)
  assert.is(value.replaceAll('\r\n', ''), list.map(one => `"${one.name}" <${one.address}>`).join(', '))
  for (const line of `To: ${value}`.split('\r\n')) assert.ok(line.length <= 76, line)
})

test('mailboxes share a line of up to 76 characters, with the name of the field', () => {
  const foldedTo = (address: string) => mailboxList('To', [mailbox('a@b.test'), mailbox(address)])
  const fitting = `${'b'.repeat(55)}@b.test`
  assert.is(`To: ${foldedTo(fitting)}`.length, 76)
  assert.is(foldedTo(`b${fitting}`), `a@b.test,\r\n b${fitting}`)
})

test('a name longer than a line is encoded, as quoted strings must not fold', () => {
  const value = mailboxList('To', [mailbox('a@b.test', 'word. '.repeat(85).trim())])
  assert.match(value, /^(?:=\?UTF-8\?[BQ]\?[^? ]+\?=\r\n )+=\?UTF-8\?[BQ]\?[^? ]+\?=(?:\r\n)? <a@b\.test>$/)
  for (const line of `To: ${value}`.split('\r\n')) assert.ok(line.length <= 76, line)
})

test('a local part outside ASCII goes out as UTF-8 (RFC 6532)', () => {
  assert.is(mailboxList('To', [mailbox('日本@xn--r8jz45g.xn--zckzah')]), '日本@xn--r8jz45g.xn--zckzah')
})

test.run()
