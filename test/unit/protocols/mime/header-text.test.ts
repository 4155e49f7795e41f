import * as assert from 'uvu/assert'
import { literalText, oneLine, userText } from '../../../../src/protocols/mime/header-text.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/header-text')

const literal: [text: string, value: string][] = [
  ['', ''],
  ['Your order', 'Your order'],
  ['two  blanks', 'two  blanks'],
  ['Grüße aus Köln am Rhein', '=?UTF-8?B?R3LDvMOfZQ==?= aus =?UTF-8?B?S8O2bG4=?= am Rhein'],
  ['Grüße Käte', '=?UTF-8?B?R3LDvMOfZSBLw6R0ZQ==?='],
  [' outer blanks ', 'outer blanks'],
  ['\t\u00a0\ufeff\u3000\r\nouter blanks of all kinds\u2029\n', 'outer blanks of all kinds'],
  ['inner\u00a0blank', '=?UTF-8?Q?inner=C2=A0blank?='],
  [' ', ''],
  ['a =?UTF-8?Q?b?= c', 'a =?UTF-8?B?PT9VVEYtOD9RP2I/PQ==?= c'],
  ['a\r\nBcc: x@y.test', 'a Bcc: x@y.test'],
  ['a\n\n\rb', 'a b'],
  ['tab\there', 'tab\there'],
  ['two\t\ttabs and = ?', 'two\t\ttabs and = ?'],
  ['is a =? b', 'is a =? b'],
  ['=?x?= and ?=', '=?x?= and ?='],
  ['=?utf-8?b?a b?= c', '=?UTF-8?B?PT91dGYtOD9iP2E=?= b?= c'],
  ['bell\x07 here', '=?UTF-8?Q?bell=07?= here'],
  ['\ud800', '=?UTF-8?B?77+9?='],
]
for (const [text, value] of literal)
  test(`a subject ${JSON.stringify(text)} goes out as ${JSON.stringify(value)}`, () => {
    assert.is(literalText('Subject', text), value)
  })

const user: [name: string, input: string, value: string][] = [
  ['X-Ref', 'a=?b', 'a=?b'],
  ['X-Ref', '=?UTF-8?Q?encoded_by_the_user?=', '=?UTF-8?Q?encoded_by_the_user?='],
  ['X-Ref', ' \tblanks outside\t ', 'blanks outside'],
  ['X-Ref', 'tab\tinside', 'tab\tinside'],
  ['X-Ref', 'Käte <k@b.test>', '=?UTF-8?B?S8OkdGU=?= <k@b.test>'],
  ['References', '<a@b.test>  <c@d.test>\t<e@f.test>', '<a@b.test> <c@d.test> <e@f.test>'],
  ['References', '<a@b.test><c@d.test>', '<a@b.test> <c@d.test>'],
  ['List-Unsubscribe', '<https://b.test/ü>,<mailto:u@b.test>', '<https://b.test/%C3%BC>, <mailto:u@b.test>'],
  ['List-ID', 'Größen <g.b.test>', '=?UTF-8?B?R3LDtsOfZW4=?= <g.b.test>'],
  ['In-Reply-To', '<a=?b@c.test>', '<a=?b@c.test>'],
]
for (const [name, input, value] of user)
  test(`a user's ${name}: ${JSON.stringify(input)} goes out as ${JSON.stringify(value)}`, () => {
    assert.is(userText(name, input), value)
  })

test('long text folds at its blanks and reads the same when unfolded', () => {
  const text = 'all the news that is fit to print '.repeat(20).trim()
  const value = literalText('Subject', text)
  assert.is(value.replaceAll('\r\n', ''), text)
  for (const line of `Subject: ${value}`.split('\r\n')) assert.ok(line.length <= 76, line)
})

test('it never folds in a run of blanks, as readers shrink those', () => {
  const text = 'a  b   c    '.repeat(30).trim()
  assert.is(literalText('Subject', text), text)
})

test('3000 characters without a blank are encoded where nothing but text is at stake', () => {
  const url = `https://b.test/?${'q'.repeat(3000)}`
  const value = userText('X-Link', `see ${url}`)
  assert.match(value, /^see\r\n =\?UTF-8\?/)
  for (const line of `X-Link: ${value}`.split('\r\n')) assert.ok(line.length <= 76, line)
})

test('a URL of up to 996 octets stays whole on a line of its own', () => {
  const url = `<https://b.test/${'q'.repeat(979)}>`
  assert.is(url.length, 996)
  assert.is(userText('List-Unsubscribe', url), `\r\n ${url}`)
  assert.is(userText('List-Unsubscribe', `<mailto:u@b.test>, ${url}`), `<mailto:u@b.test>,\r\n ${url}`)
})

test('what fits no line is encoded even where readers then cannot use it, since the message must travel', () => {
  const value = userText('List-Unsubscribe', `<mailto:u@b.test>, <https://b.test/${'q'.repeat(1000)}>`)
  assert.match(value, /^<mailto:u@b\.test>,\r\n =\?UTF-8\?/)
  for (const line of `List-Unsubscribe: ${value}`.split('\r\n')) assert.ok(line.length <= 998)
})

test('many message ids fold between them', () => {
  const ids = Array.from({ length: 200 }, (_, at) => `<${at}.0123456789abcdef@mail.b.test>`)
  const value = userText('References', ids.join(''))
  assert.equal(value.split(/(?:\r\n)? /), ids)
  for (const line of `References: ${value}`.split('\r\n')) assert.ok(line.length <= 76, line)
})

test('one line holds neither line breaks nor half characters', () => {
  assert.is(oneLine('a\r\n\r\nb\udc00c'), 'a b\ufffdc')
})

test('takes time in proportion to the text', () => {
  for (const hostile of ['<', '> ', '><', ' ', 'é ', 'a', '=?', '\t', 'é'])
    for (const name of ['Subject', 'References']) {
      const text = hostile.repeat(200_000 / hostile.length)
      literalText(name, text)
      userText(name, text)
    }
})

test.run()
