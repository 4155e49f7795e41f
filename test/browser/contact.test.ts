import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { axeFindings, sideways, startBrowser, type TestBrowser, type WatchedPage } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'

const test = suite('the page of a contact')
const ADDRESS = 'opened+ann@simulator.test'
let mailhorn: Mailhorn
let browser: TestBrowser
let opened: WatchedPage
let page: Page
let session: string
let path: string
let firstEmail: string
test.before(async () => {
  buildDashboard()
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
  await mailhorn.verifiedDomain('shop.example')
  const audience = await make('/audiences', { name: 'Readers' })
  await make('/topics', { name: 'Offers', default_subscription: 'opt_in' })
  const { id } = await make(`/audiences/${audience.id}/contacts`, {
    ...{ email: ADDRESS, first_name: 'Ann', last_name: 'Berg' },
    properties: { city: 'Vienna', seats: 3, trial: false },
  })
  path = `/audiences/${audience.id}/contacts/${id}`
  for (const [name, value] of [
    ['In Vienna', 'Vienna'],
    ['In Graz', 'Graz'],
  ])
    await make(`/audiences/${audience.id}/segments`, {
      ...{ name, filters: [{ field: 'properties.city', op: 'eq', value }] },
    })
  for (let n = 1; n <= 11; n++) {
    const email = await mailhorn.send({
      ...{ from: 'orders@shop.example', to: ADDRESS, subject: `Order ${n}`, text: 'Hello' },
    })
    firstEmail ??= email
  }
  await mailhorn.emailWhen(firstEmail, 'delivered')
  browser = await startBrowser()
  opened = await browser.signIn(mailhorn, path)
  page = opened.page
})
test.after(async () => {
  await browser.close()
  await mailhorn.close()
})

async function make(place: string, body: object) {
  const answer = await mailhorn.call('POST', place, { session, body })
  assert.ok(answer.status < 300, JSON.stringify(answer.body))
  return answer.body
}
const contact = async () => (await mailhorn.call('GET', path, { session })).body
const card = (name: string) => page.getByRole('region', { name })
const button = (name: string) => page.getByRole('button', { name, exact: true })

test('the segments that it matches are named, and lead to their contacts', async () => {
  const details = card('Details')
  await details.getByRole('link', { name: 'In Vienna', exact: true }).click()
  await page.waitForURL(/[?&]segment=seg_/)
  await page.getByRole('link', { name: ADDRESS }).first().waitFor()
  await page.goBack()
})

test('contacts are filtered by conditions and by day, which a link keeps', async () => {
  await page.goto(`${mailhorn.baseUrl}/dashboard${path.replace(/\/contacts\/.*$/, '')}`)
  const row = page.getByRole('row').filter({ hasText: ADDRESS })
  const filter = async (city: string) => {
    await button('Conditions …').click()
    await page.getByLabel('Field of condition 1').selectOption({ label: 'city' })
    await page.getByLabel('Value of condition 1').fill(city)
    await button('Show contacts').click()
  }
  await row.waitFor()
  await filter('graz')
  await page.getByRole('heading', { name: 'No results' }).waitFor()
  await filter('vienna')
  await row.waitFor()
  await page.reload()
  await page.getByText('Conditions: city is “vienna”').waitFor()
  await row.waitFor()
  await button('Remove filter Conditions: city is “vienna”').click()
  await button('Conditions …').click()
  await page.getByLabel('Field of condition 1').selectOption({ label: 'city' })
  await page.getByLabel('Operator of condition 1').selectOption({ label: 'is one of' })
  await page.getByLabel('Value of condition 1, separated by commas').fill('Wien, Vienna')
  await button('Show contacts').click()
  await page.getByText('Conditions: city is one of “Wien”, “Vienna”').waitFor()
  await row.waitFor()
  await button('Remove filter Conditions: city is one of “Wien”, “Vienna”').click()
  await button('Any date').click()
  await button('Last 7 days').click()
  await page.getByText(/^Added: /).waitFor()
  await page.goto(`${mailhorn.baseUrl}/dashboard${path}`)
})

test('contacts are filtered by activity, and a contradiction is named while it is made', async () => {
  // given: the contact was sent an email
  await page.goto(`${mailhorn.baseUrl}/dashboard${path.replace(/\/contacts\/.*$/, '')}`)
  const row = page.getByRole('row').filter({ hasText: ADDRESS })
  await row.waitFor()

  // when
  await button('Conditions …').click()
  await page.getByLabel('Field of condition 1').selectOption({ label: 'Was sent an email' })
  await page.getByText(/^\d+ contacts? match(es)?\.$/).waitFor()
  await button('Add condition').click()
  await page.getByLabel('Field of condition 2').selectOption({ label: 'Was sent an email' })
  await page.getByLabel('Operator of condition 2').selectOption({ label: 'not within the last' })

  // then
  await page.getByText('Condition 2 contradicts condition 1: no contact can match both.').waitFor()
  await button('Remove condition 2').click()
  await page.getByLabel('Value of condition 1, in days').fill('7')
  await button('Show contacts').click()
  await page.getByText('Conditions: Was sent an email within the last 7 days').waitFor()
  await row.waitFor()
  await page.goto(`${mailhorn.baseUrl}/dashboard${path}`)
})

test('its emails and their events stand in one timeline, by page, and lead to the emails', async () => {
  await page.getByRole('heading', { name: ADDRESS }).waitFor()
  const activity = card('Activity')
  await activity.getByText('1 to 10 of 11').waitFor()
  await activity.getByRole('link', { name: 'Order 11', exact: true }).first().waitFor()
  await activity.getByRole('button', { name: 'Next' }).click()
  await activity.getByText('11 to 11 of 11').waitFor()
  for (const event of ['Sent', 'Delivered', 'Opened'])
    await activity.getByText(event, { exact: true }).waitFor()
  await activity.getByRole('link', { name: 'Order 1', exact: true }).first().click()
  await page.waitForURL(new RegExp(`/emails/${firstEmail}$`))
  await page.locator('.facts').getByRole('link', { name: 'contact' }).click()
  await page.waitForURL(new RegExp(`${path}$`))
})

test('a property is changed in place and keeps its type, and one is added and removed', async () => {
  const properties = card('Properties')
  await properties.getByLabel('city', { exact: true }).fill('Graz')
  await properties.getByLabel('city', { exact: true }).press('Enter')
  await page.getByText('city was saved.').waitFor()
  await properties.getByLabel('seats', { exact: true }).fill('many')
  await properties.getByText('Enter a number.').waitFor()
  await properties.getByLabel('seats', { exact: true }).fill('4')
  await properties.getByLabel('seats', { exact: true }).blur()
  await page.getByText('seats was saved.').waitFor()
  await properties.getByLabel('trial', { exact: true }).selectOption('Yes')
  await page.getByText('trial was saved.').waitFor()
  await button('Add property').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('email')
  await dialog.getByLabel('Value').fill('x')
  await dialog.getByRole('button', { name: 'Add property' }).click()
  await dialog.getByText('must not be the name of a built-in field').waitFor()
  await dialog.getByLabel('Name').fill('plan')
  await dialog.getByRole('button', { name: 'Add property' }).click()
  await page.getByText('plan was saved.').waitFor()
  await button('Remove city').click()
  await page.getByText('city was removed.').waitFor()
  assert.equal((await contact()).properties, { seats: 4, trial: true, plan: 'x' })
})

test('topics and the subscription are changed, and the suppression is shown with its reason', async () => {
  await card('Topics').getByLabel('Offers').uncheck()
  await page.getByText('Some topics').waitFor()
  await button('Unsubscribe').click()
  await button('Subscribe').waitFor()
  const { unsubscribed, unsubscribed_topics: topics } = await contact()
  assert.equal([unsubscribed, topics.length], [true, 1])
  await make('/suppressions', { email: ADDRESS, reason: 'complaint' })
  await page.reload()
  await card('Details').getByRole('link', { name: 'Complaint' }).click()
  await page.getByRole('heading', { name: 'Suppressions' }).waitFor()
  await page.getByRole('row').filter({ hasText: ADDRESS }).waitFor()
})

test('who unsubscribed herself is subscribed again only after a question, and no opt-out stays', async t => {
  // given
  t.after(() => page.goto(`${mailhorn.baseUrl}/dashboard${path}`))
  const { id } = await make(`${path.replace(/\/contacts\/.*$/, '')}/contacts`, {
    email: 'left@there.example',
  })
  // applies to the address as her own link does
  const body = { unsubscribed: true }
  assert.is((await mailhorn.call('PATCH', `/contacts/${id}`, { session, body })).status, 200)
  await page.goto(`${mailhorn.baseUrl}/dashboard${path.replace(/[^/]+$/, id)}`)
  await card('Details').getByText('Opted out').waitFor()

  // when
  await button('Subscribe').click()
  const dialog = page.getByRole('dialog')
  await dialog
    .getByText(/^left@there\.example unsubscribed on .+\. Subscribe only with their consent\.$/)
    .waitFor()
  await dialog.getByRole('button', { name: 'Subscribe' }).click()

  // then
  await button('Unsubscribe').waitFor()
  await card('Details').getByText('Opted out').waitFor({ state: 'detached' })
})

test('it has no accessibility finding and no sideways scrolling in a window and on a phone', async () => {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 860 })
    await page.goto(`${mailhorn.baseUrl}/dashboard${path}`)
    await card('Activity').getByText('1 to 10 of 11').waitFor()
    assert.equal(await axeFindings(page), [], `${width} px`)
    assert.is(await sideways(page), 0, `${width} px`)
  }
  assert.equal(opened.faults, [])
})

test.run()
