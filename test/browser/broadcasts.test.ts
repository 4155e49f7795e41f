import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { parseWireId } from '../../src/lib/ids.ts'
import { startBrowser, type TestBrowser, type WatchedPage } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

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
  await dialog().getByText('Opens and clicks are not counted for here.example.').waitFor()
  await dialog().getByRole('link', { name: 'here.example' }).waitFor()
  await dialog().getByText('1 link. It was not opened: open it once yourself.').waitFor()
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

test('what is unscheduled to be edited is reviewed with its former time', async () => {
  // given
  const { id } = await draftOf('Later, please')
  const scheduled_at = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 86_400_000).toISOString()
  await call('POST', `/broadcasts/${id}/send`, { scheduled_at })
  await goTo(`/broadcasts/${id}`)

  // when
  await button('Unschedule to edit').click()
  await button('Review and send …').waitFor()
  await page.reload()
  await button('Review and send …').click()

  // then
  await dialog().getByRole('button', { name: 'Schedule for 3 people' }).click()
  await page.getByText('The broadcast is scheduled.').waitFor()
  const stored = await call('GET', `/broadcasts/${id}`)
  assert.equal([stored.status, Date.parse(stored.scheduled_at)], ['scheduled', Date.parse(scheduled_at)])
})

test('a draft says who will get it, by the count of the server, when its audience is changed', async () => {
  const { id } = await draftOf('To some')
  await goTo(`/broadcasts/${id}`)
  await page
    .getByLabel('To', { exact: true })
    .getByText('Readers (3 subscribed of 4)')
    .waitFor({ state: 'attached' })
  await page.getByText('3 people will get it; skipped: 1 unsubscribed.').waitFor()
  await page.getByLabel('Segment').selectOption({ label: 'In Graz' })
  await page.getByText('2 people will get it; skipped: 1 unsubscribed.').waitFor()
  await goTo('/audiences')
  await page
    .getByRole('row', { name: /Readers/ })
    .getByText('3 subscribed of 4')
    .waitFor()
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

test('a draft is tried as another contact, looked at on a phone and in the dark, and duplicated', async () => {
  // given
  const { id } = await draftOf('Try me', { reply_to: 'desk@shop.example' })
  await goTo(`/broadcasts/${id}`)
  const letter = page.locator('iframe.letter').first()
  await letter.waitFor()

  // when, then: the width of a phone, and inverted colours, since the email has no dark styles
  await page.getByRole('tab', { name: 'Phone' }).click()
  await page.locator('iframe.letter-phone').waitFor()
  assert.ok((await letter.boundingBox())!.width <= 375)
  await page.getByRole('tab', { name: 'Dark' }).click()
  await page.getByText('The email has no dark styles.').waitFor()

  // the test email shows the chosen contact
  await button('Send test email').click()
  await dialog().getByLabel('To').fill('delivered+one@simulator.test, delivered+two@simulator.test')
  await button('Of a chosen contact').click()
  await dialog().getByLabel('Preview as').selectOption('delivered+cleo@simulator.test')
  await dialog().getByRole('button', { name: 'Send test email' }).click()
  await page.getByText('2 test emails were sent.').waitFor()
  const { data } = await call('GET', '/emails?to=delivered%2Btwo@simulator.test')
  assert.match((await call('GET', `/emails/${data[0].id}`)).html, /Hello Cleo/)

  // what is typed is duplicated, too
  await page.getByLabel('Reply-To').fill('help@shop.example, "Desk, Ann" <ann@shop.example>')
  await button('Duplicate').click()
  await page.getByText('Broadcast duplicated. This is the copy.').waitFor()
  await page.waitForURL(url => !url.pathname.endsWith(id))
  const copy = await call('GET', `/broadcasts/${page.url().split('/').at(-1)}`)
  assert.equal([copy.status, copy.reply_to], ['draft', (await call('GET', `/broadcasts/${id}`)).reply_to])
  assert.is(copy.reply_to.length, 2)
  assert.is(copy.name, 'Try me (copy)')

  // a name that nobody has chosen follows the subject
  await page.getByLabel('Subject').fill('Try me again')
  await until(async () => (await call('GET', `/broadcasts/${copy.id}`)).name === 'Try me again')
})

test('what is written in a broadcast becomes a template', async () => {
  const { id } = await draftOf('Spring', { name: 'Spring issue' })
  await goTo(`/broadcasts/${id}`)
  await page.getByLabel('Text', { exact: true }).fill('Hello {{first_name|you}}')
  await button('Save as template').click()
  await page.getByText('Template created. This is the template.').waitFor()
  await page.waitForURL(/\/templates\/tpl_/)
  const template = await call('GET', `/templates/${page.url().split('/').at(-1)}`)
  const { html } = await call('GET', `/broadcasts/${id}`)
  assert.equal(
    [template.name, template.subject, template.html, template.text],
    ['Spring issue', 'Spring', html, 'Hello {{first_name|you}}'],
  )
})

test('a broadcast is spread over hours, and its speed is changed while it is sent', async () => {
  const { id } = await draftOf('Slowly')
  await goTo(`/broadcasts/${id}`)
  await button('Review and send …').click()
  await button('Emails per hour').click()
  await dialog().getByLabel('Emails per hour').fill('3,000')
  await dialog().getByText('At most 3,000 emails an hour').waitFor()
  await button('Spread over hours').click()
  assert.is(await dialog().getByRole('button', { name: 'Send to 3 people' }).isDisabled(), true)
  await dialog().getByLabel('Hours').fill('3')
  await dialog().getByText('At most 1 email an hour, which takes about 3 hours').waitFor()
  await dialog().getByRole('button', { name: 'Send to 3 people' }).click()
  await button('Undo').waitFor()
  mailhorn.clock.advance(30_000)
  await page.getByText('1 of 3 emails sent. At most 1 an hour, about 2 hours left').waitFor()
  await button('Change speed …').click()
  await button('As fast as possible').click()
  await button('Save speed').click()
  await page.getByText('The speed was changed.').waitFor()
  await page.locator('.page-head').getByText('Sent', { exact: true }).waitFor()
  assert.is((await call('GET', `/broadcasts/${id}`)).emails_per_hour, null)
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
  assert.equal(await page.locator('.toast').allInnerTexts(), ['You can undo this for 30 seconds.'])
  mailhorn.clock.advance(30_000)
  await page.locator('.page-head').getByText('Sent', { exact: true }).waitFor()
  assert.is(await button('Undo').count(), 0)
  assert.is((await call('GET', `/broadcasts/${id}`)).progress.handed_over, 3)

  // the domain has tracking off
  await page.locator('.figure').filter({ hasText: 'Opened' }).getByText('not counted').waitFor()
  const providers = page.getByRole('region', { name: 'Mailbox providers' })
  await providers.getByRole('row').last().getByText('not counted').first().waitFor()
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
  await page.locator('.page-head').getByText('Sent', { exact: true }).waitFor()
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
  await page.locator('.page-head').getByText('Sent', { exact: true }).waitFor()
  const figure = (name: string) => page.locator('.figure').filter({ hasText: name })
  await figure('Clicked').getByText('2 recipients').waitFor()
  await figure('Complaints').locator('.is-bad').getByText('keep below 0.1 %').waitFor()
  await page.reload()
  const row = page.getByRole('row').filter({ hasText: 'https://simulator.test/' })
  await row.waitFor()
  assert.equal((await row.getByRole('cell').allInnerTexts()).slice(2), ['2', '2', '0'])
  assert.is(await page.getByText('Activity by hour').count(), 0)
})

/** A number on the results page of a broadcast, with the place that it leads to. */
interface Shown {
  name: string
  number: number
  place: string
}

/** Reads all numbers of the results page that are about recipients. */
async function numbersShown(): Promise<Shown[]> {
  const read = (items: string, nameOf: string, numberOf: string) =>
    page.locator(items).evaluateAll(
      (elements, [name, number]) =>
        elements.map(element => ({
          name: element.querySelector(name!)!.textContent!,
          number: Number(
            /^[\d,]+/.exec(element.querySelector(number!)!.textContent!)![0].replaceAll(',', ''),
          ),
          place: element.querySelector('a')!.getAttribute('href')!,
        })),
      [nameOf, numberOf],
    )
  const unsent = page.getByRole('heading', { name: 'Not sent' })
  await unsent.waitFor()
  await page.getByRole('row').filter({ hasText: 'https://simulator.test/' }).waitFor()
  return [
    ...(await read('.figure', 'dt', '.under')),
    ...(await read('.card:has(h2:text-is("Not sent")) li', 'a', '.number')),
    ...(await read('section[aria-label="Links"] tbody tr', 'td:first-child', 'a')),
  ]
}

/** Opens a number, and returns the addresses of its list and of the file, in their order. */
async function listBehind({ name, number, place }: Shown) {
  await page.locator(`a[href="${place}"]`).first().click()
  await page.getByRole('heading', { name: 'Recipients' }).waitFor()
  await page.locator('.page-title .number').getByText(String(number), { exact: true }).waitFor()
  const listed = page.locator('table.list tbody td:first-child')
  if (number > 0) await listed.nth(number - 1).waitFor()
  const addresses = (await listed.allInnerTexts()).map(text => text.trim())
  const saved = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export CSV' }).click()
  const [, ...lines] = readFileSync(await (await saved).path(), 'utf8')
    .trimEnd()
    .split('\r\n')
  assert.is(lines.length, number, `${name} as CSV`)
  assert.equal(
    lines.map(line => line.split(',')[0] || 'Deleted contact'),
    addresses,
    `${name} as CSV`,
  )
  return addresses.toSorted()
}

test('results: every number opens a list, and a file, of that length', async t => {
  // given: a broadcast with recipients of every kind, of whom two have unsubscribed by it
  const { id: audience_id } = await call('POST', '/audiences', { name: 'Everybody' })
  const { id: topic_id } = await call('POST', '/topics', { name: 'Lists' })
  const at = (name: string) => `${name}@simulator.test`
  const names = ['clicked+c', 'clicked+d', 'complained+c', 'delivered+c', 'delivered+d', 'bounced+c']
  const skippedNames = ['delivered+left', 'delivered+out', 'delivered+bad', 'delivered+gone']
  for (const name of [...names, ...skippedNames]) {
    const contact = { email: at(name), unsubscribed: name === 'delivered+left' }
    await call('POST', `/audiences/${audience_id}/contacts`, contact)
  }
  const subscriptions = { topics: [{ id: topic_id, subscription: 'opt_out' }] }
  await call('PATCH', `/contacts/${at('delivered+out')}/topics`, subscriptions)
  await call('POST', '/suppressions', { email: at('delivered+bad') })
  const { id } = await draftOf('Everybody', { audience_id, topic_id, send: true })
  await until(async () => {
    const { counts, unique_clicks, status } = await call('GET', `/broadcasts/${id}`)
    const ended = counts.delivered + counts.bounced + counts.complained
    return status === 'sent' && ended === 7 && counts.complained === 1 && unique_clicks === 2
  })
  const { data: emails } = await call('GET', `/emails?broadcast_id=${id}`)
  for (const { id: email, to } of emails as { id: string; to: string[] }[]) {
    if (!to[0]!.startsWith('delivered+c') && !to[0]!.startsWith('clicked+d')) continue
    const oneClick = /^List-Unsubscribe: <([^>]*)>/im.exec(
      (await call('GET', `/emails/${email}/raw`)).replaceAll('\r\n ', ' '),
    )![1]!
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    assert.is((await fetch(oneClick, { ...form, body: 'List-Unsubscribe=One-Click' })).status, 200)
  }

  // when: the page is opened
  await goTo(`/broadcasts/${id}`)
  await page.locator('.figure').filter({ hasText: 'Unsubscribed' }).getByText('2 recipients').waitFor()
  const shown = await numbersShown()

  // then: the numbers are those of the API, and each has its list
  const sent = [...names, 'delivered+gone'].map(at).toSorted()
  const lists: [string, string[]][] = [
    ['Sent', sent],
    ['Delivered', sent.filter(address => !address.startsWith('bounced'))],
    ['Bounced', [at('bounced+c')]],
    ['Opened', [at('clicked+c'), at('clicked+d')]],
    ['Clicked', [at('clicked+c'), at('clicked+d')]],
    ['Unsubscribed', [at('clicked+d'), at('delivered+c')]],
    ['Complaints', [at('complained+c')]],
    ['1 unsubscribed', [at('delivered+left')]],
    ['1 opted out of the topic', [at('delivered+out')]],
    ['1 suppressed', [at('delivered+bad')]],
    ['0 over the plan’s quota', []],
    ['0 deleted', []],
    ['0 suppressed or unsubscribed while the email waited', []],
    ['https://simulator.test/', [at('clicked+c'), at('clicked+d')]],
  ]
  assert.equal(
    shown.map(({ name, number }) => [name, number]),
    lists.map(([name, addresses]) => [name, addresses.length]),
  )
  for (const [i, number] of shown.entries()) {
    await goTo(`/broadcasts/${id}`)
    assert.equal(await listBehind(number), lists[i]![1], number.name)
  }
  t.after(() => goTo('/'))
})

test('results: of a broadcast before the upgrade, only the number of skipped recipients is known', async () => {
  // given: a skipped and an unsubscribed recipient without a row, and another one with a row
  const { id } = await draftOf('Of old', { send: true })
  await until(async () => (await statusOf(id)) === 'sent')
  assert.is((await call('GET', `/broadcasts/${id}/recipients?type=skipped`)).total, 1)
  mailhorn.change('delete from broadcast_outcomes where broadcast_id = ?', parseWireId('brd', id)!)

  // when, then: the number stays, and its page says why the list is empty
  await goTo(`/broadcasts/${id}`)
  await page.getByRole('link', { name: '1 unsubscribed' }).click()
  await page.getByRole('heading', { name: 'Only the number is known' }).waitFor()
  await page.getByText('Not listed: 1 recipient skipped before Mailhorn stored who is skipped').waitFor()
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
