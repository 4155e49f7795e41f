import * as assert from 'uvu/assert'
import { axeFindings, sideways, startBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'

const test = suite('the API reference, in a browser')

test('a visitor finds an operation, and tries it with a key', async t => {
  buildDashboard()
  const mailhorn = await t.using(startMailhorn())
  const browser = await t.using(startBrowser())
  const { page, faults } = await browser.open(mailhorn)

  await page.goto(`${mailhorn.baseUrl}/docs`)
  await page.getByRole('heading', { name: 'Mailhorn API' }).waitFor()
  await page.getByRole('searchbox', { name: 'Search' }).fill('sendEmail')
  assert.is(await page.locator('details.operation').count(), 2)
  await page.getByText('2 operations match “sendEmail”.').waitFor()
  await page.locator('details#sendEmail summary').click()
  const send = page.locator('details#sendEmail')
  await send.getByRole('heading', { name: 'Request body' }).waitFor()
  await send.getByText('At most 50 recipients').first().waitFor()
  await send.getByText("curl -X POST '").waitFor()
  await send.getByRole('button', { name: 'Python' }).click()
  await send.getByText('urllib.request.Request(').waitFor()
  await send.getByRole('button', { name: 'Copy code' }).click()
  assert.match(
    await page.evaluate('navigator.clipboard.readText()'),
    /^import json\nimport os\nimport urllib\.request\n/,
  )
  assert.ok(await send.getByRole('button', { name: 'Send POST request' }).isDisabled())

  const inSideBar = page.getByRole('navigation', { name: 'Operations' }).locator('a[aria-current]')
  assert.equal(await inSideBar.allTextContents(), ['POST /emails'])
  assert.match(page.url(), /#sendEmail$/)
  await send.getByRole('button', { name: 'Copy example' }).first().click()
  assert.match(await page.evaluate('navigator.clipboard.readText()'), /"subject"/)
  assert.ok(await send.getByRole('button', { name: 'Send POST request' }).isDisabled())

  await page.getByLabel('API key or token').fill(mailhorn.apiKey)
  await send.getByLabel('Request body').fill(
    JSON.stringify({
      from: 'ann@here.example',
      to: 'delivered@simulator.test',
      subject: 'Tried',
      text: 'hello',
    }),
  )
  await send.getByRole('button', { name: 'Send POST request' }).click()
  await send.getByText('200 OK').waitFor()
  const { body } = await mailhorn.call('GET', '/emails', { key: mailhorn.apiKey })
  assert.is(body.data[0].subject, 'Tried')

  await page.getByRole('searchbox', { name: 'Search' }).fill('listEmails')
  await page.locator('details#listEmails summary').click()
  await page.locator('details#listEmails').getByLabel('limit').fill('1000')
  await page.locator('details#listEmails').getByRole('button', { name: 'Send GET request' }).click()
  await page.locator('details#listEmails').getByText('422').first().waitFor()
  await page.getByRole('searchbox', { name: 'Search' }).fill('no such thing')
  await page.getByText('No operations match “no such thing”.').waitFor()
  await page.getByRole('searchbox', { name: 'Search' }).fill('')
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  const { y } = (await page.getByRole('searchbox', { name: 'Search' }).boundingBox())!
  assert.ok(y >= 0 && y < 200, `the search stays in view, at ${y}`)
  assert.equal(
    faults.filter(fault => !fault.includes('422')),
    [],
  )
})

test('a visitor learns how to get a credential', async t => {
  buildDashboard()
  const mailhorn = await t.using(startMailhorn())
  const browser = await t.using(startBrowser())
  const { page, faults } = await browser.open(mailhorn, { viewport: { width: 390, height: 800 } })
  await page.goto(`${mailhorn.baseUrl}/docs`)
  const credentials = page.getByRole('region', { name: 'Get a credential' })
  await credentials.getByText('mailhorn token create').waitFor()
  for (const id of ['createApiKey', 'signIn', 'createAccessToken']) {
    await credentials.locator(`a[href="#${id}"]`).click()
    await page.locator(`details#${id}`).getByRole('heading', { name: 'Request body' }).waitFor()
  }
  assert.is(await sideways(page), 0)
  assert.equal(await axeFindings(page), [])
  assert.equal(faults, [])
})

test('a link to an operation opens it', async t => {
  buildDashboard()
  const mailhorn = await t.using(startMailhorn())
  const browser = await t.using(startBrowser())
  const { page, faults } = await browser.open(mailhorn, { viewport: { width: 390, height: 800 } })
  await page.goto(`${mailhorn.baseUrl}/docs#createDomain`)
  await page.locator('details#createDomain').getByText('Register a sending domain').first().waitFor()
  await page.locator('details#createDomain').getByRole('heading', { name: 'Request body' }).waitFor()
  assert.is(await sideways(page), 0)
  assert.equal(await axeFindings(page), [])
  assert.equal(faults, [])
})

test.run()
