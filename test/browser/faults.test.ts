import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'

const test = suite('the dashboard when something is missing')
/** Resolves to the service, and is neither https nor localhost. */
const PLAIN_HOST = 'plain.example'
let mailhorn: Mailhorn
let browser: TestBrowser

test.before(async () => {
  buildDashboard()
  mailhorn = await startMailhorn()
  browser = await startBrowser(`--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`)
})
test.after(async () => {
  await browser.close()
  await mailhorn.close()
})

const lost = (page: Page) => page.getByText('Connection lost.')

test('a service that no longer answers is said on every page, until it answers again', async t => {
  const { page } = await t.using(browser.signIn(mailhorn, '/emails'))
  await page.getByText('No emails yet').waitFor()
  await page.route('**/*', route => route.abort())
  await page.evaluate("dispatchEvent(new Event('online'))")
  await lost(page).waitFor()
  await page.getByRole('link', { name: 'Suppressions' }).click()
  await lost(page).waitFor()

  await mailhorn.send({
    from: 'a@b.example',
    to: 'delivered@simulator.test',
    subject: 'Meanwhile',
    text: 't',
  })
  await page.getByRole('link', { name: 'Emails', exact: true }).click()
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.unroute('**/*')
  await lost(page).waitFor({ state: 'hidden' })
  await page.getByText('Meanwhile').waitFor()
})

test('a change that is refused while the service is read-only has that as its only reason', async t => {
  const session = await mailhorn.signIn()
  const switchTo = (mode: string) => mailhorn.call('PUT', '/installation/mode', { session, body: { mode } })
  const { page } = await t.using(browser.signIn(mailhorn, '/keys'))
  await page.getByRole('button', { name: 'Create API key' }).first().click()
  const dialog = page.getByRole('dialog').last()
  await dialog.getByLabel('Name').fill('Refused')
  await switchTo('read-only')
  await dialog.getByRole('button', { name: 'Create API key' }).click()
  const said = await dialog.getByRole('alert').innerText()
  await switchTo('normal')
  assert.match(said, /read-only/)
  assert.not.match(said, /internal error/)
})

test('texts can be copied where browsers offer no clipboard', async t => {
  const { page } = await t.using(browser.open(mailhorn))
  await page.goto(`http://${PLAIN_HOST}:${new URL(mailhorn.baseUrl).port}/dashboard/`)
  await page.getByLabel('Email address').fill(mailhorn.admin.email)
  await page.getByLabel('Password').fill(mailhorn.admin.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'API', exact: true }).click()
  assert.is(await page.evaluate('navigator.clipboard'), undefined)
  await page.getByRole('button', { name: 'Create API key' }).first().click()
  const dialog = page.getByRole('dialog').last()
  await dialog.getByLabel('Name').fill('Copied')
  await dialog.getByRole('button', { name: 'Create API key' }).click()
  const key = await dialog.locator('.copy code, .copy pre').first().innerText()
  await dialog.getByRole('button', { name: 'Copy' }).first().click()
  await dialog.getByRole('button', { name: 'Copied' }).waitFor()
  await dialog.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByRole('link', { name: 'Emails' }).click()
  await page.locator('[data-search]').first().focus()
  await page.keyboard.press('Control+V')
  assert.is(await page.locator('[data-search]').first().inputValue(), key)
})

test.run()
