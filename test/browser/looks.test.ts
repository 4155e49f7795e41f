import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { axeFindings, sideways, startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'
import { type Scene, startScene } from './scene.ts'

const test = suite('looks of the dashboard')
const TEXT_PX_MIN = 12
const LAYOUT_SHIFT_MAX = 0.05
/** Height of two lines of a list on a phone, in px. */
const TWO_LINES_PX = 62
let scene: Scene
let browser: TestBrowser
test.before(async () => {
  buildDashboard()
  scene = await startScene()
  await addOddNames(scene)
  browser = await startBrowser()
})
test.after(async () => {
  await browser.close()
  await scene.close()
})

const LONG = 'Your order of a rather long description is on its way to you '.repeat(5).trim()
const ODD_NAMES = [
  LONG,
  LONG.replaceAll(' ', ''),
  '🎉👩‍👩‍👧‍👦 Überraschung für Łukasz',
  'طلبك في الطريق إليك الآن مع جزيل الشكر',
  '-',
]

/** Long words, emoji, a right-to-left script, and nearly nothing, as names of everything that is listed. */
async function addOddNames({ mailhorn, ids }: Scene) {
  const session = await mailhorn.signIn()
  const make = async (path: string, body: object) => {
    const { status, body: reply } = await mailhorn.call('POST', path, { session, body })
    assert.ok(status < 300, `${path}: ${JSON.stringify(reply)}`)
  }
  for (const [i, name] of ODD_NAMES.entries()) {
    const short = name.slice(0, 50)
    const from = `"${short}" <orders@shop.example>`
    await mailhorn.send({
      from,
      to: `delivered+${'x'.repeat(50)}${i}@simulator.test`,
      subject: name,
      text: '-',
    })
    await make('/templates', { name: short, subject: name, text: '-' })
    await make('/audiences', { name: short })
    await make('/topics', { name: short, description: name.slice(0, 200) })
    await make('/broadcasts', { audience_id: ids.audience, from, subject: name, text: '{{unsubscribe_url}}' })
    await make(`/audiences/${ids.audience}/contacts`, {
      email: `${'y'.repeat(50)}${i}@there.example`,
      ...{ first_name: short, last_name: short },
      properties: Object.fromEntries(Array.from({ length: 21 }, (_, key) => [`property ${key}`, short])),
    })
  }
}

/** Returns texts below a size in px, as they are drawn: a chart may be scaled. Runs in the browser. */
const SMALL_TEXTS = `[...document.querySelectorAll('body *')].filter(element =>
  [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '') &&
  element.getClientRects().length > 0 &&
  parseFloat(getComputedStyle(element).fontSize) * (element.getScreenCTM?.().a ?? 1) < ${TEXT_PX_MIN - 0.05}
).map(element => element.outerHTML.slice(0, 120))`

/** Returns tabs that scroll up and down, and badges above or below their buttons. Runs in the browser. */
const CROOKED = `[
  ...[...document.querySelectorAll('.tabs')].filter(tabs => tabs.scrollHeight > tabs.clientHeight),
  ...[...document.querySelectorAll('.row > .mark')].filter(mark => {
    const middle = element => (element.getBoundingClientRect().top + element.getBoundingClientRect().bottom) / 2
    const beside = [mark.previousElementSibling, mark.nextElementSibling].find(one => one?.matches('.button'))
    if (!beside || beside.getBoundingClientRect().bottom < mark.getBoundingClientRect().top) return false
    return Math.abs(middle(mark) - middle(beside)) > 1
  }),
].map(element => element.outerHTML.slice(0, 120))`

/** Sums up the layout shifts of a page. Runs in the browser. */
const COUNT_SHIFTS = `globalThis.shifted = 0; new PerformanceObserver(list => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifted += value
}).observe({ type: 'layout-shift', buffered: true })`

const PHONE = { width: 390, height: 844 }
const DESKTOP = { width: 1440, height: 900 }
const WIDTHS = [390, 720, 820, 1280, 1440]

for (const viewport of [DESKTOP, PHONE])
  test(`at ${viewport.width} px: text is legible, rows are level, and what arrives later moves nothing`, async t => {
    const { page, close } = await browser.signIn(scene.mailhorn, '/', { viewport })
    t.after(close)
    await page.addInitScript(COUNT_SHIFTS)
    for (const [name, path] of scene.places) {
      await open(page, path)
      await page.waitForLoadState('networkidle')
      assert.ok(((await page.evaluate('shifted')) as number) < LAYOUT_SHIFT_MAX, `${name} shifts its content`)
      assert.equal(await page.evaluate(SMALL_TEXTS), [], name)
      assert.equal(await page.evaluate(CROOKED), [], name)
      if (viewport === PHONE) {
        const heights = (await page.locator('.list tbody tr').evaluateAll(heightsOf)) as number[]
        assert.ok(Math.max(0, ...heights) <= TWO_LINES_PX, `${name}: ${heights}`)
      } else await assertFits(page, name, path)
    }
  })

/** Nothing scrolls sideways at any width, and rows of a list have one height. */
async function assertFits(page: Page, name: string, path: string) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: DESKTOP.height })
    await page.evaluate('new Promise(requestAnimationFrame)')
    assert.is(await sideways(page), 0, `${name} at ${width} px`)
    if (!lists().includes(path)) continue
    const heights = new Set(await page.locator('.list tbody tr').evaluateAll(heightsOf))
    assert.is(heights.size, 1, `${path} at ${width} px: ${[...heights]}`)
    const [height = 0] = heights
    assert.ok(height <= (width > 680 ? 45 : TWO_LINES_PX), `${path} at ${width} px: ${height}`)
  }
}

const lists = () => ['/emails', '/templates', '/broadcasts', `/audiences/${scene.ids.audience}`]

test('the lists whose rows are measured are pages of the dashboard', () => {
  assert.equal(
    lists().filter(list => !scene.places.some(([, path]) => path === list)),
    [],
  )
})

test('type: the fonts come from the service itself', async t => {
  const { page, faults, close } = await browser.signIn(scene.mailhorn, `/emails/${scene.ids.bounced}`)
  t.after(close)
  await page.getByText('perm-550-511@there.example').first().waitFor()
  const loaded = await page.evaluate(
    `document.fonts.ready.then(() => [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family))`,
  )
  assert.equal([...new Set(loaded as string[])].sort(), ['Geist', 'Geist Mono'])
  assert.equal(faults, [])
})

test('lists on a phone: more than one action opens with a button', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn, '/', { viewport: PHONE })
  t.after(close)
  await open(page, '/accounts')
  const row = page.getByRole('row').filter({ hasText: 'Bakery' })
  assert.is(await row.getByRole('button', { name: 'Reset password' }).isVisible(), false)
  await row.getByRole('button', { name: 'Actions' }).click()
  await row.getByRole('button', { name: 'Reset password' }).click()
  await page.getByRole('dialog').getByText('all sessions of the user end').waitFor()
})

test('lists on a phone: numbers have their labels, and a search beside a button its own line', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn, '/', { viewport: PHONE })
  t.after(close)
  await open(page, '/audiences')
  const row = page.getByRole('row').filter({ hasText: 'Readers of the newsletter' })
  const labels = await row.locator('.is-number .line').evaluateAll(labelsOf)
  assert.equal(labels, ['Contacts '])
  await open(page, `/audiences/${scene.ids.audience}`)
  const search = (await page.locator('.filters .search').boundingBox())!
  assert.ok(search.width > PHONE.width * 0.8, `${search.width} px`)
})

test('lists on a phone: the filters open with one button, which counts those that are set', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn, '/logs?method=POST', { viewport: PHONE })
  t.after(close)
  const status = page.getByLabel('Any status')
  await page.getByRole('link', { name: 'POST /emails' }).first().waitFor()
  assert.is(await status.isVisible(), false)
  await page.getByRole('button', { name: 'Filters (1)' }).click()
  await status.selectOption('Invalid (422)')
  await page.waitForURL(/status=422/)
  await page.getByRole('button', { name: 'Filters (2)' }).click()
  assert.is(await status.isVisible(), false)
})

test('lists: the whole text of a cell that is cut off is its tooltip', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn, '/emails')
  t.after(close)
  const cell = page.getByTitle(LONG, { exact: true }).first()
  await cell.waitFor()
  assert.ok(await cell.evaluate(({ scrollWidth, clientWidth }: Sizes) => scrollWidth > clientWidth))
  assert.is(await cell.getAttribute('dir'), 'auto')
})

test('lists: the whole row leads to the email, and the keyboard stops once in a row', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn, '/emails')
  t.after(close)
  const row = page.getByRole('row').filter({ hasText: 'Your invoice 1042' })
  await row.getByText('Bounced').click()
  await page.waitForURL(`**/emails/${scene.ids.bounced}`)
  await page.goBack()
  await row.getByRole('checkbox').focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  assert.ok(await page.evaluate(`document.activeElement.type === 'checkbox'`))
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/emails/${scene.ids.bounced}`)
})

test('lists: times are exact, and their tooltips relative', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn, '/emails')
  t.after(close)
  const row = page.getByRole('row').filter({ hasText: 'How do you like your lamp?' })
  assert.match(await row.locator('time').innerText(), /^\d{1,2} \w{3,4} (?:\d\d:\d\d|\d{4})$/)
  assert.match((await row.locator('time').getAttribute('title'))!, /^in 3 days: /)
})

test('empty lists: parameters of the page are no filters', async t => {
  const mailhorn = await startMailhorn()
  t.after(() => mailhorn.close())
  const { page, close } = await browser.signIn(mailhorn, '/domains?add=1')
  t.after(close)
  for (const [path, title] of [
    ['/domains?add=1', 'No domains yet'],
    ['/emails?page=1', 'No emails yet'],
    ['/inbox?add=1&page=1', 'No messages yet'],
  ] as const) {
    await page.goto(`${mailhorn.baseUrl}/dashboard${path}`)
    await page.getByText(title, { exact: true }).waitFor()
    assert.is(await page.getByText('No results match your filters.').count(), 0)
  }
  await page.goto(`${mailhorn.baseUrl}/dashboard/inbox?q=lamp`)
  await page.getByText('No results match your filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('No messages yet').waitFor()
})

test('chart: the pointer shows the numbers of a day, and a click the emails of that day', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn)
  t.after(close)
  const chart = page.getByRole('img', { name: 'Deliveries over time by status' })
  await chart.waitFor()
  const { width, height } = (await chart.boundingBox())!
  const position = { x: width - 10, y: height / 2 }
  await chart.hover({ position })
  await page
    .locator('.chart-tip')
    .getByText(/^[\d,]+ delivered$/)
    .waitFor()
  await page
    .getByText(/^was [\d,]+$/)
    .first()
    .waitFor()
  await chart.click({ position })
  await page.waitForURL(/emails\?created_after=.+&created_before=.+/)
  await page.getByRole('link', { name: 'Your invoice 1042' }).waitFor()
})

test('pages without anything to show: an unknown email, and a page of operators', async t => {
  const { mailhorn } = scene
  const { page, close } = await browser.signIn(mailhorn, '/emails/eml_01a21ec4-e948-7028-a8c8-93a25be942cc')
  t.after(close)
  await page.getByRole('heading', { name: 'Email not found' }).waitFor()
  assert.equal(await axeFindings(page), [])
  const { body: tenant } = await mailhorn.call('POST', '/accounts', {
    session: await mailhorn.signIn(),
    body: { name: 'Café', owner_email: 'owner@cafe.example', plan: 'pro' },
  })
  const admin = { email: 'owner@cafe.example', password: tenant.password }
  const opened = await browser.signIn({ ...mailhorn, admin }, '/queue')
  t.after(opened.close)
  await opened.page.getByRole('heading', { name: 'You do not have access to this page' }).waitFor()
  assert.is(await opened.page.getByRole('alert').count(), 0)
})

interface Sizes {
  scrollWidth: number
  clientWidth: number
}

function heightsOf(rows: unknown[]): number[] {
  return rows.map(row => Math.round((row as { offsetHeight: number }).offsetHeight))
}

/** Labels that a phone shows before the numbers of a list. */
function labelsOf(lines: unknown[]): string[] {
  const { getComputedStyle: styleOf } = globalThis as unknown as {
    getComputedStyle(line: unknown, part: string): { content: string }
  }
  // browsers join adjacent strings or do not
  const joined = (content: string) => [...content.matchAll(/"([^"]*)"/g)].map(([, text]) => text).join('')
  return lines.map(line => joined(styleOf(line, '::before').content))
}

async function open(page: Page, path: string) {
  await page.goto(`${scene.mailhorn.baseUrl}/dashboard${path}`)
  await page.locator('main h1').waitFor()
  await page.locator('main .waiting').first().waitFor({ state: 'detached' })
}

test.run()
