import * as assert from 'uvu/assert'
import { compileTemplate, type EmailText } from '../../../../src/resources/templates/compile.ts'
import {
  type RenderOptions,
  renderTemplate,
  type Values,
} from '../../../../src/resources/templates/render.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('templates/render')
const NOTHING: EmailText = { subject: null, html: null, text: null }

function render(template: Partial<EmailText>, values: Values, options: Partial<RenderOptions> = {}) {
  return renderTemplate(compileTemplate({ ...NOTHING, ...template }), values, {
    missing: 'report',
    mostCharacters: 1_000_000,
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

test('values go into subject, html and text', () => {
  assert.equal(
    rendered({ subject: 'Hi {{name}}', html: '<p>{{name}}</p>', text: '{{name}}.' }, { name: 'Ann' }),
    { ok: true, subject: 'Hi Ann', html: '<p>Ann</p>', text: 'Ann.' },
  )
})

test('what is not there stays away', () => {
  assert.equal(rendered({ html: '' }, {}), { ok: true, subject: null, html: '', text: null })
})

test('in html a value is text and cannot become markup; elsewhere it is as it is', () => {
  const name = `<b a='1' c="2">Tom & Jerry</b>`
  const escaped = '&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;Tom &amp; Jerry&lt;/b&gt;'
  const all = '{{name}} {{name|x}} {{ name }}'
  assert.is(inHtml(all, { name }), `${escaped} ${escaped} ${escaped}`)
  assert.is(inText(all, { name }), `${name} ${name} ${name}`)
  assert.is(inSubject('{{name}}', { name }), name)
})

test('three braces leave a value as it is, everywhere', () => {
  const name = '<b>&amp;</b>'
  assert.is(inHtml('{{{name}}}', { name }), name)
  assert.is(inText('{{{name}}}', { name }), name)
  assert.is(inSubject('{{{name}}}', { name }), name)
})

test('a value that looks like a placeholder is no placeholder', () => {
  const values = { a: '{{b}}', b: '{{a}}', c: '{{' }
  assert.is(inText('{{a}} {{b}} {{c}}b}}', values), '{{b}} {{a}} {{b}}')
})

test('a value may hold what replacements give a meaning', () => {
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
  test(`${what} stands for itself`, () => {
    assert.is(inText('[{{a}}]', { a: value }), `[${text}]`)
  })

for (const [what, value, problem] of [
  ['nothing', undefined, 'missing'],
  ['null', null, 'missing'],
  ['an object', { b: 1 }, 'not-a-text'],
  ['a list', ['b'], 'not-a-text'],
] as const) {
  test(`${what} is no value`, () => {
    assert.equal(problems({ text: '{{a}}' }, { a: value }), { a: problem })
  })
  test(`for ${what} the fallback stands in`, () => {
    assert.is(inText('{{a|there}}', { a: value }), 'there')
  })
}

test('a fallback stands in for an empty text, too, but not for zero or false', () => {
  assert.is(inText('{{a|x}} {{b|x}} {{c|x}}', { a: '', b: 0, c: false }), 'x 0 false')
  assert.is(inHtml('{{a|x}}', { a: '' }), 'x')
})

test('a fallback is part of the template, its markup included', () => {
  assert.is(inHtml('{{a|<b>you &amp; me</b>}}', {}), '<b>you &amp; me</b>')
})

test('an empty fallback is one', () => {
  assert.is(inText('[{{a|}}]', {}), '[]')
})

test('dots lead into objects and lists', () => {
  const values = { user: { name: { first: 'Ann' } }, items: [{ price: 5 }, { price: 7 }] }
  assert.is(inText('{{user.name.first}} {{items.1.price}} {{items.length}}', values), 'Ann 7 2')
})

for (const path of ['user.name', 'user.name.first.x', 'text.length', 'text.0', 'items.2', 'none.x', 'zero.x'])
  test(`${path} leads nowhere`, () => {
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
  test(`${name}, which nobody gave, is missing`, () => {
    const values = { a: {}, list: [], text: 'x' }
    assert.equal(problems({ html: `{{${name}}}` }, values), { [name]: 'missing' })
  })

test('names of the language are names like any other when they are given', () => {
  const values = JSON.parse('{"__proto__": {"x": "p"}, "constructor": "c", "toString": 1}')
  assert.is(inText('{{__proto__.x}} {{constructor}} {{toString}}', values), 'p c 1')
})

test('all missing variables are told at once, each once, and those with fallbacks are not', () => {
  const template = { subject: '{{a}} {{b}}', html: '{{c}} {{a}} {{d|x}}', text: '{{e.f}} {{b}} {{c}}' }
  assert.equal(problems(template, { b: 1, e: {} }), { a: 'missing', c: 'missing', 'e.f': 'missing' })
})

test('a variable that has a fallback in one place only is still missing', () => {
  assert.equal(problems({ subject: '{{a|x}}', text: '{{a}}' }, {}), { a: 'missing' })
  assert.equal(problems({ subject: '{{a}}', text: '{{a|x}}' }, {}), { a: 'missing' })
})

test('where blanks are welcome, a missing value is its fallback or nothing', () => {
  const { text } = rendered({ text: '[{{a}}] [{{b|x}}] [{{c.d}}]' }, { c: {} }, { missing: 'blank' })
  assert.is(text, '[] [x] []')
})

test('line breaks in a subject become one space', () => {
  assert.is(
    inSubject('Hi {{a}}', { a: 'x\r\n\r\nBcc: evil@evil.example\n\n\ry\n' }),
    'Hi x Bcc: evil@evil.example y ',
  )
  assert.is(inText('{{a}}', { a: 'x\r\ny' }), 'x\r\ny')
})

test('what would be too long is told, not made', () => {
  const options = { mostCharacters: 1_000 }
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

test('one compiled template serves many, and none sees another’s values', () => {
  const template = compileTemplate({ subject: '{{a}}', html: '{{a}} {{b|none}}', text: null })
  const options = { missing: 'blank', mostCharacters: 1_000 } as const
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

test('without three braces no value adds markup or a quote to html', () => {
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

test('rendering ends in a text or in names, for every template and all values', () => {
  fc.assert(
    fc.property(templates, values, (template, data) => {
      const result = render({ subject: template, html: template, text: template }, data)
      if (result.ok) assert.not(/[\r\n]/.test(result.subject!))
      else assert.ok('problems' in result && result.problems.length > 0)
      assert.ok(render({ html: template }, data, { missing: 'blank' }).ok)
    }),
  )
})

test('with a value for everything, the text is what replacing every placeholder makes', () => {
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
