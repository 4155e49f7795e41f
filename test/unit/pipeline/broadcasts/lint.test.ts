import * as assert from 'uvu/assert'
import {
  CLIPPED_AT_BYTES,
  checkedLinks,
  lintBroadcast,
  trackingFindings,
} from '../../../../src/pipeline/broadcasts/lint.ts'
import { TEMPLATE_BYTES_MAX } from '../../../../src/resources/templates/limits.ts'
import { assertLinear } from '../../../kit/linear.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('broadcasts/lint')
const LEAVE = '<a href="{{unsubscribe_url}}">leave</a>'

const found = (html: string | null, text: string | null = 'text', subject = 's', known?: Set<string>) =>
  lintBroadcast({ subject, html, text, previewText: null }, known)
const rules = (...of: Parameters<typeof found>) => found(...of).map(({ rule }) => rule)

test('lint: a good broadcast has no finding', () => {
  const html = `<a href="https://here.example/a?b=1&amp;c=2">x</a><a href="mailto:a@here.example">m</a>
    <a href="tel:+4912345">t</a><a href="#top">up</a><a name="top">anchor</a>${LEAVE}`
  assert.equal(found(html), [])
  assert.equal(found(null, 'Hi. {{unsubscribe_url}}'), [])
})

test('lint: a missing text part is found', () => {
  assert.equal(rules(LEAVE, null), [], 'a text is derived from the HTML')
  assert.equal(rules(LEAVE, ''), ['missing_text'])
  assert.equal(rules('<a href="{{unsubscribe_url}}"></a>', null), [])
  assert.equal(rules('<img src="{{unsubscribe_url}}">', null), ['missing_text'])
  assert.equal(rules(LEAVE, ' \n'), ['missing_text'])
})

test('lint: a missing unsubscribe link is found in the part that readers see', () => {
  assert.equal(rules('<p>Hi</p>', 'Hi. {{unsubscribe_url}}'), ['missing_unsubscribe'])
  assert.equal(rules(null, 'Hi.'), ['missing_unsubscribe'])
  assert.equal(rules('<a href="{{{RESEND_UNSUBSCRIBE_URL}}}">x</a>'), [])
})

test('lint: HTML beyond the clipping size is found, counted in bytes', () => {
  const padding = 'ä'.repeat((CLIPPED_AT_BYTES - LEAVE.length) / 2)
  assert.equal(rules(LEAVE + padding), [])
  assert.equal(rules(`${LEAVE + padding}ää`), ['too_large'])
})

test('lint: the size includes the inserted preview text', () => {
  const html = LEAVE + 'x'.repeat(CLIPPED_AT_BYTES - LEAVE.length - 100)
  assert.equal(rules(html), [])
  const [finding, ...more] = lintBroadcast({ subject: 's', html, text: 'text', previewText: 'Soon' })
  assert.equal([finding!.rule, more], ['too_large', []])
  assert.match(finding!.message, /with its preview text/)
})

test('lint: a finding names its line, also when the text begins with an empty line', () => {
  assert.equal(
    found(`\n<a href="">x</a>\n\n<a href="">y</a>${LEAVE}`).map(({ line }) => line),
    [2, 4],
  )
  assert.equal(
    found(`<a href="">x</a>${LEAVE}`).map(({ line }) => line),
    [1],
  )
})

test('lint: empty, malformed and unsafe links are found', () => {
  for (const [href, rule] of [
    ['', 'empty_link'],
    [' ', 'empty_link'],
    ['#', 'empty_link'],
    ['here.example/page', 'malformed_link'],
    ['/page', 'malformed_link'],
    ['http://', 'malformed_link'],
    ['https://here', 'malformed_link'],
    ['https://www.example.com/sale', 'placeholder_link'],
    ['https://your-domain.com', 'placeholder_link'],
    ['https://here.example/a b', 'malformed_link'],
    ['javascript:alert(1)', 'unsafe_link'],
    ['data:text/html,x', 'unsafe_link'],
    ['ftp://here.example/', 'unsafe_link'],
    ['http://localhost/x', 'private_link'],
    ['http://127.0.0.1:3000/', 'private_link'],
    ['https://[::1]/', 'private_link'],
    ['https://192.168.1.2/a', 'private_link'],
  ] as const)
    assert.equal(rules(`<a href="${href}">x</a>${LEAVE}`), [rule], href)
  assert.equal(rules(`<a href="{{page}}">x</a><a href="https://{{host|here.example}}/">y</a>${LEAVE}`), [])
  for (const href of ['mailto:a@here.example?subject=Hi there', 'tel:+49 170 1', 'sms:+49 170 1'])
    assert.equal(rules(`<a href="${href}">x</a>${LEAVE}`), [], href)
})

test('lint: all links are listed with their lines, and what is wrong with them', () => {
  const html = '<a href="https://shop.example/">x</a>\n<a href="#">y</a>\n<a href="{{unsubscribe_url}}">z</a>'
  assert.equal(checkedLinks(html), [
    { url: 'https://shop.example/', line: 1, message: null },
    { url: '#', line: 2, message: 'A link has no target: “#”.' },
    { url: '{{unsubscribe_url}}', line: 3, message: null },
  ])
  assert.equal(checkedLinks(null), [])
  assert.is(checkedLinks('<a href="https://a.example/">x</a>'.repeat(300)).length, 200)
})

test('lint: a finding names part and line', () => {
  assert.equal(
    found(`<p>\n</p>\n<a href="">x</a>\n\n<area href="/p">${LEAVE}`).map(({ line, severity }) => [
      line,
      severity,
    ]),
    [
      [3, 'error'],
      [5, 'error'],
    ],
  )
  assert.equal(
    found(`</p ><a\nhref="">x</a>\n${LEAVE}\n<a data-no-track href="">y</a>`).map(({ line }) => line),
    [1, 4],
  )
})

test('lint: variables without a property are found once each', () => {
  const html = `${LEAVE}{{city}}{{nick}}{{nick}}{{zip|12345}}{{first_name}}`
  assert.equal(
    found(html, '{{nick}} {{plan}}', '{{mood}}', new Set(['city'])).map(({ part, message }) => [
      part,
      /“(.*)”/.exec(message)![1],
    ]),
    [
      ['subject', 'mood'],
      ['html', 'nick'],
      ['text', 'plan'],
    ],
  )
  assert.equal(rules(html), [], 'where it is not known which there are')
})

for (const [what, text, around] of [
  ['half closed', 'Hi {{first_name}', 'Hi {{first_name}'],
  ['half opened', 'Hi {first_name}}, you', 'Hi {first_name}}, you'],
  ['one in another', 'Hi {{a|{{first_name}}}}', 'Hi {{a|{{first_name}}}}'],
  ['one brace more before', 'Hi {{{first_name}}', 'Hi {{{first_name}}'],
  ['one brace more behind', 'Hi {{ first_name }}}', 'Hi {{first_name}}}'],
  ['nothing in them', 'Hi {{}}', 'Hi {{}}'],
  ['braces in a fallback', 'Hi {{x|a{b}}}', 'Hi {{x|a{b}}}'],
  ['a name that is too long', `Hi {{${'n'.repeat(101)}}}`, `Hi {{${'n'.repeat(18)}`],
] as const)
  test(`lint: stray braces are found in each part: ${what}`, () => {
    const known = new Set(['x'])
    const good = { subject: 's', html: LEAVE, text: 't', previewText: 'p' }
    for (const [part, words] of [
      ['subject', { subject: text }],
      ['html', { html: `<p>${text}</p>${LEAVE}` }],
      ['html', { html: `<a href="https://here.example/?q=${text.slice(3)}">x</a>${LEAVE}` }],
      ['text', { text }],
      ['preview_text', { previewText: text }],
    ] as const) {
      const findings = lintBroadcast({ ...good, ...words }, known).filter(
        ({ rule }) => rule === 'stray_braces',
      )
      assert.equal(findings[0]?.part, part)
      assert.ok(findings[0]!.message.includes(around.slice(3)), findings[0]!.message)
    }
  })

test('lint: hidden braces and single braces are ignored', () => {
  const html = `<style>@media x{a{b:c}}</style><script>f(()=>{if(a){b()}})</script><!-- {{ --><p data-x='{"a":{"b":1}}'>
    {no} { {{first_name}} } {{{x}}} {{a/b|}}</p>${LEAVE}`
  assert.equal(rules(html, 'a {b} } {{first_name}} {', '{ {{first_name}}', new Set(['x', 'a/b'])), [])
})

test('lint: stray braces are reported with context, neighbouring ones together', () => {
  const filler = 'x'.repeat(50)
  assert.equal(
    found(LEAVE, `{{first_name}} {{a {b|${filler}\ud83d\ude00 }} ${filler}{{{first_name}}`)
      .filter(({ rule }) => rule === 'stray_braces')
      .map(({ rule, part, message }) => [rule, part, /“(.*)”/s.exec(message)![1]]),
    [
      ['stray_braces', 'text', `{{first_name}} {{a {b|${'x'.repeat(13)}`],
      ['stray_braces', 'text', `${'x'.repeat(17)}\ud83d\ude00 }} ${'x'.repeat(17)}`],
      ['stray_braces', 'text', `${'x'.repeat(20)}{{{first_name}}`],
    ],
  )
})

test('lint: few words beside a tracking pixel are found, URLs not counted', () => {
  const link = `<a href="https://here.example/${'x'.repeat(3_000)}">Go</a>`
  assert.equal(
    trackingFindings(`<p>${'x'.repeat(2_700)}${link}`).map(({ rule }) => rule),
    ['tracked_few_words'],
  )
  assert.equal(trackingFindings(`<p>${'ä'.repeat(1_400)}${link}`), [])
  assert.equal([trackingFindings(null), trackingFindings('')], [[], []])
})

test('lint: tags of other template languages are errors with their line', () => {
  const [finding, ...more] = found(`${LEAVE}\n<p>{{#if vip}}</p>`).filter(
    ({ rule }) => rule === 'unsupported_tag',
  )
  assert.equal([finding!.severity, finding!.part, finding!.line, more], ['error', 'html', 2, []])
  assert.match(finding!.message, 'The html contains `{{#if vip}}` at line 2, column 4')
})

test('lint: each unsupported tag is named, and is no unknown variable', () => {
  const html = `${LEAVE}\n<p>{{#if a}}x{{else}}{{/if}}</p>{% if b %}`
  const findings = found(html, '{{.Name}}', '{{#if a}}', new Set())
  assert.equal(
    findings.map(({ rule, part, message }) => [rule, part, /`(.*?)`/.exec(message)?.[1]]),
    [
      ['unsupported_tag', 'subject', '{{#if a}}'],
      ['unsupported_tag', 'html', '{{#if a}}'],
      ['unsupported_tag', 'html', '{{else}}'],
      ['unsupported_tag', 'html', '{{/if}}'],
      ['unsupported_tag', 'html', '{% if b %}'],
      ['unsupported_tag', 'text', '{{.Name}}'],
    ],
  )
})

for (const tag of [
  '*|FNAME|*',
  '*|IF:VIP|*',
  '%FIRSTNAME%',
  '[[name]]',
  '[[ first name ]]',
  '[%first_name%]',
  '[%first_name | fallback%]',
  '%%emailaddr%%',
  '%recipient.first_name%',
])
  test(`lint: ${tag} of another product is a warning in each part`, () => {
    const html = `<p>\nHi ${tag}, ${tag}</p>${LEAVE}`
    const findings = lintBroadcast({ subject: tag, html, text: tag, previewText: tag })
    assert.equal(
      findings.map(({ rule, severity, part, line }) => [rule, severity, part, line]),
      [
        ['foreign_tag', 'warning', 'subject', 1],
        ['foreign_tag', 'warning', 'html', 2],
        ['foreign_tag', 'warning', 'text', 1],
        ['foreign_tag', 'warning', 'preview_text', 1],
      ],
    )
    assert.ok(findings[0]!.message.includes(tag))
  })

test('lint: percent signs and brackets of other texts are no tags', () => {
  const html = `<a href="https://here.example/%E2%82%ACABC%20?q=%C3%A9TAGE%C3%A9">x</a>100% OFF 20% [[1, 2]] [x] *a|b* 5%${LEAVE}`
  assert.equal(rules(html, '100% off, only 5% left; 50%–60% %'), [])
})

test('lint: variables of the preview text are checked if there is HTML', () => {
  const words = { subject: 's', text: `t {{unsubscribe_url}}`, previewText: '{{nick}}' }
  const parts = (html: string | null) => lintBroadcast({ ...words, html }, new Set()).map(({ part }) => part)
  assert.equal([parts(LEAVE), parts(null)], [['preview_text'], []])
})

test('lint: the number of findings per rule is limited, and the time is linear', () => {
  assert.is(
    rules(`${'<a href="">x</a>'.repeat(1_000)}${LEAVE}`).filter(rule => rule === 'empty_link').length,
    20,
  )
  for (const piece of [
    '<a href="',
    '<!--',
    '{{',
    '{{#a}}',
    '*|a',
    '[[a',
    '%A',
    '<a ',
    '<a href="{{',
    '<a href="">',
    '<b>',
    '<table><tr><td>',
  ])
    assertLinear(piece, count => found(piece.repeat(count)), TEMPLATE_BYTES_MAX / piece.length / 16)
  const half = TEMPLATE_BYTES_MAX / '<b></i>'.length
  assertLinear('<b></i>', count => rules(LEAVE + '<b>'.repeat(count) + '</i>'.repeat(count)), half / 16)
  assert.equal(rules(LEAVE + '<b>'.repeat(half) + '</i>'.repeat(half)), ['too_large'])
})

test.run()
