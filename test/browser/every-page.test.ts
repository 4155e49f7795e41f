import * as assert from 'uvu/assert'
import { axeFindings, sideways, startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { suite } from '../kit/suite.ts'
import { type Scene, startScene } from './scene.ts'

const test = suite('every page of the dashboard')
let scene: Scene
let browser: TestBrowser
test.before(async () => {
  buildDashboard()
  scene = await startScene()
  browser = await startBrowser()
})
test.after(async () => {
  await browser.close()
  await scene.close()
})

/** Global functions of the browser, in which the callback runs. */
interface Styles {
  getComputedStyle(of: unknown): { color: string }
}

/**
 * That a frame's rules have stopped something of a message is noted on the console, and is no fault of the
 * page.
 */
function isOurs(fault: string): boolean {
  return !/elsewhere\.example|dashboard\/preview|Blocked script execution/.test(fault)
}

const DESKTOP = { width: 1280, height: 860 }
const PHONE = { width: 390, height: 844 }
/** Rules of axe that depend on the colour scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

const GROUPS = 4
for (let group = 0; group < GROUPS; group += 1)
  test(`group ${group + 1} in light, in dark and on a phone: no accessibility finding, no sideways scrolling, no error`, async t => {
    const { page, faults, close } = await browser.signIn(scene.mailhorn, '/', { viewport: DESKTOP })
    t.after(close)
    for (const [name, path] of scene.places.filter((_, place) => place % GROUPS === group)) {
      await page.goto(`${scene.mailhorn.baseUrl}/dashboard${path}`)
      await page.locator('main h1').waitFor()
      await page.locator('main .waiting').first().waitFor({ state: 'detached' })
      assert.equal(await axeFindings(page), [], name)
      assert.is(await sideways(page), 0, name)
      await page.emulateMedia({ colorScheme: 'dark' })
      assert.equal(await axeFindings(page, COLOUR_RULES), [], `${name} in dark`)
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize(PHONE)
      assert.equal(await axeFindings(page), [], `${name} on a phone`)
      assert.is(await sideways(page), 0, `${name} on a phone`)
      assert.is(await page.getByRole('alert').count(), 0, name)
      await page.setViewportSize(DESKTOP)
    }
    assert.equal(faults.filter(isOurs), [])
  })

test('a page asks for the session and for each file once, and loads the code of no other page', async t => {
  const { page, faults, close } = await browser.signIn(scene.mailhorn, '/emails', { viewport: DESKTOP })
  t.after(close)
  await page.locator('main tbody tr').first().waitFor()
  const asked: string[] = []
  page.on('request', request => asked.push(new URL(request.url()).pathname))
  await page.reload()
  await page.locator('main tbody tr').first().waitFor()
  assert.is(asked.filter(path => path === '/auth/session').length, 1)
  const scripts = asked.filter(path => path.endsWith('.js'))
  assert.is(new Set(scripts).size, scripts.length, scripts.join())
  assert.ok(scripts.length <= 6, scripts.join())
  assert.equal(faults, [])
})

test('the sign-in page has no accessibility finding, no sideways scrolling and no error', async t => {
  for (const options of [{}, { colorScheme: 'dark' }, { viewport: PHONE }] as const) {
    const { page, faults, close } = await browser.open(scene.mailhorn, options)
    t.after(close)
    await page.goto(`${scene.mailhorn.baseUrl}/dashboard/`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await axeFindings(page), [])
    assert.is(await sideways(page), 0)
    assert.equal(faults, [])
  }
})

test('what strangers wrote runs nowhere, and is shown as it is', async t => {
  const { mailhorn } = scene
  const script = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
  const id = await mailhorn.send({
    from: 'shop@shop.example',
    to: '"<svg onload=alert(3)>" <delivered+x@simulator.test>',
    subject: script,
    html:
      `<h1 style="color: rgb(1, 2, 3)">Hello</h1><script>top.alert(4)</script><img src=x onerror="top.alert(5)">` +
      '<a href="javascript:alert(6)">click</a><form action="https://elsewhere.example/"><input name=a></form>' +
      '<img src="https://elsewhere.example/pixel.gif"><iframe src="https://elsewhere.example/"></iframe>' +
      '<link rel=stylesheet href="https://elsewhere.example/x.css"><meta http-equiv=refresh content="0;https://elsewhere.example/">' +
      '<style>h1 { background: url(https://elsewhere.example/bg.png) }</style>',
    text: script,
    tags: [{ name: script, value: script }],
    headers: { 'X-Odd': script },
    attachments: [
      {
        filename: `${script}.html`,
        content: Buffer.from(script).toString('base64'),
        content_type: 'text/html',
      },
    ],
  })
  await mailhorn.emailWhen(id, 'delivered')
  const { page, faults, close } = await browser.signIn(mailhorn)
  t.after(close)
  await page.goto(`${mailhorn.baseUrl}/dashboard/emails?q=${encodeURIComponent('<img')}`)
  await page.getByRole('link', { name: script }).click()
  await page.getByRole('heading', { name: script, exact: true }).waitFor()
  const frame = page.frameLocator('iframe.letter')
  await frame.getByRole('heading', { name: 'Hello' }).waitFor()
  assert.is(
    await frame
      .getByRole('heading', { name: 'Hello' })
      .evaluate(h1 => (globalThis as unknown as Styles).getComputedStyle(h1).color),
    'rgb(1, 2, 3)',
  )
  await page.getByText('Remote images are blocked').waitFor()
  await frame.getByText('click').click()
  for (const tab of ['Text', 'Headers', 'Attachments (1)', 'Source'])
    await page.getByRole('tab', { name: tab, exact: true }).click()
  await page.getByText('Exactly as sent').or(page.getByText('without DKIM signatures')).waitFor()
  const bounced = await mailhorn.send({
    ...{ from: 'shop@shop.example', to: 'bounced@simulator.test', subject: script, text: script },
  })
  await mailhorn.emailWhen(bounced, 'bounced')
  await page.goto(`${mailhorn.baseUrl}/dashboard/`)
  await page.getByRole('link', { name: script }).first().waitFor()
  assert.equal(faults.filter(isOurs), [])
})

test.run()
