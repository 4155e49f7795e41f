/**
 * Debian's Chromium, steered by playwright-core, with a watch on everything that a page of ours must not do.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core'
import type { Mailhorn } from './mailhorn.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const LIMIT_MS = 10_000 * Number(process.env.TEST_LIMIT_FACTOR ?? 1)

export interface WatchedPage {
  page: Page
  /**
   * Errors on the console, breaches of the content security policy, exceptions, and requests to other
   * origins.
   */
  faults: string[]
  close(): Promise<void>
}

export interface TestBrowser {
  /** A page of a reader of its own, at the sign-in of the dashboard. */
  open(mailhorn: Mailhorn, options?: BrowserContextOptions): Promise<WatchedPage>
  /** Likewise, signed in as the admin, at this place of the dashboard. */
  signIn(mailhorn: Mailhorn, path?: string, options?: BrowserContextOptions): Promise<WatchedPage>
  close(): Promise<void>
}

/** @param flags further flags of Chromium */
export async function startBrowser(...flags: string[]): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [...FLAGS, ...flags],
  })
  const open: TestBrowser['open'] = async (mailhorn, options = {}) => watched(browser, mailhorn, options)
  return {
    open,
    async signIn(mailhorn, path = '/', options) {
      const opened = await open(mailhorn, options)
      const { page } = opened
      await page.goto(`${mailhorn.baseUrl}/dashboard/`)
      await page.getByLabel('Email address').fill(mailhorn.admin.email)
      await page.getByLabel('Password').fill(mailhorn.admin.password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.locator('main#page').waitFor()
      if (path !== '/') await page.goto(`${mailhorn.baseUrl}/dashboard${path}`)
      return opened
    },
    close: () => browser.close(),
  }
}

export async function openUserMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account menu' }).click()
}

export async function signOut(page: Page): Promise<void> {
  await openUserMenu(page)
  await page.getByRole('button', { name: 'Sign out' }).click()
}

async function watched(
  browser: Browser,
  { baseUrl }: Mailhorn,
  options: BrowserContextOptions,
): Promise<WatchedPage> {
  // rows that fade in would be measured with half of their contrast
  const context = await browser.newContext({
    ...{ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' },
    ...options,
  })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  context.setDefaultTimeout(LIMIT_MS)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' && !isExpected(message.text()))
      faults.push(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', error => faults.push(String(error.stack)))
  page.on('dialog', dialog => {
    faults.push(`a dialog of the browser: ${dialog.message()}`)
    dialog.dismiss().catch(() => {})
  })
  const leaves = (request: Request) => {
    const url = new URL(request.url())
    const isOurs =
      ['data:', 'blob:', 'about:'].includes(url.protocol) || url.origin === new URL(baseUrl).origin
    // what the page's or the frame's rules have stopped has gone nowhere
    if (!isOurs && request.failure()?.errorText !== 'csp') faults.push(`a request to ${request.url()}`)
  }
  page.on('requestfinished', leaves)
  page.on('requestfailed', leaves)
  return { page, faults, close: () => context.close() }
}

/** The browser notes every reply that is no success; nobody being signed in yet is no fault. */
function isExpected(text: string): boolean {
  return /status of 4\d\d/.test(text)
}

interface AxeResult {
  violations: {
    id: string
    help: string
    nodes: { target: string[]; failureSummary: string }[]
  }[]
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Returns the findings of axe-core, as text.
 * @param rules ids of the rules that are checked, instead of all
 */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // by evaluate, since the page's rules let no script be added
  await page.evaluate(axeSource)
  const options = { resultTypes: ['violations'], iframes: false, ...(rules && { runOnly: rules }) }
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResult
  return violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes.map(node => `${node.target.join(' ')} (${node.failureSummary})`).join('; ')}`,
  )
}

/** Returns how far the page scrolls horizontally, in px. */
export async function sideways(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}
