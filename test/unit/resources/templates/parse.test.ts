import * as assert from 'uvu/assert'
import { PLACEHOLDERS_MAX, parseText, writeText } from '../../../../src/resources/templates/parse.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('templates/parse')

/** Literals in quotes, placeholders as `name`, `name|fallback`, raw ones with a star. */
function shown(text: string): string {
  const { literals, placeholders } = parseText(text)
  return literals
    .flatMap((literal, i) => {
      const placeholder = placeholders[i]
      if (!placeholder) return [`"${literal}"`]
      const { name, fallback, raw } = placeholder
      return [`"${literal}"`, `${raw ? '*' : ''}${name}${fallback === null ? '' : `|${fallback}`}`]
    })
    .filter(part => part !== '""')
    .join(' ')
}

for (const [text, expected] of [
  ['', ''],
  ['no braces', '"no braces"'],
  ['{{name}}', 'name'],
  ['Hi {{name}}!', '"Hi " name "!"'],
  ['{{a}}{{b}}', 'a b'],
  ['{{  name\t}}', 'name'],
  ['{{\nname\r\n}}', 'name'],
  ['{{\u00a0name\u00a0}}', 'name'],
  ['{{user.first_name}}', 'user.first_name'],
  ['{{items.0.price}}', 'items.0.price'],
  ['{{order-id}} {{_x}} {{-}} {{9}}', 'order-id " " _x " " - " " 9'],
  ['{{größe}} {{名前}}', 'größe " " 名前'],
  ['{{Company Name}}', 'Company Name'],
  ['{{name|there}}', 'name|there'],
  ['{{ name | dear friend }}', 'name|dear friend'],
  ['{{name|}}', 'name|'],
  ['{{name| }}', 'name|'],
  ['{{name|a|b}}', 'name|a|b'],
  ['{{name|two\nlines}}', 'name|two\nlines'],
  ['{{name|<b>x</b> & "y"}}', 'name|<b>x</b> & "y"'],
  ['{{{name}}}', '*name'],
  ['{{{ user.name | x }}}', '*user.name|x'],
  ['{{{{name}}}}', '"{" *name "}"'],
  ['{{{name}}', '"{" name'],
  ['{{name}}}', 'name "}"'],
  ['.a{color:{{color}}}', '".a{color:" color "}"'],
  ['{{{a}}{{b}}}', '"{" a b "}"'],
  ['a{{b{{c}}d', '"a{{b" c "d"'],
  ['{{a}{{b}}', '"{{a}" b'],
  ['{{constructor}} {{__proto__}}', 'constructor " " __proto__'],
] as const)
  test(`template parser: ${JSON.stringify(text)} is ${expected || 'nothing'}`, () => {
    assert.is(shown(text), expected)
  })

for (const text of [
  '{',
  '{{',
  '{{}}',
  '{{ }}',
  '{{{}}}',
  '{name}',
  '{{name}',
  '{name}}',
  '{{name',
  'name}}',
  '{ {name} }',
  '{{|x}}',
  '{{.}}',
  '{{a.}}',
  '{{.a}}',
  '{{a..b}}',
  '{{a . b}}',
  '{{#each items}}',
  '{{/each}}',
  '{{! comment}}',
  '{{> partial}}',
  '{{^none}}',
  '{{&name}}',
  '{{a:1}}',
  '{{a()}}',
  "{{constructor.constructor('x')()}}",
  '{{a[0]}}',
  '{{a+b}}',
  '{{"a"}}',
  '{{a\nb}}',
  '{{a{b}}',
  '{{a|{b}}}',
  '{{a|b}c}}',
  `{{${'n'.repeat(101)}}}`,
])
  test(`template parser: ${JSON.stringify(text.slice(0, 30))} has no placeholder`, () => {
    assert.equal(parseText(text), { literals: [text], placeholders: [] })
  })

test('template parser: a verbatim name is recognized by the caller and by its mark', () => {
  const isName = (text: string) => ['Company/Team', 'No.', 'a: b'].includes(text)
  const text = '{{Company/Team}} {{{ No. | x }}} {{a: b|}} {{a/b}} {{.}} {{|x}} {{name|Company/Team}}'
  const parsed = parseText(text, isName)
  assert.equal(
    parsed.placeholders.map(({ name, fallback, raw, verbatim }) => [name, fallback, raw, verbatim]),
    [
      ['Company/Team', null, false, true],
      ['No.', 'x', true, true],
      ['a: b', '', false, true],
      ['name', 'Company/Team', false, false],
    ],
  )
  assert.equal(parseText(writeText(parsed)), parsed)
  const others = '{{a/b}} {{name}} {{{No.}}}'
  assert.is(writeText(parseText(others)), others)
})

test('template parser: a name has up to 100 characters', () => {
  assert.is(parseText(`{{${'n'.repeat(100)}}}`).placeholders.length, 1)
})

test('template parser: placeholders beyond the limit plus one are text', () => {
  const { literals, placeholders } = parseText('{{a}}'.repeat(PLACEHOLDERS_MAX + 5))
  assert.is(placeholders.length, PLACEHOLDERS_MAX + 1)
  assert.is(literals.at(-1), '{{a}}'.repeat(4))
})

const scrap = fc.constantFrom(
  '{',
  '}',
  '{{',
  '}}',
  '{{{',
  '}}}',
  '|',
  '.',
  ' ',
  'a',
  'b.c',
  '\n',
  '<&>',
  '😀',
)
const scraps = fc.array(scrap, { maxLength: 40 }).map(parts => parts.join(''))

test('template parser: literals and placeholders reproduce any text', () => {
  fc.assert(
    fc.property(scraps, text => {
      const { literals, placeholders } = parseText(text)
      assert.is(literals.length, placeholders.length + 1)
      let at = literals[0]!.length
      assert.ok(text.startsWith(literals[0]!))
      for (const [i, { name, raw }] of placeholders.entries()) {
        const braces = raw ? 3 : 2
        assert.is(text.slice(at, at + braces), '{'.repeat(braces))
        const end = text.indexOf('}'.repeat(braces), at)
        assert.ok(
          text
            .slice(at + braces, end)
            .trimStart()
            .startsWith(name),
        )
        at = end + braces
        assert.is(text.slice(at, at + literals[i + 1]!.length), literals[i + 1])
        at += literals[i + 1]!.length
      }
      assert.is(at, text.length)
    }),
  )
})

test('template parser: literals contain no placeholder', () => {
  fc.assert(
    fc.property(scraps, text => {
      const { literals } = parseText(text)
      for (const literal of literals) assert.equal(parseText(literal).placeholders, [])
    }),
  )
})

test.run()
