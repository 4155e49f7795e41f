import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { suite } from '../kit/suite.ts'
import { type Scene, startScene } from './scene.ts'

const test = suite('what developers look for in the dashboard')
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
const copied = () => page.evaluate('navigator.clipboard.readText()') as Promise<string>

test('a logged request is found by the id of its email, and opens the API reference with its content', async () => {
  const { mailhorn } = scene
  const sent = await mailhorn.send({
    ...{ from: 'orders@shop.example', to: 'delivered@simulator.test', subject: 'Replay me', text: 'x' },
  })
  await goTo('/logs')
  await page.getByLabel('Search requests').fill(sent)
  await page.waitForURL(/q=eml_/)
  const row = rowOf('POST /emails').first()
  await row.getByText('127.0.0.1').waitFor()
  await row.getByText('First key').waitFor()
  await row.getByRole('link', { name: 'POST /emails' }).click()
  await page.getByRole('link', { name: 'Replay in API reference' }).click()
  const operation = page.locator('details#sendEmail')
  await operation.getByText('Filled in from the request of').waitFor()
  const body = JSON.parse(await operation.getByLabel('Request body').inputValue())
  assert.equal([body.subject, body.to], ['Replay me', 'delivered@simulator.test'])
  assert.is(await page.getByLabel('API key or token').inputValue(), '')
})

test('a new key is shown with code, and the language stays chosen for templates and the reference', async () => {
  await goTo('/keys?add=1')
  await dialog().getByLabel('Name').fill('Samples')
  await dialog().getByRole('button', { name: 'Create API key' }).click()
  await dialog().getByText('curl -X POST').waitFor()
  await dialog().getByRole('button', { name: 'Ruby' }).click()
  await dialog().getByText("require 'net/http'").waitFor()
  await dialog().getByRole('button', { name: 'Copy code' }).click()
  assert.match(await copied(), /Bearer re_\w{40}/)

  await goTo(`/templates/${scene.ids.template}`)
  const use = page.getByRole('region', { name: 'Send with the API' })
  await use.getByText("require 'net/http'").waitFor()
  await use.getByRole('button', { name: 'Node' }).click()
  await use.getByText('resend.emails.send(').waitFor()

  await page.goto(`${scene.mailhorn.baseUrl}/docs#listEmails`)
  await page.locator('details#listEmails').getByText('resend.emails.list()').waitFor()
})

test('a template shows the request that sends it, and is sent as a test before it is saved', async () => {
  await goTo(`/templates/${scene.ids.template}`)
  await page.getByLabel('Subject').fill('Draft {{order}}')
  await page.getByLabel('order', { exact: true }).fill('4711')
  const use = page.getByRole('region', { name: 'Send with the API' })
  await use.getByText('Request body (JSON)').click()
  await use.getByRole('button', { name: 'Copy JSON' }).click()
  const body = JSON.parse(await copied())
  assert.equal(body.template, { id: scene.ids.template, variables: { order: '4711' } })
  const { mailhorn } = scene
  assert.is((await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body })).status, 200)

  await button('Send test email').click()
  await dialog().getByLabel('To').fill('delivered@simulator.test')
  await dialog().getByRole('button', { name: 'Send test email' }).click()
  await page.getByText('The test email was sent.').waitFor()
  const { body: list } = await mailhorn.call('GET', '/emails?limit=1', { key: mailhorn.apiKey })
  assert.is(list.data[0].subject, 'Draft 4711')
  await button('Discard changes').click()
})

test.run()
