import * as assert from 'uvu/assert'
import { compileTemplate, type EmailText } from '../../../../src/resources/templates/compile.ts'
import {
  type DeclaredVariable,
  isOfType,
  parseDeclared,
  VARIABLE_TYPES,
  withWrittenFallbacks,
} from '../../../../src/resources/templates/declared.ts'
import { renderTemplate } from '../../../../src/resources/templates/render.ts'
import type { Values } from '../../../../src/resources/templates/values.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('templates/declared')
const NOTHING: EmailText = { subject: null, html: null, text: null }
const variable = (
  key: string,
  fallback: unknown = null,
  type: DeclaredVariable['type'] = 'string',
): DeclaredVariable => ({ key, type, fallback })

function render(template: Partial<EmailText>, declared: DeclaredVariable[], values: Values = {}) {
  return renderTemplate(compileTemplate({ ...NOTHING, ...template }), values, {
    declared,
    missing: 'report',
    maxCharacters: 1_000_000,
  })
}

function problems(...given: Parameters<typeof render>): (readonly [string, string])[] {
  const result = render(...given)
  if (result.ok || !('problems' in result)) throw new Error(JSON.stringify(result))
  return result.problems.map(({ name, problem }) => [name, problem] as const)
}

function textOf(text: string, declared: DeclaredVariable[], values: Values = {}): string | null {
  const result = render({ text }, declared, values)
  if (!result.ok) throw new Error(JSON.stringify(result))
  return result.text
}

const SAMPLES: [value: unknown, types: DeclaredVariable['type'][]][] = [
  ['x', ['string']],
  ['', ['string']],
  ['5', ['string']],
  [5, ['string', 'number']],
  [0, ['string', 'number']],
  [true, ['string', 'boolean']],
  [false, ['string', 'boolean']],
  [{}, ['object']],
  [{ a: 1 }, ['object']],
  [[], ['list']],
  [['a'], ['list']],
]
for (const [value, types] of SAMPLES)
  test(`declared variables: ${JSON.stringify(value)} is of the types ${types.join(', ')} only`, () => {
    assert.equal(
      VARIABLE_TYPES.filter(type => isOfType(type, value)),
      types,
    )
    for (const type of VARIABLE_TYPES) {
      const result = render({ text: 'x' }, [variable('a', null, type)], { a: value })
      assert.is(result.ok, types.includes(type), type)
    }
  })

test('declared variables: an absent value is of any type', () => {
  for (const type of VARIABLE_TYPES)
    for (const values of [{}, { a: null }, { a: undefined }])
      assert.ok(render({ text: 'x' }, [variable('a', null, type)], values).ok)
})

for (const [what, values, expected] of [
  ['left out', {}, 'spare'],
  ['null', { a: null }, 'spare'],
  ['empty', { a: '' }, ''],
  ['zero', { a: 0 }, '0'],
  ['false', { a: false }, 'false'],
  ['given', { a: 'x' }, 'x'],
] as const)
  test(`declared fallback: a value that is ${what} gives ${JSON.stringify(expected)}`, () => {
    assert.is(textOf('{{a}}', [variable('a', 'spare')], values), expected)
  })

test('declared fallback: numbers and booleans become text', () => {
  const declared = [
    variable('n', 12.5, 'number'),
    variable('b', false, 'boolean'),
    variable('z', 0, 'number'),
  ]
  assert.is(textOf('{{n}} {{b}} {{z}}', declared), '12.5 false 0')
})

test('declared fallback: one in the placeholder takes precedence', () => {
  assert.is(textOf('{{a|here}} {{a}}', [variable('a', 'spare')]), 'here spare')
})

test('declared fallback: it is escaped in html like a value, and unescaped between three braces', () => {
  const result = render({ html: '{{a}} {{{a}}} {{a|<i>}}' }, [variable('a', '<b>')])
  assert.is(result.ok && result.html, '&lt;b&gt; <b> <i>')
})

test('declared fallback: an object or list gives its members while it is absent', () => {
  const declared = [
    variable('user', { name: 'Ann', at: { city: 'Graz' } }, 'object'),
    variable('items', [{ price: 5 }], 'list'),
  ]
  assert.is(textOf('{{user.name}} {{user.at.city}} {{items.0.price}}', declared), 'Ann Graz 5')
  assert.is(textOf('{{user.name}}', declared, { user: { name: 'Bob' } }), 'Bob')
  assert.equal(problems({ text: '{{user.name}}' }, declared, { user: {} }), [['user.name', 'missing']])
})

test('declared fallback: a dotted key declares a member', () => {
  const declared = [variable('user.name', 'Ann'), variable('user', { name: 'Bob', city: 'Graz' }, 'object')]
  assert.is(textOf('{{user.name}} {{user.city}}', declared), 'Ann Graz')
  assert.is(textOf('{{user.name}}', declared, { user: { name: null } }), 'Ann')
})

test('declared fallback: names of built-in properties have none', () => {
  const declared = [variable('user', {}, 'object')]
  for (const name of ['constructor', '__proto__', 'user.constructor', 'user.__proto__', 'toString'])
    assert.equal(problems({ text: `{{${name}}}` }, declared), [[name, 'missing']])
})

test('declared variables: all faults are reported together, each variable once', () => {
  const declared = [
    variable('a', null, 'number'),
    variable('b'),
    variable('c', 'x'),
    variable('e', null, 'list'),
  ]
  assert.equal(problems({ text: '{{a}} {{b}} {{c}} {{d}}' }, declared, { a: '5', e: {}, d: [] }), [
    ['a', 'wrong-type'],
    ['e', 'wrong-type'],
    ['b', 'missing'],
    ['d', 'not-a-text'],
  ])
})

test('declared variables: one that the texts do not contain may be absent', () => {
  assert.is(textOf('x', [variable('a', null, 'number')]), 'x')
})

test('declared variables: the stored form is read as it was written', () => {
  const declared = [variable('a', 'x'), variable('b', { c: [1] }, 'object'), variable('d', null, 'list')]
  assert.equal(parseDeclared(JSON.stringify(declared)), declared)
  assert.equal(parseDeclared(null), [])
})

for (const [what, texts, declared, expected] of [
  ['no fallback', { text: '{{ a }}' }, [variable('a')], { text: '{{ a }}' }],
  ['a fallback', { subject: 'Hi {{ a }}' }, [variable('a', 'you')], { subject: 'Hi {{a|you}}' }],
  ['one in the placeholder', { text: '{{a|me}}' }, [variable('a', 'you')], { text: '{{a|me}}' }],
  ['markup', { html: '{{a}} {{{a}}}' }, [variable('a', '<b>')], { html: '{{a|&lt;b&gt;}} {{{a|<b>}}}' }],
  ['braces in html', { html: '{{a}}' }, [variable('a', '{x}')], { html: '{{a|&#123;x&#125;}}' }],
  ['a number', { text: '{{a}}' }, [variable('a', 5, 'number')], { text: '{{a|5}}' }],
  ['a member', { text: '{{a.b}}' }, [variable('a', { b: 'c' }, 'object')], { text: '{{a.b|c}}' }],
] as const)
  test(`fallbacks written into placeholders: ${what}`, () => {
    assert.equal(withWrittenFallbacks({ ...NOTHING, ...texts }, [...declared]), { ...NOTHING, ...expected })
  })

test('fallbacks written into placeholders: braces cannot be written into text or unescaped markup', () => {
  for (const texts of [{ text: '{{a}}' }, { subject: '{{a}}' }, { html: '{{{a}}}' }])
    assert.equal(withWrittenFallbacks({ ...NOTHING, ...texts }, [variable('a', '{x}')]), { unwritable: 'a' })
})

test.run()
