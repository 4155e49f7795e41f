import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { findLinks, type LinkPlan } from '../../../../src/pipeline/tracking/find-links.ts'
import { createRewritePlanCache } from '../../../../src/pipeline/tracking/rewrite-plan-cache.ts'
import { createFindPersonal, filledContent, NO_LINKS } from '../../../../src/resources/templates/personal.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('tracking/rewrite-plan-cache')
const folder = join(import.meta.dirname, '../../../golden/tracking')

/** Returns the contents of a broadcast for recipients with these values, each with its plan. */
function plansOf(html: string, recipients: Record<string, string>[]) {
  const find = createFindPersonal()
  const planOf = createRewritePlanCache()
  const content = { html, text: null }
  return recipients.map(values => {
    const source = { variables: JSON.stringify(values), toList: null, broadcastId: null, content }
    const personal = filledContent(find(source, NO_LINKS)!)
    return { html: personal.html!, plan: planOf(personal) }
  })
}

/** Numbers are the template's, and may be others in a page with more links. */
function placesIn({ links, pixelAt }: LinkPlan) {
  return { links: links.map(({ start, end, target }) => ({ start, end, target })), pixelAt }
}

const VALUES = [
  '',
  'x',
  'Ann & "Bob"',
  '<b>',
  "it's",
  'https://shop.test/?a=1&b=2',
  'e',
  '> <a href="http://evil.test">',
]

for (const name of globSync('*.html', { cwd: folder }).sort())
  test(`rewrite plan cache: ${name}: the plan of a template with values in it is that of each page`, () => {
    const page = readFileSync(join(folder, name), 'utf8')
    const template = page.replace(/(?<=[a-z])(?= )|(?<=\?[a-z]+=)/g, '{{value}}')
    for (const { html, plan } of plansOf(
      template,
      VALUES.map(value => ({ value })),
    ))
      assert.equal(placesIn(plan), placesIn(findLinks(html)))
  })

test('rewrite plan cache: for any template and values, the plan is that of the page', () => {
  const piece = fc.constantFrom(
    ...[
      '{{a}}',
      '{{b}}',
      '{{a|f}}',
      '{{{a}}}',
      '{{b|<i>}}',
      '<a href="http://a.test/?q={{a}}">',
      "<a href='{{b}}'>",
    ],
    ...[
      '<a href={{a}}>',
      '<a href="http://b.test/">',
      '<p title="{{a}}',
      '<a {{a}}>',
      '<',
      '</',
      '</titl',
      '<!--',
      '-->',
    ],
    ...[
      '>',
      '"',
      "'",
      '&',
      'e',
      '=',
      ' ',
      '<title>',
      '<script>',
      '</script>',
      '<style>',
      '</body>',
      '</html>',
      '\ue000',
    ],
    ...[
      'data-no-track',
      '<area href="https://c.test/{{a}}/{{b}}">',
      '<textarea>',
      '</textarea>',
      '<svg>',
      '<![CDATA[',
    ],
  )
  const value = fc.oneof(
    fc.constantFrom(
      ...VALUES,
      'itle',
      'title',
      '/title',
      'b',
      '!--',
      '--',
      'http://v.test/é',
      'href="http://w.test"',
    ),
    fc.string({ maxLength: 12 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), value, value, (pieces, a, b) => {
      for (const template of [pieces.join(''), `${pieces.join('')}</body>`])
        for (const { html, plan } of plansOf(template, [{ a, b }, { a: b, b: a }, {}]))
          assert.equal(placesIn(plan), placesIn(findLinks(html)))
    }),
    { numRuns: 3_000 },
  )
})

test('rewrite plan cache: an incomplete closing tag contains no value', () => {
  const values = [
    { a: '', b: 'http://v.test/' },
    { a: 'http://v.test/', b: '' },
  ]
  for (const { html, plan } of plansOf('<a href={{a}}></html></titl<p title="{{a}}', values))
    assert.equal(placesIn(plan), placesIn(findLinks(html)))
})

const PROMO = '<a href="https://promo.test/">p</a>'
for (const [what, template, values, expected] of [
  [
    'before the template’s',
    '{{{promo}}}<a href="https://x.test/">x</a>',
    [{ promo: PROMO }, { promo: '' }, { promo: 'p' }],
    [[null, 0], [0], [0]],
  ],
  [
    'among them, and in their places',
    '<a href="https://x.test/{{{promo}}}">x</a>{{{promo}}}<a href={{{url}}}>u</a>{{{promo}}}<a href="http://y.test/">y</a></body>',
    [
      { promo: PROMO, url: 'https://u.test/?u' },
      { promo: '', url: 'mailto:u@u.test' },
      { promo: '<!--', url: '' },
    ],
    [[0, null, 1, null, 2], [0, 2], [0]],
  ],
  [
    'in a tag that the template has begun',
    '<a {{{attributes}}}>a</a><a title="{{{quote}}}" href="https://x.test/">x</a>',
    [
      { attributes: 'href="https://a.test/"', quote: '' },
      { attributes: '', quote: '"><a href="https://q.test/"><b title="' },
    ],
    [[null, 0], [null]],
  ],
  [
    'that is fixed, all of them',
    '<a href="https://x.test/?{{a}}">x</a><a href="{{b}}">b</a></body>',
    [
      { a: '1', b: 'https://b.test/' },
      { a: '', b: 'c' },
    ],
    [[0, 1], [0]],
  ],
] as const)
  test(`rewrite plan cache: links of the template have its numbers, links of values have none: ${what}`, () => {
    const plans = plansOf(template, values as unknown as Record<string, string>[])
    assert.equal(
      plans.map(({ plan }) => plan.links.map(({ number }) => number)),
      expected,
    )
  })

test('rewrite plan cache: a page with one value and many text ranges is searched once', () => {
  const html = `<p>{{value}}</p>${'<b>x</b>'.repeat(2 * 1024 * 1024)}</body>`
  for (const { html: page, plan } of plansOf(html, [{ value: 'Ann' }]))
    assert.equal(plan, { links: [], pixelAt: page.length - '</body>'.length })
})

test('rewrite plan cache: shared content is searched once', () => {
  const planOf = createRewritePlanCache()
  const content = { html: '<a href="http://a.test/">a</a>', text: null }
  assert.is(planOf(content), planOf(content))
  assert.equal(planOf({ html: null, text: 'a' }), { links: [], pixelAt: 0 })
})

test.run()
