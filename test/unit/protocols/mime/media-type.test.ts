import * as assert from 'uvu/assert'
import { parseMediaType, withCalendarParameters } from '../../../../src/protocols/mime/media-type.ts'
import { assertLinear } from '../../../kit/linear.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/media-type')

const accepted: [text: string, essence: string, parameters: string[]][] = [
  ['image/png', 'image/png', []],
  [' Image/PNG ', 'image/png', []],
  ['application/vnd.ms-excel.sheet+xml', 'application/vnd.ms-excel.sheet+xml', []],
  ['text/plain; charset=utf-8', 'text/plain', ['charset=utf-8']],
  ['text/calendar;method=REQUEST;Charset="UTF-8"', 'text/calendar', ['method=REQUEST', 'charset=UTF-8']],
  ['text/plain; x="a\\"b"', 'text/plain', ["x*=utf-8''a%22b"]],
  ['image/png; name="other.png"; boundary=x', 'image/png', []],
  ['text/plain; charset=a; charset=b', 'text/plain', ['charset=a']],
  ['text/plain; charset=a b; x=y', 'text/plain', ['charset=a']],
  ['text/plain; x="a b"; y=""; z=a/b', 'text/plain', ['x="a b"', 'y=""', 'z="a/b"']],
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

const calendar = (...lines: string[]) => ['BEGIN:VCALENDAR', ...lines, 'END:VCALENDAR', ''].join('\r\n')
const EVENT = ['BEGIN:VEVENT', 'METHOD:PUBLISH', 'END:VEVENT']
const calendars: [what: string, type: string, content: string, parameters: string[]][] = [
  ['a request', '', calendar('VERSION:2.0', 'METHOD:REQUEST'), ['charset=utf-8', 'method=REQUEST']],
  ['lower case', '', calendar('method:request').toLowerCase(), ['charset=utf-8', 'method=REQUEST']],
  ['folded lines', '', calendar('MET', ' HOD:CAN', '\tCEL'), ['charset=utf-8', 'method=CANCEL']],
  ['LF', '', calendar('METHOD:REPLY').replaceAll('\r', ''), ['charset=utf-8', 'method=REPLY']],
  ['a BOM', '', `\ufeff${calendar('METHOD:REPLY')}`, ['charset=utf-8', 'method=REPLY']],
  ['a parameter', '', calendar('METHOD;X-A=b:COUNTER \t'), ['charset=utf-8', 'method=COUNTER']],
  ['components before', '', calendar(...EVENT, 'METHOD:ADD'), ['charset=utf-8', 'method=ADD']],
  ['none', '', calendar('VERSION:2.0'), ['charset=utf-8']],
  ['one inside a component', '', calendar(...EVENT), ['charset=utf-8']],
  ['one inside a text', '', calendar('X-NOTE:see', ' METHOD:ADD'), ['charset=utf-8']],
  ['another property', '', calendar('METHODS:ADD', 'X-METHOD:ADD'), ['charset=utf-8']],
  ['no word', '', calendar('METHOD:A;B="c"'), ['charset=utf-8']],
  ['a method given', ';method=REPLY', calendar('METHOD:REQUEST'), ['charset=utf-8', 'method=REPLY']],
  ['a charset given', ';charset=us-ascii', calendar('METHOD:ADD'), ['method=ADD', 'charset=us-ascii']],
  ['others given', ';component=VEVENT', calendar(), ['charset=utf-8', 'component=VEVENT']],
  ['no calendar', '', 'METHOD:REQUEST', ['charset=utf-8']],
  ['one far away', '', calendar(`X-A:${'x'.repeat(70_000)}`, 'METHOD:ADD'), ['charset=utf-8']],
  ['nothing', '', '', ['charset=utf-8']],
]
for (const [what, input, content, parameters] of calendars)
  test(`a calendar with ${what}: the type has ${parameters.join('; ')}`, () => {
    const type = parseMediaType(`text/calendar${input}`)
    assert.equal(withCalendarParameters(type, Buffer.from(content)), { essence: 'text/calendar', parameters })
  })

test('a calendar that is not UTF-8 gets no charset', () => {
  const content = Buffer.from(calendar('METHOD:ADD', 'SUMMARY:Grüße'), 'latin1')
  assert.equal(withCalendarParameters(parseMediaType('text/calendar'), content).parameters, ['method=ADD'])
})

test('any other type gets no parameters', () => {
  const content = Buffer.from(calendar('METHOD:ADD'))
  assert.equal(withCalendarParameters(parseMediaType('text/plain'), content).parameters, [])
})

test('a hostile calendar is searched in linear time', () => {
  const type = parseMediaType('text/calendar')
  for (const hostile of [
    'BEGIN:',
    'BEGIN:\n',
    '\r\n ',
    '\n',
    '\r',
    'method;',
    'BEGIN:X\nMETHOD:',
    'METHOD: \t',
  ])
    assertLinear(hostile, count => withCalendarParameters(type, Buffer.from(hostile.repeat(count))), 5_000)
})

test('takes time in proportion to the text', () => {
  for (const hostile of [' ', ';', '; a=', '; a=b', '"', '\\', 'a/', '; x="\\'])
    parseMediaType(`text/plain${hostile.repeat(50_000)}`)
})

test.run()
