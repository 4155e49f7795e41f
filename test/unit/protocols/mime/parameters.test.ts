import * as assert from 'uvu/assert'
import { nameParameter, parameter, withParameters } from '../../../../src/protocols/mime/parameters.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/parameters')

const values: [value: string, parameters: string[]][] = [
  ['a.png', ['x="a.png"']],
  ['two  words; and=more', ['x="two  words; and=more"']],
  ["100% o'clock", [`x="100% o'clock"`]],
  ['', ['x=""']],
  ['ü.png', ["x*=utf-8''%C3%BC.png"]],
  ['say "hi"', ["x*=utf-8''say%20%22hi%22"]],
  [`${'x'.repeat(255)}.pdf`, [`x="${'x'.repeat(255)}.pdf"`]],
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

test('a long value is cut into few sections, between characters, that each fit on a line', () => {
  for (const [value, most] of [
    [`${'請求書'.repeat(83)}漢.pdf`, 3],
    [`${'Ünïcødé '.repeat(31)}.pdf`, 3],
    [`${'👩‍👩‍👧'.repeat(50)}.pdf`, 4],
    ['"'.repeat(1_000), 4],
  ] as const) {
    const sections = parameter('filename', value)
    assert.ok(sections.length > 1 && sections.length <= most, `${sections.length}`)
    assert.match(sections[0]!, /^filename\*0\*=utf-8''/)
    for (const [at, section] of sections.entries()) {
      assert.ok(section.startsWith(`filename*${at}*=`))
      assert.ok(section.length <= 996, section)
      assert.type(decodeURIComponent(section.slice(section.indexOf('=') + 1)), 'string')
    }
    const joined = sections.map(section => section.slice(section.indexOf('=') + 1)).join('')
    assert.is(decodeURIComponent(joined.slice("utf-8''".length)), value)
  }
})

const names: [fileName: string, parameter: string][] = [
  ['a b.png', 'name="a b.png"'],
  ['a "b".pdf', 'name="=?UTF-8?B?YSAiYiIucGRm?="'],
  ['請求書.pdf', 'name="=?UTF-8?B?6KuL5rGC5pu4LnBkZg==?="'],
  ['Prüfbericht Q1.pdf', 'name="=?UTF-8?Q?Pr=C3=BCfbericht_Q1=2Epdf?="'],
  ['a\\b', 'name="=?UTF-8?B?YVxi?="'],
  [' a', 'name="=?UTF-8?Q?_a?="'],
  ['=?UTF-8?Q?x?=', 'name="=?UTF-8?B?PT9VVEYtOD9RP3g/PQ==?="'],
  ['\ud800', 'name="=?UTF-8?B?77+9?="'],
]
for (const [fileName, parameterText] of names)
  test(`the name ${JSON.stringify(fileName)} in Content-Type is ${parameterText}`, () => {
    assert.is(nameParameter(fileName), parameterText)
  })

test('a long name in Content-Type is cut into encoded words on lines of their own', () => {
  const field = withParameters('Content-Type', 'text/plain', [nameParameter(`${'Отчёт '.repeat(42)}.txt`)])
  const lines = field.split('\r\n')
  assert.ok(lines.length > 5)
  for (const line of lines) assert.ok(line.length <= 76, line)
  for (const line of lines.slice(1)) assert.match(line, /^ (?:name=")?=\?UTF-8\?B\?[^ ?]+\?="?$/)
})

test('parameters follow the value, folded between them', () => {
  assert.is(withParameters('Content-Type', 'image/png', ['name="a.png"']), 'image/png; name="a.png"')
  assert.is(
    withParameters('Content-Disposition', 'attachment', parameter('filename', 'x'.repeat(60))),
    `attachment;\r\n filename="${'x'.repeat(60)}"`,
  )
})

test('takes time in proportion to the name', () => {
  for (const hostile of [' ', 'é', 'a', '"', '.', 'e\u0301']) {
    parameter('filename', hostile.repeat(100_000))
    nameParameter(hostile.repeat(100_000))
  }
})

test.run()
