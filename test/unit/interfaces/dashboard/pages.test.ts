import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { type DashboardPage, openPages, type Pages } from '../../../../src/interfaces/dashboard/pages.ts'
import { previewOf } from '../../../../src/interfaces/dashboard/preview.ts'
import { buildDashboard, DASHBOARD_FOLDER } from '../../../kit/dashboard.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('the dashboard as it was built')
/** Page, scripts and styles, compressed. */
const FIRST_LOAD_BYTES_MAX = 90_000
/** Fonts of a page in a Latin script. */
const FONT_BYTES_MAX = 60_000
const web = new URL('../../../../src/interfaces/dashboard/web', import.meta.url).pathname
let pages: Pages
test.before(() => {
  buildDashboard()
  pages = openPages(DASHBOARD_FOLDER)
})

const textOf = ({ content }: DashboardPage) => Buffer.from(content).toString()
/** Returns the paths of the files that a browser loads for the page. */
const assetsOf = (page: DashboardPage) =>
  [...textOf(page).matchAll(/"(\/dashboard\/assets\/[^"]+)"/g)].map(([, path]) => path!)

test('dashboard files: a development build is read anew, any other once', t => {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const write = (content: string) => writeFileSync(join(folder, 'index.html'), content)
  mkdirSync(join(folder, 'assets'))
  write('first')
  const released = openPages(folder)
  writeFileSync(join(folder, 'development'), '')
  const developed = openPages(folder)
  write('second')
  assert.is(textOf(released.find('/dashboard', '')!), 'first')
  assert.is(textOf(developed.find('/dashboard', '')!), 'second')
})

test('dashboard files: one page is served for every path', () => {
  const page = pages.find('/dashboard', '')!
  assert.is(page.status, 200)
  assert.is(page.headers['content-type'], 'text/html; charset=utf-8')
  assert.is(textOf(pages.find('/dashboard/emails/eml_1', '')!), textOf(page))
})

test('dashboard headers: the page may load resources of its origin only', () => {
  const policy = pages.find('/dashboard', '')!.headers['content-security-policy']!
  assert.match(policy, "default-src 'none'")
  assert.match(policy, "script-src 'self';")
  assert.match(policy, "style-src 'self';")
  assert.match(policy, "font-src 'self';")
  assert.match(policy, "frame-ancestors 'none'")
  assert.not.match(policy, 'unsafe')
  assert.not.match(policy, 'http')
})

test('dashboard page: it contains no inline script or style', () => {
  const page = textOf(pages.find('/dashboard', '')!)
  assert.not.match(page, /<style|\sstyle=|<script(?![^>]*\ssrc=)[^>]*>|\son\w+=/)
})

test('dashboard files: assets exist, are immutable, and have content hashes', () => {
  const paths = assetsOf(pages.find('/dashboard', '')!)
  assert.ok(paths.length >= 3)
  for (const path of paths) {
    const asset = pages.find(path, '')!
    assert.match(path, /-[0-9A-Z]{8}\.(?:js|css|woff2)$/)
    assert.match(asset.headers['cache-control']!, 'immutable')
    assert.is(asset.headers['x-content-type-options'], 'nosniff')
    assert.match(asset.headers['content-type'], /^(?:text\/(?:javascript|css); charset=utf-8|font\/woff2)$/)
  }
  assert.is(pages.find('/dashboard', '')!.headers['cache-control'], 'no-cache')
})

test('dashboard files: a path that ends like a file is not a page', () => {
  for (const path of ['/dashboard/nope.js', '/dashboard/a/nope.css', '/dashboard/favicon.ico'])
    assert.is(pages.find(path, ''), undefined, path)
  for (const path of ['/dashboard/contacts/ann@shop.example', '/dashboard/destinations/mx.shop.example'])
    assert.ok(pages.find(path, ''), path)
})

test('dashboard files: a missing file is not found', () => {
  for (const name of ['gone-AAAAAAAA.js', '', '../index.html', '../stamp', 'constructor', '__proto__'])
    assert.is(pages.find(`/dashboard/assets/${name}`, ''), undefined, name)
})

test('dashboard files: gzip is used when accepted', () => {
  const path = assetsOf(pages.find('/dashboard', '')!).find(name => name.endsWith('.js'))
  const plain = pages.find(path!, 'br, gzip;q=0')!
  assert.is(plain.headers['content-encoding'], undefined)
  for (const encodings of ['gzip', 'br, GZIP', 'gzip;q=0.5, *']) {
    const packed = pages.find(path!, encodings)!
    assert.is(packed.headers['content-encoding'], 'gzip')
    assert.is(packed.headers.vary, 'accept-encoding')
    assert.equal(gunzipSync(packed.content), Buffer.from(plain.content))
  }
})

test('dashboard files: the first load is small', () => {
  const names = JSON.parse(readFileSync(join(DASHBOARD_FOLDER, 'first-load.json'), 'utf8')) as string[]
  assert.ok(names.length > 5, 'the overview is among them')
  const sizeOf = (list: string[]) =>
    list.reduce((sum, name) => sum + pages.find(`/dashboard/assets/${name}`, 'gzip')!.content.length, 0)
  const [fonts = [], code = []] = [true, false].map(isFont =>
    names.filter(name => name.endsWith('.woff2') === isFont),
  )
  const bytes = pages.find('/dashboard', 'gzip')!.content.length + sizeOf(code)
  assert.ok(bytes <= FIRST_LOAD_BYTES_MAX, `${bytes} bytes`)
  assert.ok(code.length <= 10, `${code.length} files, each of which is a request`)
  assert.is(fonts.length, 2, 'one for text and one for code')
  assert.ok(sizeOf(fonts) <= FONT_BYTES_MAX, `${sizeOf(fonts)} bytes of fonts`)
})

test('dashboard files: without a build, the page says so', t => {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const page = openPages(join(folder, 'nothing')).find('/dashboard', 'gzip')!
  assert.is(page.status, 503)
  assert.match(textOf(page), 'npm start')
})

test('dashboard code: text is never inserted as markup', () => {
  for (const name of globSync('**/*.{ts,tsx}', { cwd: web })) {
    const text = readFileSync(join(web, name), 'utf8')
    assert.not.match(
      text,
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser|\beval\(|new Function|javascript:/,
      name,
    )
  }
})

test('dashboard code: nothing is loaded from other origins', () => {
  for (const name of globSync('**/*.{ts,tsx,css}', { cwd: web })) {
    const text = readFileSync(join(web, name), 'utf8').replace(/http:\/\/www\.w3\.org\/\S+/g, '')
    assert.not.match(text, /(?:fetch|import|url|EventSource|WebSocket)\(\s*["'`]?(?:https?:)?\/\//, name)
  }
})

test('preview: it is the content of the form with its own security headers', () => {
  const html = '<p>Grüße & html=1</p>\r\n<p>two</p>'
  const page = previewOf(Buffer.from(`html=${html}\r\n`), false)!
  assert.is(textOf(page), html)
  const policy = page.headers['content-security-policy']!
  assert.match(policy, /^sandbox; default-src 'none';/)
  assert.not.match(policy, 'allow-')
  assert.not.match(policy, 'script-src')
  assert.match(policy, 'img-src data:;')
  assert.match(policy, "form-action 'none'")
})

test('preview: remote images are loaded on request only', () => {
  const policyOf = (withPictures: boolean) =>
    previewOf(Buffer.from('html='), withPictures)!.headers['content-security-policy']!
  assert.not.match(policyOf(false), 'http')
  assert.match(policyOf(true), 'img-src data: https: http:;')
})

test('preview: other bodies are refused', () => {
  for (const body of ['', 'htm', 'HTML=<p>', '{"html":"<p>"}', 'x=1\r\nhtml=<p>'])
    assert.is(previewOf(Buffer.from(body), false), undefined, body)
})

test.run()
