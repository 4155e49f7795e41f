/** Obstacles of a first use of the dashboard: dead ends, and faults that were named too late. */
import type { Locator, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type FakeMx, startFakeMx } from '../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn, zoneText } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'

const test = suite('first use of the dashboard')
const ZONE = `
  there.example      MX 10 mx.there.example
  mx.there.example   A 127.0.0.2
`
let mx: FakeMx
let mailhorn: Mailhorn
let browser: TestBrowser
let page: Page
let faults: string[]
test.before(async () => {
  buildDashboard()
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  await mailhorn.verifiedDomain('here.example')
  browser = await startBrowser()
  const opened = await browser.signIn(mailhorn)
  page = opened.page
  faults = opened.faults
})
test.after(async () => {
  await browser.close()
  await mailhorn.close()
  await mx.close()
})

test('a week is not compared with a week without mail', async () => {
  const id = await send('ann@there.example')
  await mailhorn.emailWhen(id, 'delivered')
  await goTo('/')
  const figures = page.locator('.figures')
  await figures.getByText('was 0', { exact: true }).waitFor()
  assert.match(await figures.innerText(), /100 %/)
  assert.not.match(await figures.innerText(), /was 0 %/)
})

test('on a phone, the status names the issue that needs attention', async t => {
  const phone = await browser.signIn(mailhorn, '/', { viewport: { width: 390, height: 844 } })
  t.after(phone.close)
  await phone.page.getByText('Evaluation mode: no public host name is configured.').first().waitFor()
  assert.is(await phone.page.getByText(/The queue is empty|waiting in the queue/).isVisible(), false)
})

test('a user of a suspended account is told so on every page, also without any mail', async t => {
  await page.route('**/account', async route => {
    const response = await route.fetch()
    await route.fulfill({
      response,
      json: { ...(await response.json()), suspended_at: new Date().toISOString() },
    })
  })
  t.after(() => page.unroute('**/account'))
  for (const place of ['/start', '/domains', '/keys']) {
    await goTo(place)
    await page.getByRole('alert').getByText('Your account is suspended.').waitFor()
  }
})

test('the queue at 1280 px shows domain, reason, pause and buttons in full', async t => {
  const wide = await browser.signIn(mailhorn, '/', { viewport: { width: 1_280, height: 800 } })
  t.after(wide.close)
  const at = new Date(Date.now() + 60_000).toISOString()
  const counts = { never_tried: 4, deferred: 12, under_way: 1, held: 0, ages: [] }
  const entry = {
    ...{
      object: 'queue_entry',
      domain: 'northwind-logistics.example',
      destination: 'mx.northwind-logistics.example',
    },
    ...{ ...counts, oldest_at: at, next_at: at, last_reply: null },
    explanation: {
      ...{ code: 'destination_paused', action: null, next_attempt_at: at },
      summary: 'mx.northwind-logistics.example is paused after repeated failures.',
    },
    paths: [
      {
        ...{ source_ips: [], window: 5, under_way: 0, claimed: 0, messages_per_second: null },
        ...{
          paused_until: at,
          pause_reason: 'The connection was refused.',
          probing: false,
          warmup_spent: false,
        },
      },
    ],
  }
  const json = { object: 'list', has_more: false, total: 1, as_of: at, totals: counts, data: [entry] }
  await wide.page.route(/\/queue\?/, route => route.fulfill({ json }))
  await wide.page.goto(`${mailhorn.baseUrl}/dashboard/queue`)
  await wide.page.getByRole('button', { name: /^Limit rate to/ }).waitFor()
  const cut =
    await wide.page.evaluate(`[...document.querySelectorAll('.list td .cell, .list td.is-wrapped .line')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ textContent }) => textContent)`)
  assert.equal(cut, [])
  const left = await wide.page.evaluate(`[...document.querySelectorAll('.list td.is-acts .cell')].map(cell =>
    Math.min(...[...cell.querySelectorAll('.row-acts button')].map(button => button.getBoundingClientRect().left)) >=
    cell.getBoundingClientRect().left)`)
  assert.equal(left, [true], 'no button is clipped')
})

test('the simulator has attempts without a transcript', async () => {
  const id = await send('bounced@simulator.test')
  await mailhorn.emailWhen(id, 'bounced')
  await goTo(`/emails/${id}`)
  await page.getByText('1 attempt', { exact: true }).waitFor()
  assert.is(await page.getByText('SMTP transcript').count(), 0)
})

test('an email to a suppressed address leads to the suppression', async () => {
  await api('/suppressions', { email: 'gone@there.example' })
  await api('/suppressions', { email: 'other@there.example' })
  const id = await send('gone@there.example')
  await goTo(`/emails/${id}`)
  await page.getByRole('link', { name: 'View suppression' }).click()
  await page.getByRole('button', { name: 'Remove gone@there.example' }).waitFor()
  assert.is(await page.locator('.list tbody tr').count(), 1)
})

test('a segment leads to its contacts', async () => {
  const { id } = await api('/audiences', { name: 'Readers' })
  for (const [email, plan] of [
    ['ann@there.example', 'pro'],
    ['ben@there.example', 'free'],
  ])
    await api(`/audiences/${id}/contacts`, { email, properties: { plan } })
  const filters = [{ field: 'properties.plan', op: 'eq', value: 'pro' }]
  await api(`/audiences/${id}/segments`, { name: 'Customers', filters })
  await goTo(`/audiences/${id}?view=segments`)
  await page.getByText('Customers').click()
  await page.getByRole('link', { name: 'ann@there.example' }).waitFor()
  assert.is(await page.getByText('ben@there.example').count(), 0)
  assert.is(await page.getByRole('tab', { name: 'Contacts' }).getAttribute('aria-selected'), 'true')
})

test('a broadcast from a domain that may not send: the review says so, and leads to the domains', async () => {
  const audience = await api('/audiences', { name: 'Everybody' })
  await api(`/audiences/${audience.id}/contacts`, { email: 'delivered@simulator.test' })
  const draft = { audience_id: audience.id, subject: 'News', text: 'Hello {{unsubscribe_url}}' }
  const { id } = await api('/broadcasts', { ...draft, from: 'ann@elsewhere.example' })
  await goTo(`/broadcasts/${id}`)
  await page.getByRole('button', { name: 'Review and send' }).click()
  const review = page.getByRole('dialog')
  const fault = review.getByText(
    'The elsewhere.example domain in From is not registered. Add and verify the domain',
  )
  await fault.waitFor()
  await review.getByText('1 person will get it').waitFor()
  await review.locator('iframe, pre').first().waitFor()
  const send = review.getByRole('button', { name: 'Send to 1 person' })
  assert.ok(await send.isDisabled())
  const topOf = async (part: Locator) => (await part.boundingBox())!.y
  assert.ok((await topOf(fault)) < (await topOf(review.getByRole('region', { name: 'Content' }))))
  assert.ok((await topOf(send)) < page.viewportSize()!.height, 'the button is in view without scrolling')
  await review.getByRole('link', { name: 'View domains' }).click()
  await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor()
})

test('the keyboard goes from the search to the list, and on to an email', async () => {
  await goTo('/emails')
  await page.getByRole('link', { name: 'To gone@there.example' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('ann@')
  await page.getByRole('link', { name: 'To gone@there.example' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'To ann@there.example' }).waitFor()
  await page.keyboard.press('Enter')
  assert.is(await page.evaluate('document.activeElement.innerText'), 'To ann@there.example')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'To ann@there.example' }).waitFor()
})

test('a record with a wrong value: its badge is as wide as its words, and what was seen is below', async () => {
  const { id } = await api('/domains', { name: 'news.example' })
  mailhorn.zone.add('send.news.example TXT "v=spf1 include:elsewhere.example -all"')
  await goTo(`/domains/${id}`)
  await page.getByRole('button', { name: 'Verify domain' }).click()
  const badge = page.getByText('Wrong value', { exact: true })
  await badge.waitFor()
  const record = page.locator('.record').filter({ has: badge })
  const [box, details] = await Promise.all([
    badge.boundingBox(),
    record.getByText('Results per DNS server').boundingBox(),
  ])
  const left = (await record.getByText('Current value').boundingBox())!.x
  assert.ok(box!.width < 120, `${box!.width} px`)
  assert.is(details!.x, left)
  await page.getByText('6 DNS records: 5 not found, 1 with a wrong value.').waitFor()
})

test('a domain that is verified shows the keys that sign from now on', async () => {
  const domain = await api('/domains', { name: 'keys.example' })
  await goTo(`/domains/${domain.id}`)
  await page.getByText('Standby key').first().waitFor()
  mailhorn.zone.add(zoneText(domain.records))
  await page.getByRole('button', { name: 'Verify domain' }).click()
  await page.getByText('keys.example is verified.').waitFor()
  await page.getByText('Active', { exact: true }).first().waitFor()
})

test('a broadcast begins with a template, whose words and sender it takes', async () => {
  const { id } = await api('/audiences', { name: 'Of the template' })
  await api(`/audiences/${id}/contacts`, { email: 'delivered@simulator.test', first_name: 'Ann' })
  const words = { subject: 'News for {{first_name}}', html: '<p>The lamp of {{first_name}}</p>' }
  await api('/templates', { ...words, name: 'Monthly', from: 'Shop <shop@here.example>' })
  await goTo('/broadcasts?add=1')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('To', { exact: true }).selectOption(id)
  await dialog.getByLabel('Template').selectOption({ label: 'Monthly' })
  await page.locator('dialog [placeholder="News for {{first_name}}"]').waitFor()
  await dialog.getByRole('button', { name: 'Create broadcast' }).click()
  await page.waitForURL('**/broadcasts/brd_*')
  await page.getByLabel('From').waitFor()
  assert.is(await page.getByLabel('From').inputValue(), 'Shop <shop@here.example>')
  assert.is(await page.getByLabel('Subject').inputValue(), words.subject)
  assert.is(await page.getByLabel('HTML').first().inputValue(), words.html)
  await page.frameLocator('iframe').getByText('The lamp of Ann').waitFor()
})

test('nothing went wrong in all of this', () => {
  assert.equal(faults, [])
})

function send(to: string): Promise<string> {
  return mailhorn.send({ from: 'shop@here.example', to, subject: `To ${to}`, text: 'hello' })
}

async function api(path: string, body: object) {
  const reply = await mailhorn.call('POST', path, { session: await mailhorn.signIn(), body })
  assert.ok(reply.status < 300, JSON.stringify(reply.body))
  return reply.body
}

async function goTo(path: string) {
  await page.goto(`${mailhorn.baseUrl}/dashboard${path}`)
  await page.locator('main h1').waitFor()
}

test.run()
