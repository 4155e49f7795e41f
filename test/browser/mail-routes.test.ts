import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { sendMail } from '../kit/smtp-client.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { type Scene, startScene } from './scene.ts'

const test = suite('routes of received mail in the dashboard')
let scene: Scene
let browser: TestBrowser
let page: Page
test.before(async () => {
  buildDashboard()
  scene = await startScene()
  browser = await startBrowser()
  page = (await browser.signIn(scene.mailhorn)).page
})
test.after(async () => {
  await browser.close()
  await scene.close()
})

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const dialog = () => page.getByRole('dialog')
const goTo = (path: string) => page.goto(`${scene.mailhorn.baseUrl}/dashboard${path}`)
const rowOf = (text: string) => page.getByRole('row').filter({ hasText: text })
const order = async () =>
  (await page.locator('tbody td:first-child').allInnerTexts()).map(text => text.trim())

test('a route is created from the inbox, moved above another, and found by an address', async () => {
  // given: the tabs of the inbox
  await goTo('/inbox')
  await page.getByRole('navigation', { name: 'Inbox' }).getByRole('link', { name: 'Routes' }).click()

  // when: a route is refused for its domain, and then created
  await button('Create route').click()
  await dialog().getByLabel('Recipient').fill('support+*@elsewhere.example')
  await dialog().getByLabel('Forward to').fill('team@there.example')
  await dialog().getByRole('button', { name: 'Create route' }).click()
  await dialog().getByText('is not a domain of this account').waitFor()
  await dialog().getByLabel('Recipient').fill('support+*@shop.example')
  await dialog().getByRole('button', { name: 'Create route' }).click()
  await rowOf('support+*@shop.example').getByText('Forward to team@there.example').waitFor()
  assert.equal(await order(), ['noreply@shop.example', 'support+*@shop.example'])

  // then: it moves, and decides about addresses of the pattern
  await button('Move support+*@shop.example up').click()
  await until(async () => (await order())[0] === 'support+*@shop.example')
  const card = page.getByRole('region', { name: 'Test an address' })
  await card.getByLabel('Address of the recipient').fill('support+42@shop.example')
  await card.getByRole('button', { name: 'Test' }).click()
  await card.getByRole('link', { name: 'support+*@shop.example' }).waitFor()
  await card.getByLabel('Address of the recipient').fill('sales@shop.example')
  await card.getByRole('button', { name: 'Test' }).click()
  await card.getByText('No route matches').waitFor()
})

test('the log of a route leads to the email that was forwarded, and tells of dropped mail', async () => {
  await sendMail(scene.mailhorn.app.inboundAddress!, {
    ...{ from: 'ann@there.example', to: 'support+42@shop.example' },
    data: 'From: Ann <ann@there.example>\nTo: support+42@shop.example\nSubject: A broken lamp\n\nIt is dark.\n',
  })
  await until(() => scene.mx.messages.some(({ rcptTo }) => rcptTo.includes('team@there.example')))
  await goTo('/inbox/routes')
  await page.getByRole('link', { name: 'support+*@shop.example' }).click()
  await rowOf('A broken lamp').getByText('Forwarded').waitFor()
  await page.getByRole('link', { name: 'A broken lamp' }).click()
  await page.getByRole('heading', { name: 'A broken lamp' }).waitFor()
  await page.getByText('team@there.example').first().waitFor()

  await goTo(`/inbox/routes/${scene.ids.route}`)
  await rowOf('Where is my <script>alert(1)</script> lamp?').getByText('Dropped').waitFor()
})

test('a route is changed to a webhook, and deleted', async () => {
  await goTo('/inbox/routes')
  await rowOf('support+*@shop.example').getByRole('button', { name: 'Edit' }).click()
  await dialog().getByLabel('Action').selectOption('Send to one webhook only')
  await dialog().getByLabel('Webhook', { exact: true }).selectOption({ index: 1 })
  await dialog().getByRole('button', { name: 'Save route' }).click()
  await rowOf('support+*@shop.example').getByText('Webhook https://hooks.example.test').waitFor()
  await page.getByRole('link', { name: 'support+*@shop.example' }).click()
  await button('Delete route').click()
  await dialog().getByRole('button', { name: 'Delete route' }).click()
  await button('Create route').waitFor()
  assert.equal(await order(), ['noreply@shop.example'])
})

test.run()
