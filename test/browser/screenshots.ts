/**
 * Writes the screenshots in `docs/images` from the scene of the browser tests: `node
 * test/browser/screenshots.ts`. It needs Debian's Chromium, as the tests do. Look at the images before you
 * commit them.
 */
import { writeFileSync } from 'node:fs'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type Scene, startScene } from './scene.ts'

const FOLDER = new URL('../../docs/images/', import.meta.url)
const DESKTOP = { viewport: { width: 1200, height: 820 } }
const PHONE = { viewport: { width: 390, height: 844 } }
const DARK = { colorScheme: 'dark' } as const
/** Charts and frames of messages are drawn after the page has loaded. */
const SETTLE_MS = 1_000
const THUMBNAILS_PER_ROW = 7

interface Shot {
  file: string
  place: string
  options: BrowserContextOptions
  /** Text of an element that the image begins with. */
  from?: string
}

const SHOTS: readonly Shot[] = [
  { file: 'dashboard-overview', place: 'overview', options: { viewport: { width: 1200, height: 1180 } } },
  { file: 'dashboard-email', place: 'bounced', options: DESKTOP },
  { file: 'dashboard-template-dark', place: 'template', options: { ...DESKTOP, ...DARK } },
  {
    file: 'dashboard-deliverability',
    place: 'deliverability',
    options: { ...DARK, viewport: { width: 1200, height: 620 } },
    from: 'Sending IP addresses',
  },
  { file: 'dashboard-broadcast', place: 'broadcast', options: DESKTOP },
  { file: 'dashboard-start', place: 'start', options: DESKTOP },
  { file: 'dashboard-queue', place: 'queue', options: DESKTOP },
  { file: 'dashboard-phone', place: 'overview', options: PHONE },
]
const OVERVIEWS = [
  { file: 'dashboard-all-light', options: DESKTOP, thumbnailWidth: 300 },
  { file: 'dashboard-all-dark', options: { ...DESKTOP, ...DARK }, thumbnailWidth: 300 },
  { file: 'dashboard-all-phone', options: PHONE, thumbnailWidth: 150 },
] as const

buildDashboard()
const scene = await startScene()
const browser = await startBrowser()
try {
  for (const shot of SHOTS) await takeShot(browser, scene, shot)
  for (const overview of OVERVIEWS) await takeOverview(browser, scene, overview)
} finally {
  await browser.close()
  await scene.close()
}

async function takeShot(browser: TestBrowser, scene: Scene, { file, place, options, from }: Shot) {
  const { page, close } = await browser.signIn(scene.mailhorn, '/', options)
  await openPlace(page, scene, scene.places.find(([name]) => name === place)![1])
  if (from) {
    await page
      .getByText(from, { exact: true })
      .first()
      .evaluate((element: { scrollIntoView(): void }) => element.scrollIntoView())
    await page.evaluate('scrollBy(0, -40)')
  }
  await write(page, file)
  await close()
}

/** All pages in one image, in alphabetical order. */
async function takeOverview(
  browser: TestBrowser,
  scene: Scene,
  { file, options, thumbnailWidth }: (typeof OVERVIEWS)[number],
) {
  const { page, close } = await browser.signIn(scene.mailhorn, '/', options)
  const images: string[] = []
  for (const [, path] of [...scene.places].sort(([a], [b]) => a.localeCompare(b))) {
    await openPlace(page, scene, path)
    images.push((await page.screenshot()).toString('base64'))
  }
  const width = THUMBNAILS_PER_ROW * (thumbnailWidth + 8)
  const tags = images
    .map(data => `<img width="${thumbnailWidth}" src="data:image/png;base64,${data}">`)
    .join('')
  await page.goto('about:blank')
  await page.setViewportSize({ width, height: 100 })
  await page.setContent(
    `<style>body { margin: 0; font-size: 0; background: #8a8570 } img { margin: 4px }</style>${tags}`,
  )
  await write(page, file, true)
  await close()
}

async function openPlace(page: Page, { mailhorn }: Scene, path: string) {
  await page.goto(`${mailhorn.baseUrl}/dashboard${path}`)
  await page.locator('main h1').waitFor()
  await page.locator('main .waiting').first().waitFor({ state: 'detached' })
  await page.waitForTimeout(SETTLE_MS)
}

async function write(page: Page, file: string, fullPage = false) {
  writeFileSync(new URL(`${file}.png`, FOLDER), await page.screenshot({ fullPage }))
}
