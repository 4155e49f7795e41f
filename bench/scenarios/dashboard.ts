/**
 * The dashboard over 100,000 emails and a million contacts: each page from its address to its main content,
 * in Chromium.
 */
import { Readable } from 'node:stream'
import { type Browser, chromium } from 'playwright-core'
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

/** Page with the selector of its main content, for which a visit waits. */
type Page = readonly [name: string, path: string, main: string]

const ROWS = '.list tbody tr'

function pagesOf(audience: string, email: string): Page[] {
  return [
    ['overview, verdict', '/', '.verdict h2'],
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
    ['deliverability', '/deliverability', '[aria-label="Our addresses"]'],
  ]
}

async function run({ folder, count, rounds, only, profiles }: ScenarioOptions): Promise<Findings> {
  const unbound = await prepareNetwork(folder, 1)
  const ours = mailhorn(folder, { signingSlots: [], profiles })
  const measurements: Measurement[] = []
  await withStarted(ours, { held: true }, async () => {
    addManyEmails(ours.databaseFile(), EMAILS)
    await ours.release()
    const { pages, cookie } = await fill(ours, count)
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: FLAGS,
    })
    for (const page of pages) {
      if (only && !page[0].includes(only)) continue
      const times: number[] = []
      for (let round = 0; round < rounds; round++) times.push(await visit(browser, ours, cookie, page))
      const figures = { medianMs: median(times), maxMs: Math.max(...times) }
      measurements.push({ contender: page[0], figures })
      console.log(JSON.stringify({ page: page[0], ...figures }))
    }
    await browser.close()
  })
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

interface Cookie {
  name: string
  value: string
}

async function fill(ours: MailhornContender, count: number): Promise<{ pages: Page[]; cookie: Cookie }> {
  const { url, admin, apiKey } = ours.access()
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
  const login = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(admin),
  })
  const [name, value] = login.headers.get('set-cookie')!.split(';')[0]!.split('=')
  return { pages: pagesOf(audience, email), cookie: { name: name!, value: value! } }
}

/** Measures the first visit of a reader: the browser context has an empty cache. */
async function visit(
  browser: Browser,
  ours: MailhornContender,
  { name, value }: Cookie,
  [, path, main]: Page,
): Promise<number> {
  const { url } = ours.access()
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
  await context.addCookies([{ name, value, url }])
  const page = await context.newPage()
  const beganAt = performance.now()
  await page.goto(`${url}/dashboard${path}`, { waitUntil: 'commit' })
  await page.locator(main).first().waitFor({ timeout: LIMIT_MS })
  const ms = performance.now() - beganAt
  await context.close()
  return ms
}
