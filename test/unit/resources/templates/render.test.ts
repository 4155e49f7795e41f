import * as assert from 'uvu/assert'
import { compileTemplate, type EmailText } from '../../../../src/resources/templates/compile.ts'
import { type RenderOptions, renderTemplate } from '../../../../src/resources/templates/render.ts'
import type { Values } from '../../../../src/resources/templates/values.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('templates/render')
const NOTHING: EmailText = { subject: null, html: null, text: null }

function render(template: Partial<EmailText>, values: Values, options: Partial<RenderOptions> = {}) {
  return renderTemplate(compileTemplate({ ...NOTHING, ...template }), values, {
    missing: 'report',
    maxCharacters: 1_000_000,
    ...options,
  })
}

function rendered(template: Partial<EmailText>, values: Values, options: Partial<RenderOptions> = {}) {
  const result = render(template, values, options)
  if (!result.ok) throw new Error(JSON.stringify(result))
  return result
}

const inHtml = (html: string, values: Values) => rendered({ html }, values).html
const inText = (text: string, values: Values) => rendered({ text }, values).text
const inSubject = (subject: string, values: Values) => rendered({ subject }, values).subject

function problems(template: Partial<EmailText>, values: Values): Record<string, string> {
  const result = render(template, values)
  if (result.ok || !('problems' in result)) throw new Error(JSON.stringify(result))
  return Object.fromEntries(result.problems.map(({ name, problem }) => [name, problem]))
}

test('template rendering: values are inserted into subject, html and text', () => {
  assert.equal(
    rendered({ subject: 'Hi {{name}}', html: '<p>{{name}}</p>', text: '{{name}}.' }, { name: 'Ann' }),
    { ok: true, subject: 'Hi Ann', html: '<p>Ann</p>', text: 'Ann.' },
  )
})

test('template rendering: a missing part stays null', () => {
  assert.equal(rendered({ html: '' }, {}), { ok: true, subject: null, html: '', text: null })
})

test('template rendering: values are escaped in html only', () => {
  const name = `<b a='1' c="2">Tom & Jerry</b>`
  const escaped = '&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;Tom &amp; Jerry&lt;/b&gt;'
  const all = '{{name}} {{name|x}} {{ name }}'
  assert.is(inHtml(all, { name }), `${escaped} ${escaped} ${escaped}`)
  assert.is(inText(all, { name }), `${name} ${name} ${name}`)
  assert.is(inSubject('{{name}}', { name }), name)
})

test('template rendering: three braces insert a value unescaped', () => {
  const name = '<b>&amp;</b>'
  assert.is(inHtml('{{{name}}}', { name }), name)
  assert.is(inText('{{{name}}}', { name }), name)
  assert.is(inSubject('{{{name}}}', { name }), name)
})

test('template rendering: a value with braces is not a placeholder', () => {
  const values = { a: '{{b}}', b: '{{a}}', c: '{{' }
  assert.is(inText('{{a}} {{b}} {{c}}b}}', values), '{{b}} {{a}} {{b}}')
})

test('template rendering: replacement patterns in values are literal', () => {
  assert.is(inHtml('[{{a}}]', { a: '$& $1 $` \\1' }), '[$&amp; $1 $` \\1]')
})

for (const [what, value, text] of [
  ['a text', 'x', 'x'],
  ['an empty text', '', ''],
  ['a number', 12.5, '12.5'],
  ['zero', 0, '0'],
  ['a negative zero', -0, '0'],
  ['true', true, 'true'],
  ['false', false, 'false'],
] as const)
  test(`template rendering: ${what} is inserted as text`, () => {
    assert.is(inText('[{{a}}]', { a: value }), `[${text}]`)
  })

for (const [what, value, problem] of [
  ['nothing', undefined, 'missing'],
  ['null', null, 'missing'],
  ['an object', { b: 1 }, 'not-a-text'],
  ['a list', ['b'], 'not-a-text'],
] as const) {
  test(`template rendering: ${what} is not a value`, () => {
    assert.equal(problems({ text: '{{a}}' }, { a: value }), { a: problem })
  })
  test(`template rendering: ${what} uses the fallback`, () => {
    assert.is(inText('{{a|there}}', { a: value }), 'there')
  })
}

test('template rendering: an empty text uses the fallback, 0 and false do not', () => {
  assert.is(inText('{{a|x}} {{b|x}} {{c|x}}', { a: '', b: 0, c: false }), 'x 0 false')
  assert.is(inHtml('{{a|x}}', { a: '' }), 'x')
})

test('template rendering: a fallback may contain markup', () => {
  assert.is(inHtml('{{a|<b>you &amp; me</b>}}', {}), '<b>you &amp; me</b>')
})

test('template rendering: an empty fallback is valid', () => {
  assert.is(inText('[{{a|}}]', {}), '[]')
})

test('template rendering: dots address objects and lists', () => {
  const values = { user: { name: { first: 'Ann' } }, items: [{ price: 5 }, { price: 7 }] }
  assert.is(inText('{{user.name.first}} {{items.1.price}} {{items.length}}', values), 'Ann 7 2')
})

for (const path of ['user.name', 'user.name.first.x', 'text.length', 'text.0', 'items.2', 'none.x', 'zero.x'])
  test(`template rendering: ${path} has no value`, () => {
    const values = { user: { name: null }, text: 'abc', items: [1, 2], none: null, zero: 0 }
    assert.equal(problems({ text: `{{${path}}}` }, values), { [path]: 'missing' })
  })

for (const name of [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'constructor.name',
  'constructor.prototype',
  '__proto__.constructor',
  'a.constructor',
  'a.__proto__',
  'list.constructor',
  'list.map',
  'text.constructor',
])
  test(`template rendering: ${name} is missing without a value`, () => {
    const values = { a: {}, list: [], text: 'x' }
    assert.equal(problems({ html: `{{${name}}}` }, values), { [name]: 'missing' })
  })

test('template rendering: names of built-in properties are ordinary if given', () => {
  const values = JSON.parse('{"__proto__": {"x": "p"}, "constructor": "c", "toString": 1}')
  assert.is(inText('{{__proto__.x}} {{constructor}} {{toString}}', values), 'p c 1')
})

test('template rendering: missing variables without fallback are reported once each, together', () => {
  const template = { subject: '{{a}} {{b}}', html: '{{c}} {{a}} {{d|x}}', text: '{{e.f}} {{b}} {{c}}' }
  assert.equal(problems(template, { b: 1, e: {} }), { a: 'missing', c: 'missing', 'e.f': 'missing' })
})

test('template rendering: a variable with a fallback in one place only is missing', () => {
  assert.equal(problems({ subject: '{{a|x}}', text: '{{a}}' }, {}), { a: 'missing' })
  assert.equal(problems({ subject: '{{a}}', text: '{{a|x}}' }, {}), { a: 'missing' })
})

test('template rendering: with blanks allowed a missing value is its fallback or empty', () => {
  const { text } = rendered({ text: '[{{a}}] [{{b|x}}] [{{c.d}}]' }, { c: {} }, { missing: 'blank' })
  assert.is(text, '[] [x] []')
})

test('template rendering: line breaks in a subject become one space, outer ones none', () => {
  assert.is(
    inSubject('Hi {{a}}', { a: 'x\r\n\r\nBcc: evil@evil.example\n\n\ry\n' }),
    'Hi x Bcc: evil@evil.example y',
  )
  assert.is(inSubject('{{a}} your order {{b}}', { a: '\u00a0', b: '' }), 'your order')
  assert.is(inText('{{a}}', { a: 'x\r\ny' }), 'x\r\ny')
  assert.is(inText(' {{a}} ', { a: 'x' }), ' x ')
})

test('template rendering: an oversized result is reported and not built', () => {
  const options = { maxCharacters: 1_000 }
  const tooLarge = { ok: false, tooLarge: true }
  assert.equal(render({ text: 'x'.repeat(1_001) }, {}, options), tooLarge)
  assert.ok(render({ text: 'x'.repeat(1_000) }, {}, options).ok)
  assert.equal(render({ html: 'x'.repeat(600), text: 'x'.repeat(600) }, {}, options), tooLarge)
  assert.equal(render({ subject: '{{a}}{{a}}' }, { a: 'x'.repeat(600) }, options), tooLarge)
  assert.ok(render({ text: '{{a}}' }, { a: '<'.repeat(1_000) }, options).ok)
  assert.equal(render({ html: '{{a}}' }, { a: '<'.repeat(1_000) }, options), tooLarge)
  const gigabytes = { html: '{{a}}'.repeat(10_000) }
  assert.equal(render(gigabytes, { a: '<'.repeat(1_000_000) }), tooLarge)
})

test('template rendering: a compiled template keeps no values', () => {
  const template = compileTemplate({ subject: '{{a}}', html: '{{a}} {{b|none}}', text: null })
  const options = { missing: 'blank', maxCharacters: 1_000 } as const
  const all = [{ a: '<1>' }, { a: '<2>', b: '<b>' }, {}].map(values =>
    renderTemplate(template, values, options),
  )
  assert.equal(
    all.map(result => result.ok && [result.subject, result.html]),
    [
      ['<1>', '&lt;1&gt; none'],
      ['<2>', '&lt;2&gt; &lt;b&gt;'],
      ['', ' none'],
    ],
  )
})

const word = fc.constantFrom('a', 'b', 'c.d', 'c.e', '__proto__', 'toString')
const piece = fc.oneof(
  fc.constantFrom('{', '}', '<p>', '&', ' ', '\n', '|', 'ü😀'),
  word.map(name => `{{${name}}}`),
  word.map(name => `{{{${name}}}}`),
  fc.tuple(word, fc.constantFrom('', 'x', '<i>')).map(([name, fallback]) => `{{${name}|${fallback}}}`),
)
const templates = fc.array(piece, { maxLength: 20 }).map(pieces => pieces.join(''))
const values = fc.record(
  { a: fc.jsonValue(), b: fc.string(), c: fc.object() },
  { requiredKeys: [] },
) as fc.Arbitrary<Values>

test('template rendering: escaped values add no markup or quote', () => {
  const markup = (html: string) => html.replace(/[^<>"']/g, '').length
  fc.assert(
    fc.property(
      templates,
      fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', 'x') }),
      (template, value) => {
        const html = template.replace(/\{{3,}/g, '{{').replace(/\}{3,}/g, '}}')
        const [tame, wild] = ['x', value].map(
          a => rendered({ html }, { a, b: a }, { missing: 'blank' }).html!,
        )
        if (value !== '') assert.is(markup(wild!), markup(tame!))
      },
    ),
  )
})

test('template rendering: any template and values give a text or missing names', () => {
  fc.assert(
    fc.property(templates, values, (template, data) => {
      const result = render({ subject: template, html: template, text: template }, data)
      if (result.ok) assert.not(/[\r\n]/.test(result.subject!))
      else assert.ok('problems' in result && result.problems.length > 0)
      assert.ok(render({ html: template }, data, { missing: 'blank' }).ok)
    }),
  )
})

test('template rendering: with all values it equals replacing every placeholder', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          word.map(name => ({ name })),
          fc.string().map(s => s.replace(/[{}]/g, '')),
        ),
      ),
      parts => {
        const data = JSON.parse('{"a":"A","b":2,"c":{"d":true,"e":"E"},"__proto__":"P","toString":"T"}')
        const texts: Record<string, string> = JSON.parse(
          '{"a":"A","b":"2","c.d":"true","c.e":"E","__proto__":"P","toString":"T"}',
        )
        const template = parts.map(part => (typeof part === 'string' ? part : `{{${part.name}}}`)).join('')
        const expected = parts.map(part => (typeof part === 'string' ? part : texts[part.name])).join('')
        assert.is(inText(template, data), expected)
      },
    ),
  )
})

test.run()
