import * as assert from 'uvu/assert'
import {
  fileNameParameters,
  parameter,
  plainFileName,
  withParameters,
} from '../../../../src/protocols/mime/parameters.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/parameters')

const values: [value: string, parameters: string[]][] = [
  ['a.png', ['x="a.png"']],
  ['two  words; and=more', ['x="two  words; and=more"']],
  ["100% o'clock", [`x="100% o'clock"`]],
  ['', ['x=""']],
  ['ü.png', ["x*=utf-8''%C3%BC.png"]],
  ['say "hi"', ["x*=utf-8''say%20%22hi%22"]],
  ['a\\b', ["x*=utf-8''a%5Cb"]],
  [' a', ["x*=utf-8''%20a"]],
  ['a ', ["x*=utf-8''a%20"]],
  ['a\r\nX: b', ["x*=utf-8''a%0D%0AX%3A%20b"]],
  ['\0', ["x*=utf-8''%00"]],
  ["é*'()", ["x*=utf-8''%C3%A9%2a%27%28%29"]],
  ['=?UTF-8?Q?x?=', ["x*=utf-8''%3D%3FUTF-8%3FQ%3Fx%3F%3D"]],
  ['\ud800', ["x*=utf-8''%EF%BF%BD"]],
]
for (const [value, parameters] of values)
  test(`${JSON.stringify(value)} becomes ${parameters}`, () => {
    assert.equal(parameter('x', value), parameters)
  })

test('a long value is cut into sections, between characters, that each fit on a line', () => {
  const value = `${'Ünïcødé '.repeat(40)}.pdf`
  const sections = parameter('filename', value)
  assert.ok(sections.length > 5)
  assert.match(sections[0]!, /^filename\*0\*=utf-8''/)
  for (const [at, section] of sections.entries()) {
    assert.ok(section.startsWith(`filename*${at}*=`))
    assert.ok(section.length <= 74, section)
    assert.type(decodeURIComponent(section.slice(section.indexOf('=') + 1)), 'string')
  }
  const joined = sections.map(section => section.slice(section.indexOf('=') + 1)).join('')
  assert.is(decodeURIComponent(joined.slice("utf-8''".length)), value)
})

test('an ASCII file name is said once, any other is followed by a plain form', () => {
  assert.equal(fileNameParameters('a b.png'), ['filename="a b.png"'])
  assert.equal(fileNameParameters('Köln.png'), ["filename*=utf-8''K%C3%B6ln.png", 'filename="Koln.png"'])
})

const plain: [fileName: string, ascii: string][] = [
  ['a.png', 'a.png'],
  ['Ærø Straße.pdf', '_r_ Stra_e.pdf'],
  ['日本語.txt', '_.txt'],
  ['日本', '_'],
  ['"a"\\b?=.png', '_a_b_.png'],
  ['a\r\nb\0.png', 'a_b_.png'],
  ['', '_'],
  [`${'x'.repeat(300)}.jpeg`, `${'x'.repeat(55)}.jpeg`],
  ['x'.repeat(300), 'x'.repeat(60)],
  [`a.${'x'.repeat(300)}`, `a.${'x'.repeat(58)}`],
]
for (const [fileName, ascii] of plain)
  test(`the plain form of ${JSON.stringify(fileName.slice(0, 30))} is ${ascii}`, () => {
    assert.is(plainFileName(fileName), ascii)
  })

test('parameters follow the value, folded between them', () => {
  assert.is(withParameters('Content-Type', 'image/png', ['name="a.png"']), 'image/png; name="a.png"')
  assert.is(
    withParameters('Content-Disposition', 'attachment', parameter('filename', 'x'.repeat(60))),
    `attachment;\r\n filename="${'x'.repeat(60)}"`,
  )
})

test('takes time in proportion to the name', () => {
  for (const hostile of [' ', 'é', 'a', '"', '.', 'e\u0301']) fileNameParameters(hostile.repeat(100_000))
})

test.run()
