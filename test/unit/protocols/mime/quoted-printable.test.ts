import * as assert from 'uvu/assert'
import { surveyLines } from '../../../../src/protocols/mime/line-survey.ts'
import { encodeQuotedPrintable } from '../../../../src/protocols/mime/quoted-printable.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'
import { checked } from './arbitraries.ts'

const test = suite('mime/quoted-printable')

const cases: [text: string, encoded: string][] = [
  ['', ''],
  ['plain', 'plain'],
  ['1 = 1', '1 =3D 1'],
  ['é', '=C3=A9'],
  ['a\tb c', 'a\tb c'],
  ['a \nb\t\nc ', 'a=20\r\nb=09\r\nc=20'],
  ['a  \n', 'a =20\r\n'],
  [' \n', '=20\r\n'],
  ['.\n..\n.a\na.', '=2E\r\n=2E.\r\n=2Ea\r\na.'],
  ['From me\nFrom\n>From me', '=46rom me\r\nFrom\r\n>From me'],
  ['a\rb\nc\r\nd\n\re', 'a\r\nb\r\nc\r\nd\r\n\r\ne'],
  ['\0\f\x7f\u2028', '=00=0C=7F=E2=80=A8'],
  ['x'.repeat(76), 'x'.repeat(76)],
  ['x'.repeat(77), `${'x'.repeat(75)}=\r\nxx`],
  [`${'x'.repeat(76)}\ny`, `${'x'.repeat(76)}\r\ny`],
  [`${'x'.repeat(75)} \ny`, `${'x'.repeat(75)}=\r\n=20\r\ny`],
  [`${'x'.repeat(73)}é`, `${'x'.repeat(73)}=\r\n=C3=A9`],
  [`${'x'.repeat(70)}é`, `${'x'.repeat(70)}=C3=A9`],
  [`${'x'.repeat(75)}.y`, `${'x'.repeat(75)}=\r\n=2Ey`],
  [`${'x'.repeat(75)}From you`, `${'x'.repeat(75)}=\r\n=46rom you`],
]
for (const [text, encoded] of cases)
  test(`${JSON.stringify(text.length > 30 ? `${text.slice(0, 3)}…${text.slice(-12)}` : text)} is encoded`, () => {
    assert.is(encode(text), encoded)
  })

test('a strict reader gets every text back, and no relay has a reason to touch a line', () => {
  const naughty = fc.constantFrom(
    '\r\n',
    '\n',
    '\r',
    ' ',
    '\t',
    '.',
    'From ',
    '=',
    'é',
    'x'.repeat(30),
    '\0',
    '👍',
  )
  const texts = fc.array(fc.oneof(naughty, fc.string({ unit: 'binary', maxLength: 9 })), { maxLength: 60 })
  checked(texts, pieces => {
    const text = pieces.join('')
    const encoded = encode(text)
    assert.is(decodeStrictly(encoded), text.replace(/\r\n|\r|\n/g, '\r\n'))
    for (const line of encoded.split('\r\n')) {
      assert.ok(line.length <= 76)
      assert.not.match(line, /^From |^\.|[ \t]$/)
    }
  })
})

test('takes time and memory in proportion to the text', () => {
  for (const hostile of ['\n', ' ', 'x', '=', '.\n', ' \n', '.', 'From ', '\r\n\t'])
    assert.ok(encode(hostile.repeat(1_000_000 / hostile.length)).length >= 1_000_000)
})

function encode(text: string): string {
  const bytes = Buffer.from(text)
  return encodeQuotedPrintable(bytes, surveyLines(bytes)).toString('latin1')
}

/** RFC 2045 §6.7 to the letter: anything that its grammar does not allow is an error. */
function decodeStrictly(encoded: string): string {
  assert.match(encoded, /^(?:[\t\r\n -<>-~]|=[0-9A-F]{2}|=\r\n)*$/)
  assert.not.match(encoded, /\r(?!\n)|(?<!\r)\n/)
  const octets = encoded
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(octets, 'latin1').toString()
}

test.run()
