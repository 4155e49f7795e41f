import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as assert from 'uvu/assert'
import { rewriteHtml } from '../../../../src/pipeline/tracking/email-links.ts'
import { findLinks, TARGET_LENGTH_MAX } from '../../../../src/pipeline/tracking/find-links.ts'
import { LINK_NUMBER_MAX } from '../../../../src/pipeline/tracking/link-numbers.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('tracking/rewrite')
const folder = join(import.meta.dirname, '../../../golden/tracking')
const pages = globSync('*.html', { cwd: folder }).sort()

const LINK = (number: number | null) => `https://links.test/c/${number}-`
const PIXEL_URL = 'https://links.test/o/1'
const PIXEL = /<img src="https:\/\/links\.test\/o\/1" [^>]*>/g

function tracked(html: string) {
  const plan = findLinks(html)
  const rewriting = { linkUrl: (_: string, number: number | null) => LINK(number), pixelUrl: PIXEL_URL }
  return { plan, page: rewriteHtml(html, plan, rewriting) }
}

/** Takes out again what tracking has put in. @param links as they were written, in their order */
function reversed(page: string, links: readonly string[]) {
  let next = 0
  return page.replace(/https:\/\/links\.test\/c\/\d+-/g, () => links[next++]!).replace(PIXEL, '')
}

test('rewrite: there are at least thirty sample pages', () => {
  assert.ok(pages.length >= 30, `${pages.length}`)
})

for (const name of pages)
  test(`rewrite: ${basename(name)}: only links change, and the pixel is added`, () => {
    const html = readFileSync(join(folder, name), 'utf8')
    const expected = JSON.parse(readFileSync(join(folder, name.replace(/html$/, 'json')), 'utf8'))
    const { plan, page } = tracked(html)
    assert.equal(
      plan.links.map(({ target }) => target),
      expected.links.map(([, target]: [string, string]) => target),
    )
    assert.is(page.match(PIXEL)?.length, 1)
    assert.is(page.split(PIXEL)[1]!.slice(0, expected.pixel_before.length), expected.pixel_before)
    assert.is(
      reversed(
        page,
        expected.links.map(([raw]: [string, string]) => raw),
      ),
      html,
    )
  })

test('rewrite: a rewritten page has the new links at the positions of the old ones', () => {
  for (const name of pages) {
    const { plan, page } = tracked(readFileSync(join(folder, name), 'utf8'))
    assert.equal(
      findLinks(page).links.map(({ target }) => target),
      plan.links.map(({ number }) => LINK(number)),
    )
  }
})

test('rewrite: the pixel comes before an unclosed comment, even one with an incomplete end', () => {
  const img = `<img src="${PIXEL_URL}"`
  for (const open of [
    '<!--',
    '<!-- a',
    '<!-- a -',
    '<!-- a --',
    '<!-- a --!',
    '<!-- a <!--',
    '<!-- a --><!--b--',
  ])
    assert.ok(tracked(`<p>Hi</p>${open}`).page.replace('<!-- a -->', '').startsWith(`<p>Hi</p>${img}`), open)
  for (const whole of ['<!---->', '<!-- a -->', '<!-- a --!>', '<!-- a <!-- -->'])
    assert.ok(tracked(`<p>Hi</p>${whole}`).page.startsWith(`<p>Hi</p>${whole}${img}`), whole)
})

test('rewrite: the pixel comes before an unclosed raw text element', () => {
  const img = `<img src="${PIXEL_URL}"`
  for (const name of ['style', 'TITLE', 'textarea', 'script', 'iframe', 'xmp', 'noframes', 'noembed'])
    for (const rest of ['', 'a{', 'a &amp; b', '</', `</${name}`, `</${name} `, '<p>', '</p>', '</body>']) {
      const cut = `<${name} class="a">${rest}`
      assert.ok(tracked(`<p>Hi</p>${cut}`).page.startsWith(`<p>Hi</p>${img}`), cut)
      const whole = `<${name}>b</${name} >`
      assert.ok(tracked(`<p>Hi</p>${whole}t${cut}`).page.startsWith(`<p>Hi</p>${whole}t${img}`), cut)
    }
  assert.ok(tracked('<p>Hi</p><plaintext>a</plaintext>b').page.startsWith(`<p>Hi</p>${img}`))
})

test('rewrite: the pixel comes before a truncated tag at any position', () => {
  const img = `<img src="${PIXEL_URL}"`
  for (const tag of ['<p class="a', '<style ', '</textarea\n', '</p '])
    for (let length = 2; length <= tag.length; length++) {
      const cut = tag.slice(0, length)
      assert.ok(tracked(`Hi &amp; you${cut}`).page.startsWith(`Hi &amp; you${img}`), cut)
    }
  assert.ok(tracked('1 <').page.startsWith(`1 <${img}`))
})

const link = (attributes: string) => `<a ${attributes} href="https://shop.test/reset">Reset</a>`
for (const attributes of [
  'data-no-track',
  'clicktracking="off"',
  'clicktracking=off',
  "CLICKTRACKING='OFF'",
  'data-pm-no-track',
  'data-msys-clicktrack="0"',
  'data-msys-clicktrack=0',
  'ses:no-track',
  'ses:no-track=""',
  'mc:disable-tracking',
  'disable-tracking="true"',
  'disable-tracking=true',
  'autotrack="false"',
  'cm_dontconvertlink',
  'nottracked="true"',
  'class="button untracked"',
  'data-notrack="1"',
  'data-link-tracking="no"',
  'clicktracking="&#111;ff"',
])
  test(`rewrite: a link with ${attributes} is not tracked`, () => {
    for (const html of [link(attributes), `<a href="https://shop.test/reset" ${attributes}>Reset</a>`])
      assert.equal([tracked(html).plan.links, reversed(tracked(html).page, [])], [[], html])
  })

for (const attributes of [
  'clicktracking="on"',
  'data-msys-clicktrack="1"',
  'disable-tracking="false"',
  'nottracked="false"',
  'autotrack="true"',
  'class="button track"',
  'title="data-no-track"',
  'data-track-order="0"',
  'data-soundtrack="off-road"',
])
  test(`rewrite: a link with ${attributes} is tracked`, () => {
    assert.is(tracked(link(attributes)).plan.links.length, 1)
  })

test('rewrite: a link with a number beyond the limit is kept', () => {
  const link = '<a href="http://a.example/">a</a>'
  const page = (before: number) => '<a href="#" data-no-track>x</a>'.repeat(before) + link
  assert.equal(
    findLinks(page(LINK_NUMBER_MAX)).links.map(({ number }) => number),
    [LINK_NUMBER_MAX],
  )
  assert.equal(findLinks(page(LINK_NUMBER_MAX + 1)).links, [])
})

test('rewrite: links after the 2,000th are kept', () => {
  const page = `${'<a href="#">a</a>'.repeat(1_999)}<a href="#" data-no-track>a</a>${'<a href="http://a.example/">a</a>'.repeat(2)}`
  assert.equal(
    findLinks(page).links.map(({ number }) => number),
    [2_000],
  )
})

test('rewrite: links and the pixel can be rewritten separately', () => {
  const html = '<body><a href="http://a.example/">a</a></body>'
  const plan = findLinks(html)
  assert.is(rewriteHtml(html, plan, { linkUrl: null, pixelUrl: null }), html)
  assert.is(rewriteHtml(html, plan, { linkUrl: () => undefined, pixelUrl: null }), html)
  assert.is(
    rewriteHtml(html, plan, { linkUrl: () => 'http://b.example/?x&y', pixelUrl: null }),
    '<body><a href="http://b.example/?x&amp;y">a</a></body>',
  )
  assert.match(
    rewriteHtml(html, plan, { linkUrl: null, pixelUrl: PIXEL_URL }),
    /^<body><a href="http:\/\/a.example\/">a<\/a><img [^>]+><\/body>$/,
  )
})

test('rewrite: for any text, only links and the pixel change', () => {
  const piece = fc.constantFrom(
    ...[
      '<a href="http://a.example/?q=1&amp;r=2">',
      "<a href='https://b.example'>",
      '<a href=http://c.example/ x>',
    ],
    ...[
      '<a ',
      'href=',
      '"',
      "'",
      '>',
      '<',
      '/',
      '=',
      ' ',
      '\n',
      '&amp;',
      '&#x',
      '&',
      '-->',
      '<!--',
      '<![CDATA[',
    ],
    ...[
      '<script>',
      '</script>',
      '<title>',
      '</title>',
      '</body>',
      '</html>',
      '<svg>',
      '\0',
      'é',
      '😀',
      '\ud800',
    ],
    ...['data-no-track', '</a>', '<area href="http://d.example/', 'http://e.example/'],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), pieces => {
      const html = pieces.join('')
      const { plan, page } = tracked(html)
      const links = plan.links.map(({ start, end }) => html.slice(start, end))
      assert.is(reversed(page, links), html)
      for (const { target } of plan.links) {
        assert.match(target, /^https?:\/\/[!-~]+$/i)
        assert.ok(target.length <= TARGET_LENGTH_MAX)
      }
    }),
    { numRuns: 2_000 },
  )
})

test.run()
