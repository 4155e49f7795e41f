import * as assert from 'uvu/assert'
import { parseMediaType } from '../../../../src/protocols/mime/media-type.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/media-type')

const accepted: [text: string, essence: string, parameters: string[]][] = [
  ['image/png', 'image/png', []],
  [' Image/PNG ', 'image/png', []],
  ['application/vnd.ms-excel.sheet+xml', 'application/vnd.ms-excel.sheet+xml', []],
  ['text/plain; charset=utf-8', 'text/plain', ['charset="utf-8"']],
  ['text/calendar;method=REQUEST;Charset="UTF-8"', 'text/calendar', ['method="REQUEST"', 'charset="UTF-8"']],
  ['text/plain; x="a\\"b"', 'text/plain', ["x*=utf-8''a%22b"]],
  ['image/png; name="other.png"; boundary=x', 'image/png', []],
  ['text/plain; charset=a; charset=b', 'text/plain', ['charset="a"']],
  ['text/plain; charset=a b; x=y', 'text/plain', ['charset="a"']],
  ['text/plain; charset=ü', 'text/plain', ["charset*=utf-8''%C3%BC"]],
  ['text/plain; x="a\r\nB: c"', 'text/plain', ["x*=utf-8''a%0D%0AB%3A%20c"]],
]
for (const [text, essence, parameters] of accepted)
  test(`reads ${JSON.stringify(text)}`, () => {
    assert.equal(parseMediaType(text), { essence, parameters })
  })

for (const text of [
  '',
  'png',
  'image/',
  '/png',
  'image/png/x',
  'image/png\r\nX-Evil: 1',
  'bild/übel',
  'multipart/mixed; boundary=x',
  'Multipart/Alternative',
])
  test(`${JSON.stringify(text)} is application/octet-stream`, () => {
    assert.equal(parseMediaType(text), { essence: 'application/octet-stream', parameters: [] })
  })

test('takes time in proportion to the text', () => {
  for (const hostile of [' ', ';', '; a=', '; a=b', '"', '\\', 'a/', '; x="\\'])
    parseMediaType(`text/plain${hostile.repeat(50_000)}`)
})

test.run()
