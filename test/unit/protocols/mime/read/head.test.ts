import * as assert from 'uvu/assert'
import {
  fieldRanges,
  isFieldNamed,
  rangeValue,
  readHead,
} from '../../../../../src/protocols/mime/read/head.ts'
import { readMail } from '../../../../../src/protocols/mime/read/read-mail.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/read/head')

interface HeadCase {
  what: string
  text: string
  /** Values of the From fields. */
  from: string[]
  body: string
  /** The first line that is not a field. */
  otherLine?: string
}
const CASES: HeadCase[] = [
  { what: 'an empty line ends it', text: 'From: a\n\nFrom: b\n', from: ['a'], body: 'From: b\n' },
  { what: 'without an empty line, the octets end it', text: 'From: a\nTo: b', from: ['a'], body: '' },
  {
    what: 'a line that is not a field is skipped in front of a usual field',
    text: 'Subject: x\nno field\nX-Other: y\nFrom: a\n\nbody',
    from: ['a'],
    body: 'body',
    otherLine: 'no field',
  },
  {
    what: 'a first line that is not a field is skipped, too',
    text: '<html>\nFrom: a\n\nbody',
    from: ['a'],
    body: 'body',
    otherLine: '<html>',
  },
  {
    what: 'a skipped line takes its continuation lines with it',
    text: 'From: a\nno field\n ,b\n\t,c\nTo: d\n\nbody',
    from: ['a'],
    body: 'body',
    otherLine: 'no field',
  },
  {
    what: 'a line that is not a field begins the body if no usual field follows',
    text: 'From: a\nDear Bob,\nPS: late\n more\n\nFrom: b',
    from: ['a'],
    body: 'Dear Bob,\nPS: late\n more\n\nFrom: b',
    otherLine: 'Dear Bob,',
  },
  {
    what: 'a text without fields is the body as a whole',
    text: 'Dear Bob,\nPS: late\n\nFrom: b',
    from: [],
    body: 'Dear Bob,\nPS: late\n\nFrom: b',
    otherLine: 'Dear Bob,',
  },
  {
    what: 'fields may follow several lines that are none',
    text: 'one\nSubject: x\ntwo\nthree\nFrom: a\nfour\n\nbody',
    from: ['a'],
    body: 'four\n\nbody',
    otherLine: 'one',
  },
  { what: 'a folded value is joined', text: 'From: a\n\t b\n\n', from: ['a\t b'], body: '' },
  { what: 'a line of blanks continues a field', text: 'From: a\n \nTo: b\n\n', from: ['a'], body: '' },
  {
    what: 'a line of blanks at the beginning ends it',
    text: ' \nFrom: a\n\n',
    from: [],
    body: 'From: a\n\n',
  },
  { what: 'blanks may precede the colon', text: 'From \t: a\n\n', from: ['a'], body: '' },
  {
    what: 'a line break may not precede the colon',
    text: 'From\n : a\n\n',
    from: [],
    body: 'From\n : a\n\n',
    otherLine: 'From',
  },
  {
    what: 'the line of a mailbox file is skipped',
    text: 'From a Sat Nov 21\nFrom: b\n\n',
    from: ['b'],
    body: '',
  },
  {
    what: 'fields of one name keep their order',
    text: 'From: a\nfrom: b\nFROM: c\n\n',
    from: ['a', 'b', 'c'],
    body: '',
  },
  { what: 'CR alone is not a line end', text: 'Subject: x\rFrom: a\n\n', from: [], body: '' },
]
for (const { what, text, from, body, otherLine } of CASES)
  for (const lineEnd of ['\n', '\r\n'])
    test(`header section, lines end in ${JSON.stringify(lineEnd)}: ${what}`, () => {
      const bytes = Buffer.from(text.replaceAll('\n', lineEnd), 'latin1')
      const read = readHead(bytes)
      assert.equal(read.head.all('from'), from)
      assert.is(read.head.raw('from'), from[0])
      assert.is(bytes.toString('latin1', read.bodyAt), body.replaceAll('\n', lineEnd))
      const at = read.otherLineAt
      assert.is(at === undefined ? at : bytes.toString('latin1', at).split(lineEnd)[0], otherLine)
    })

test('header section: ranges hold every field that readHead finds, with the same value', () => {
  const line = fc.constantFrom(
    'From: a',
    ' b',
    'From : c',
    'no field',
    'From',
    ' : d',
    ': e',
    'X: f',
    '',
    '\r',
    '>From x',
  )
  const message = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 10 })
  fc.assert(
    fc.property(message, lines => {
      const bytes = Buffer.from(lines.flat().join(''))
      const ranges = [...fieldRanges(bytes)].filter(range => isFieldNamed(bytes, range, 'from'))
      const values = ranges.map(range => rangeValue(bytes, range))
      const found = readHead(bytes).head.all('from')
      // A line break before a colon is a name for other programs alone, so there may be ranges between.
      let last = -1
      for (const value of found) {
        last = values.findIndex(
          (other, i) => i > last && other.replace(/\r$/, '') === value.replace(/\r$/, ''),
        )
        assert.ok(last >= 0, value)
      }
      assert.is(readMail(bytes).headers.filter(([name]) => name === 'From').length, found.length)
    }),
    { numRuns: 2_000 },
  )
})

test.run()
