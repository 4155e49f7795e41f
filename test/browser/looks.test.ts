import * as assert from 'uvu/assert'
import { startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { suite } from '../kit/suite.ts'
import { type Scene, startScene } from './scene.ts'

const test = suite('looks of the dashboard')
const TEXT_PX_MIN = 12
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

/** Returns texts below a size in px, as they are drawn: a chart may be scaled. Runs in the browser. */
const SMALL_TEXTS = `[...document.querySelectorAll('body *')].filter(element =>
  [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '') &&
  element.getClientRects().length > 0 &&
  parseFloat(getComputedStyle(element).fontSize) * (element.getScreenCTM?.().a ?? 1) < ${TEXT_PX_MIN - 0.05}
).map(element => element.outerHTML.slice(0, 120))`

const VIEWPORTS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]

for (const viewport of VIEWPORTS)
  test(`type at ${viewport.width} px: no text is smaller than ${TEXT_PX_MIN} px`, async t => {
    const { page, close } = await browser.signIn(scene.mailhorn, '/', { viewport })
    t.after(close)
    for (const [name, path] of scene.places) {
      await page.goto(`${scene.mailhorn.baseUrl}/dashboard${path}`)
      await page.locator('main h1').waitFor()
      await page.locator('main .waiting').first().waitFor({ state: 'detached' })
      assert.equal(await page.evaluate(SMALL_TEXTS), [], name)
    }
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

test.run()
