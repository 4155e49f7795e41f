/**
 * The dashboard over 100,000 emails and a million contacts: each page from its address to its main content,
 * in Chromium.
 */
import { Readable } from 'node:stream'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { signedIn } from '../kit/api.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { addManyEmails } from '../kit/many-emails.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { median } from '../kit/numbers.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import { type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { fileOf } from './contacts.ts'

export const dashboard: Scenario = {
  what: 'pages of the dashboard over 100,000 emails and --n contacts',
  rounds: 5,
  count: 1_000_000,
  domainCount: 1,
  run,
}

const EMAILS = 100_000
/** Flags that the tests start Chromium with. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
const LIMIT_MS = 20_000

const COLUMNS: Column[] = [
  { figure: 'medianMs', title: 'median, ms', digits: 0 },
  { figure: 'maxMs', title: 'most, ms', digits: 0 },
]

/** Cookies and storage of a browser in which the operator is signed in. */
type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>

/** Page with the selector of its main content, for which a visit waits. */
type Page = readonly [name: string, path: string, main: string]

const ROWS = '.list tbody tr'

function pagesOf(audience: string, email: string): Page[] {
  return [
    ['overview, status', '/', '.status:not(.quiet)'],
    ['overview, figures', '/', '.figure'],
    ['first steps', '/start', '.steps > li'],
    ['emails', '/emails', ROWS],
    ['emails by status', '/emails?status=bounced', ROWS],
    ['emails by subject', '/emails?q=order', ROWS],
    ['emails, page 100', '/emails?page=100', ROWS],
    ['an email', `/emails/${email}`, '.recipient'],
    ['audiences', '/audiences', ROWS],
    ['an audience', `/audiences/${audience}`, ROWS],
    ['an audience, searched', `/audiences/${audience}?q=.77777%40`, ROWS],
    ['segments', `/audiences/${audience}?view=segments`, ROWS],
    ['broadcasts', '/broadcasts', '.empty'],
    ['suppressions', '/suppressions', '.empty'],
    ['queue', '/queue', `.empty, ${ROWS}`],
    ['destinations', '/destinations', `.empty, ${ROWS}`],
    ['deliverability', '/deliverability', 'section:has-text("Sending IP addresses") .recipient'],
  ]
}

async function run({ folder, count, rounds, only, profiles }: ScenarioOptions): Promise<Findings> {
  const unbound = await prepareNetwork(folder, 1)
  const ours = mailhorn(folder, { signingSlots: [], profiles })
  const measurements: Measurement[] = []
  await withStarted(ours, { held: true }, async () => {
    addManyEmails(ours.databaseFile(), EMAILS)
    await ours.release()
    const pages = await fill(ours, count)
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: FLAGS,
    })
    const state = await signIn(browser, ours)
    for (const page of pages) {
      if (only && !page[0].includes(only)) continue
      const times: number[] = []
      for (let round = 0; round < rounds; round++) times.push(await visit(browser, ours, state, page))
      const figures = { medianMs: median(times), maxMs: Math.max(...times) }
      measurements.push({ contender: page[0], figures })
      console.log(JSON.stringify({ page: page[0], ...figures }))
    }
    await browser.close()
  })
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

async function fill(ours: MailhornContender, count: number): Promise<Page[]> {
  const { url, apiKey } = ours.access()
  const call = await signedIn(ours)
  const { id: audience } = await call('POST', '/audiences', { name: 'All' })
  const imported = await fetch(`${url}/audiences/${audience}/contacts/import`, {
    method: 'POST',
    headers: { ...call.headers, 'content-type': 'text/csv' },
    body: Readable.toWeb(Readable.from(fileOf(count))) as ReadableStream,
    duplex: 'half',
  } as RequestInit)
  const { created } = (await imported.json()) as { created: number }
  if (created !== count) throw new Error(`${created} of ${count} contacts were taken in`)
  const filters = [{ field: 'properties.plan', op: 'eq', value: 'pro' }]
  await call('POST', `/audiences/${audience}/segments`, { name: 'Pro', filters })
  const { simulator_domain: simulator } = await call('GET', '/installation')
  const sent = await fetch(`${url}/emails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ from: 'a@b.example', to: `delivered@${simulator}`, subject: 'hi', html: '<p>hi' }),
  })
  const { id: email } = (await sent.json()) as { id: string }
  return pagesOf(audience, email)
}

/** Signs in as a person does, and returns what the browser keeps of it. */
async function signIn(browser: Browser, ours: MailhornContender): Promise<SignedIn> {
  const { url, admin } = ours.access()
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${url}/dashboard/`)
  await page.getByLabel('Email address').fill(admin.email)
  await page.getByLabel('Password').fill(admin.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('.status:not(.quiet)').waitFor({ timeout: LIMIT_MS })
  const state = await context.storageState()
  await context.close()
  return state
}

/** Measures the first visit of a reader: the browser context has an empty cache. */
async function visit(
  browser: Browser,
  ours: MailhornContender,
  storageState: SignedIn,
  [, path, main]: Page,
): Promise<number> {
  const { url } = ours.access()
  const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 860 } })
  const page = await context.newPage()
  const beganAt = performance.now()
  await page.goto(`${url}/dashboard${path}`, { waitUntil: 'commit' })
  await page.locator(main).first().waitFor({ timeout: LIMIT_MS })
  const ms = performance.now() - beganAt
  await context.close()
  return ms
}
