import * as assert from 'uvu/assert'
import {
  type LineSurvey,
  startsFrom,
  surveyLines,
  writeCrlfLines,
} from '../../../../src/protocols/mime/line-survey.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/line-survey')

const nothing: LineSurvey = {
  nonAsciiCount: 0,
  controlCount: 0,
  equalsCount: 0,
  lineCount: 1,
  longestLineOctets: 0,
  bareCrCount: 0,
  bareLfCount: 0,
  hasFragileLine: false,
  hasBlankRun: false,
}

const cases: [text: string, found: Partial<LineSurvey>][] = [
  ['', {}],
  ['abc', { longestLineOctets: 3 }],
  ['a\r\nbcd\r\n', { lineCount: 3, longestLineOctets: 3 }],
  ['a\nb\n', { lineCount: 3, longestLineOctets: 1, bareLfCount: 2 }],
  ['a\rb\r', { lineCount: 3, longestLineOctets: 1, bareCrCount: 2 }],
  ['\r\r\n\n', { lineCount: 4, bareCrCount: 1, bareLfCount: 1 }],
  ['é=', { nonAsciiCount: 2, equalsCount: 1, longestLineOctets: 3 }],
  ['\u0001\f\0\x7f', { controlCount: 4, longestLineOctets: 4 }],
  ['a\tb', { longestLineOctets: 3, hasBlankRun: true }],
  ['a b c', { longestLineOctets: 5 }],
  ['a  b', { longestLineOctets: 4, hasBlankRun: true }],
  ['a \n b', { lineCount: 2, longestLineOctets: 2, bareLfCount: 1, hasFragileLine: true }],
  ['a \nb', { lineCount: 2, longestLineOctets: 2, bareLfCount: 1, hasFragileLine: true }],
  ['a\t', { longestLineOctets: 2, hasFragileLine: true, hasBlankRun: true }],
  ['.', { longestLineOctets: 1, hasFragileLine: true }],
  ['.a', { longestLineOctets: 2 }],
  ['a\r\n.\r\nb', { lineCount: 3, longestLineOctets: 1, hasFragileLine: true }],
  ['From a', { longestLineOctets: 6, hasFragileLine: true }],
  ['From', { longestLineOctets: 4 }],
  ['>From a', { longestLineOctets: 7 }],
  ['a\nFrom b', { lineCount: 2, longestLineOctets: 6, bareLfCount: 1, hasFragileLine: true }],
]
for (const [text, found] of cases)
  test(`finds in ${JSON.stringify(text)} what matters`, () => {
    assert.equal(surveyLines(Buffer.from(text)), { ...nothing, ...found })
  })

for (const [text, lines] of [
  ['', ''],
  ['a\nb', 'a\r\nb'],
  ['a\rb\r', 'a\r\nb\r\n'],
  ['a\r\nb\r\n', 'a\r\nb\r\n'],
  ['\r\r\n\n', '\r\n\r\n\r\n'],
  ['\n\r', '\r\n\r\n'],
] as const)
  test(`${JSON.stringify(text)} with CRLF line ends is ${JSON.stringify(lines)}`, () => {
    const out = Buffer.alloc(lines.length + 2, '#')
    assert.is(writeCrlfLines(Buffer.from(text), out, 1), lines.length + 1)
    assert.is(`${out}`, `#${lines}#`)
    const { bareCrCount, bareLfCount } = surveyLines(Buffer.from(text))
    assert.is(text.length + bareCrCount + bareLfCount, lines.length)
  })

test('"From " counts with its blank only', () => {
  assert.ok(startsFrom(Buffer.from('xFrom y'), 1))
  for (const text of ['from y', 'From', 'Fromy', 'FROM y', ''])
    assert.not.ok(startsFrom(Buffer.from(text), 0))
})

test.run()
