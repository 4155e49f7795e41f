import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { axeFindings, startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { freePort } from '../kit/free-port.ts'
import { startMailhorn } from '../kit/mailhorn.ts'
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
  await dialog().getByText('An API key sends email, reads sent email').waitFor()
  await dialog().getByLabel('Name').fill('Samples')
  await dialog().getByLabel('Domain').selectOption({ label: 'Only shop.example' })
  await dialog().getByRole('button', { name: 'Create API key' }).click()
  await dialog().getByText('curl -X POST').waitFor()
  await dialog().getByText('"from": "hello@shop.example"').waitFor()
  await dialog().getByRole('button', { name: 'Ruby' }).click()
  await dialog().getByText("require 'net/http'").waitFor()
  await dialog().getByRole('button', { name: 'Copy code' }).click()
  assert.match(await copied(), /Bearer re_\w{40}/)

  await goTo(`/templates/${scene.ids.template}`)
  const use = page.getByRole('region', { name: 'Send with the API' })
  await use.getByText("require 'net/http'").waitFor()
  await use.getByRole('button', { name: 'Node' }).click()
  await use.getByText("from: 'hello@shop.example'").waitFor()
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

test('the SMTP page says that submission works, step by step', async t => {
  const port = await freePort()
  const env = { MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: `127.0.0.1:${port}` }
  const mailhorn = await t.using(startMailhorn({ env }))
  await mailhorn.verifiedDomain('here.example')
  const { page, close } = await browser.signIn(mailhorn, '/smtp')
  t.after(close)
  const card = page.getByRole('region', { name: 'Test the connection' })
  await card.getByLabel('API key').fill(mailhorn.apiKey)
  await card.getByRole('button', { name: 'Test connection' }).click()
  await card.getByText('Programs can reach 127.0.0.1').waitFor()
  await card.getByRole('listitem').filter({ hasText: 'Login' }).getByText('Passed').waitFor()
  await page.getByText("from: 'hello@here.example'").waitFor()
  assert.equal(await axeFindings(page), [])
})

test('a webhook explains its signature with the values of the last delivery', async () => {
  const { mailhorn, ids } = scene
  const session = await mailhorn.signIn()
  const { body } = await mailhorn.call('POST', `/webhooks/${ids.webhook}/test`, { session, body: {} })
  await goTo(`/webhooks/${ids.webhook}`)
  const card = page.getByRole('region', { name: 'Verify signatures' })
  await card.getByText(body.request.headers['svc-signature']).waitFor()
  await card.getByRole('button', { name: 'Copy signed text' }).click()
  assert.is(await copied(), `${body.request.headers['svc-timestamp']}.${body.request.body}`)
  await card.getByRole('button', { name: 'Node' }).click()
  await card.getByText('timingSafeEqual').first().waitFor()
  assert.equal(await axeFindings(page), [])
  await page.setViewportSize({ width: 390, height: 844 })
  const row = page.locator('details.recipient summary').first()
  const [name, mark] = [
    await row.locator('code').boundingBox(),
    await row.locator('.mark').last().boundingBox(),
  ]
  assert.ok(mark!.x >= name!.x + name!.width || mark!.y >= name!.y + name!.height, 'the result stands apart')
  assert.is(
    await row.locator('code').evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth),
    false,
  )
  await page.setViewportSize({ width: 1280, height: 860 })
  await goTo('/webhooks?add=1')
  await dialog().getByText('cloudflared tunnel').waitFor()
})

test.run()
