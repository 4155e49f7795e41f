import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { startBrowser, type TestBrowser, type WatchedPage } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'

const test = suite('broadcasts: reviewed, sent, and taken back')
let mailhorn: Mailhorn
let browser: TestBrowser
let opened: WatchedPage
let page: Page
let audience: string

test.before(async () => {
  buildDashboard()
  mailhorn = await startMailhorn()
  await mailhorn.verifiedDomain('here.example')
  audience = (await call('POST', '/audiences', { name: 'Readers' })).id
  for (const body of [
    { email: 'delivered+ann@simulator.test', first_name: 'Ann', properties: { city: 'Graz' } },
    { email: 'delivered+ben@simulator.test', first_name: 'Ben', properties: { city: 'Graz' } },
    { email: 'delivered+cleo@simulator.test', first_name: 'Cleo' },
    { email: 'gone@there.example', unsubscribed: true, properties: { city: 'Graz' } },
  ])
    await call('POST', `/audiences/${audience}/contacts`, body)
  browser = await startBrowser()
  opened = await browser.signIn(mailhorn)
  page = opened.page
})
test.after(async () => {
  await browser.close()
  await mailhorn.close()
})

const call = async (method: string, path: string, body?: object) => {
  const session = await mailhorn.signIn()
  const answer = await mailhorn.call(method, path, { session, ...(body && { body }) })
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
const draftOf = (subject: string, over: object = {}) =>
  call('POST', '/broadcasts', {
    ...{ audience_id: audience, from: 'news@here.example', subject },
    html: '<p>Hello {{first_name|you}} <a href="https://shop.example/">Shop</a> {{unsubscribe_url}}</p>',
    ...over,
  })
const statusOf = async (id: string) => (await call('GET', `/broadcasts/${id}`)).status
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const dialog = () => page.getByRole('dialog').last()
const goTo = (path: string) => page.goto(`${mailhorn.baseUrl}/dashboard${path}`)

test('the review says who gets it and who is skipped, and shows the email to whom one searches for', async () => {
  const filters = [{ field: 'properties.city', op: 'eq', value: 'Graz' }]
  const { id: segment_id } = await call('POST', `/audiences/${audience}/segments`, {
    name: 'In Graz',
    filters,
  })
  const { id: topic_id } = await call('POST', '/topics', { name: 'Offers' })
  const { id } = await draftOf('To Graz', { segment_id, topic_id, preview_text: 'What is new' })
  await goTo(`/broadcasts/${id}`)
  await button('Review and send …').click()
  await dialog().getByText('2 people will get it; skipped: 1 unsubscribed.').waitFor()
  await dialog().getByText('Readers › In Graz · Topic: Offers').waitFor()
  await dialog().getByText('What is new', { exact: true }).waitFor()
  await dialog().getByText('1 link checked by form, no problems found').waitFor()
  const letter = dialog().frameLocator('iframe.letter')
  await dialog().getByLabel('Search contacts').fill('ben@')
  await letter.getByText('Hello Ben').waitFor()
  assert.is(await dialog().getByRole('button', { name: 'Send to 2 people' }).isEnabled(), true)
  await dialog().getByRole('button', { name: 'At a time' }).click()
  assert.is(await dialog().getByRole('button', { name: 'Schedule for 2 people' }).isEnabled(), false)
  await dialog()
    .getByLabel(/^Send at/)
    .fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 16))
  await dialog().getByRole('button', { name: 'Schedule for 2 people' }).click()
  await page.getByText('The broadcast is scheduled.').waitFor()
  assert.is(await statusOf(id), 'scheduled')
  const zone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
  await page.getByText(`(${zone}).`).waitFor()
  await button('Reschedule …').click()
  await dialog().getByLabel(`Send at (${zone})`).waitFor()
  await page.keyboard.press('Escape')
})

test('a draft is shown as a contact whom one searches for would read it', async () => {
  const { id } = await draftOf('Preview')
  await goTo(`/broadcasts/${id}`)
  const letter = page.frameLocator('iframe.letter').first()
  await page.getByLabel('Search contacts').fill('cleo@')
  await letter.getByText('Hello Cleo').waitFor()
  await page.getByLabel('Search contacts').fill('nobody@')
  await page.getByLabel('Preview as').getByText('No contact found').waitFor({ state: 'attached' })
})

test('above 10,000 recipients nothing is sent before their number is typed', async t => {
  const preview = { total: 12_400, recipients: 12_345, skipped: { unsubscribed: 55 }, complete: true }
  await page.route(/recipients\/preview$/, route => route.fulfill({ json: preview }))
  t.after(() => page.unroute(/recipients\/preview$/))
  const { id } = await draftOf('To many')
  await goTo(`/broadcasts/${id}`)
  await button('Review and send …').click()
  const send = dialog().getByRole('button', { name: 'Send to 12,345 people' })
  const typed = dialog().getByLabel('Type 12,345 to confirm')
  assert.is(await send.isDisabled(), true)
  await typed.fill('12,354')
  await dialog().getByText('This is not 12,345.').waitFor()
  assert.is(await send.isDisabled(), true)
  await page.keyboard.press('Enter')
  assert.is(await statusOf(id), 'draft')
  await typed.fill('12345')
  await send.click({ trial: true })
  await page.keyboard.press('Escape')
})

test('what was sent can be taken back for half a minute, also after the page was left', async () => {
  const { id } = await draftOf('Second thoughts')
  const send = async () => {
    await button('Review and send …').click()
    await dialog().getByRole('button', { name: 'Send to 3 people' }).click()
    await page.getByText(/^Sending in \d+ seconds?\.$/).waitFor()
  }
  await goTo(`/broadcasts/${id}`)
  await send()
  assert.is(await statusOf(id), 'scheduled')
  assert.is(await button('Send now …').count(), 0)
  await goTo('/')
  await goTo(`/broadcasts/${id}`)
  await button('Undo').click()
  await page.getByText('The broadcast is a draft again and will not be sent.').waitFor()
  mailhorn.clock.advance(60_000)
  await button('Review and send …').waitFor()
  assert.is(await statusOf(id), 'draft')

  await send()
  mailhorn.clock.advance(30_000)
  await page.getByText('Sent', { exact: true }).waitFor()
  assert.is(await button('Undo').count(), 0)
  assert.is((await call('GET', `/broadcasts/${id}`)).progress.handed_over, 3)
})

test('an email without an unsubscribe link is not sent without a reason, which is shown afterwards', async () => {
  const { id } = await draftOf('No way out', { html: '<p>Your terms have changed.</p>' })
  await goTo(`/broadcasts/${id}`)
  await button('Review and send …').click()
  const send = dialog().getByRole('button', { name: 'Send to 3 people' })
  await dialog().getByText('There is no unsubscribe link.').waitFor()
  await send.waitFor()
  assert.is(await send.isDisabled(), true)
  await dialog()
    .getByRole('radio', { name: /^Required notice/ })
    .check()
  await send.click()
  await button('Undo').waitFor()
  assert.is((await call('GET', `/broadcasts/${id}`)).no_unsubscribe_reason, 'required_notice')
  mailhorn.clock.advance(30_000)
  await page.getByText('Sent', { exact: true }).waitFor()
  await page.getByText('Without unsubscribe link').waitFor()
  await page.getByText('Required notice', { exact: true }).waitFor()
})

test('results: links agree with clicks, and a rate beyond its limit has its colour', async () => {
  const { id: audience_id } = await call('POST', '/audiences', { name: 'Simulated' })
  for (const name of ['clicked+a', 'clicked+b', 'complained', 'delivered'])
    await call('POST', `/audiences/${audience_id}/contacts`, { email: `${name}@simulator.test` })
  const { id: topic_id } = await call('POST', '/topics', { name: 'Results', description: 'of a broadcast' })
  const { id } = await draftOf('Results for {{first_name|you}}', { audience_id, topic_id, send: true })
  await goTo(`/broadcasts/${id}`)
  await page.getByRole('heading', { name: 'Results for you' }).waitFor()
  const details = page.locator('dl').filter({ hasText: 'Started' })
  await details.getByText('Simulated', { exact: true }).waitFor()
  assert.match((await details.innerText()).replaceAll(/\s+/g, ' '), 'To Simulated Topic Results Subject')
  await page.getByText('Sent', { exact: true }).waitFor()
  const figure = (name: string) => page.locator('.figure').filter({ hasText: name })
  await figure('Clicked').getByText('2 recipients').waitFor()
  await figure('Complaints').locator('.is-bad').getByText('keep below 0.1 %').waitFor()
  await page.reload()
  const row = page.getByRole('row').filter({ hasText: 'https://simulator.test/' })
  await row.waitFor()
  assert.equal((await row.getByRole('cell').allInnerTexts()).slice(2), ['2', '2', '0'])
  assert.is(await page.getByText('Activity by hour').count(), 0)
  for (const [name, recipients] of [
    ['Delivered', ['clicked+a', 'clicked+b', 'complained', 'delivered']],
    ['Clicked', ['clicked+a', 'clicked+b']],
    ['Complaints', ['complained']],
    ['Bounced', []],
  ] as const) {
    await goTo(`/broadcasts/${id}`)
    await figure(name).getByRole('link').click()
    await page.getByRole('heading', { name: 'Recipients' }).waitFor()
    const listed = page.locator('table.list tbody td:first-child')
    if (recipients.length === 0) await page.getByText('No results match your filters.').waitFor()
    else await listed.nth(recipients.length - 1).waitFor()
    assert.equal(
      (await listed.allInnerTexts()).map(text => text.trim()).toSorted(),
      recipients.map(local => `${local}@simulator.test`),
      name,
    )
    const saved = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export CSV' }).click()
    const lines = readFileSync(await (await saved).path(), 'utf8')
      .trimEnd()
      .split('\r\n')
    assert.is(lines.length - 1, recipients.length, `${name} as CSV`)
  }
})

test('a new broadcast goes to the audience that was used last', async () => {
  await draftOf('Used last')
  await goTo('/broadcasts?add=1')
  const to = dialog().getByLabel('To', { exact: true })
  await dialog().locator('button[type=submit]:enabled').waitFor()
  assert.is(await to.inputValue(), audience)
  await page.keyboard.press('Escape')
})

test('nothing went wrong in all of this', () => {
  assert.equal(opened.faults, [])
})

test.run()
