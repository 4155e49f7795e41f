import * as assert from 'uvu/assert'
import { textEntity } from '../../../../src/protocols/mime/text-entity.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/text-entity')

const encodings: [text: string, encoding: string, content: string][] = [
  ['', '7bit', ''],
  ['Hello\n', '7bit', 'Hello\r\n'],
  ['a\rb\r\nc', '7bit', 'a\r\nb\r\nc'],
  ['a\tb', '7bit', 'a\tb'],
  ['1 = 1', '7bit', '1 = 1'],
  ['.hidden', '7bit', '.hidden'],
  ['x'.repeat(76), '7bit', 'x'.repeat(76)],
  ['x'.repeat(77), 'quoted-printable', `${'x'.repeat(75)}=\r\nxx`],
  ['trailing ', 'quoted-printable', 'trailing=20'],
  ['.', 'quoted-printable', '=2E'],
  ['From me', 'quoted-printable', '=46rom me'],
  ['bell\u0007', 'quoted-printable', 'bell=07'],
  ['Grüße', 'quoted-printable', 'Gr=C3=BC=C3=9Fe'],
  ['--=_mixed_x', 'quoted-printable', '--=3D_mixed_x'],
  ['half \ud800', 'quoted-printable', 'half =EF=BF=BD'],
  ['日本語\n', 'base64', Buffer.from('日本語\r\n').toString('base64')],
  ['Привет, мир', 'base64', Buffer.from('Привет, мир').toString('base64')],
]
for (const [text, encoding, content] of encodings)
  test(`${JSON.stringify(text.slice(0, 20))} goes out as ${encoding}`, () => {
    const entity = textEntity('plain', text)
    const out = Buffer.alloc(entity.sizeBytes)
    entity.write(out, 0)
    assert.is(out.toString('latin1'), content)
    assert.equal(entity.fields, [
      { name: 'Content-Type', value: 'text/plain; charset=utf-8' },
      { name: 'Content-Transfer-Encoding', value: encoding },
    ])
  })

test('text that is half ASCII stays readable', () => {
  assert.is(textEntity('html', '<p>Übergrößenträger</p>'.repeat(9)).fields[1]!.value, 'quoted-printable')
})

test('base64 text has CRLF line ends inside', () => {
  const entity = textEntity('html', '日本\n語\r')
  const out = Buffer.alloc(entity.sizeBytes)
  entity.write(out, 0)
  assert.is(Buffer.from(out.toString('latin1'), 'base64').toString(), '日本\r\n語\r\n')
})

test.run()
