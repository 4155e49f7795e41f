import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createLog } from '../../src/lib/log.ts'
import { sharedLogTail } from '../../src/lib/log-tail.ts'
import { axeFindings, startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'

const test = suite('the section Server of the dashboard')
const folder = mkdtempSync(join(tmpdir(), 'mailhorn-backups-'))
let mailhorn: Mailhorn
let browser: TestBrowser
test.before(async () => {
  buildDashboard()
  mailhorn = await startMailhorn({ env: { MAILHORN_BACKUP_FOLDER: folder, MAILHORN_METRICS_TOKEN: 'hush' } })
  browser = await startBrowser()
})
test.after(async () => {
  await browser.close()
  await mailhorn.close()
  rmSync(folder, { recursive: true })
})

test('settings are found by their variable and filtered by source, and secrets are not shown', async t => {
  const { page, faults, close } = await browser.signIn(mailhorn, '/configuration')
  t.after(close)
  await page.getByLabel('Search settings').fill('METRICS_TOKEN')
  await page.getByRole('row').filter({ hasText: 'metrics.token' }).getByText('[redacted]').waitFor()
  await page.getByRole('row', { name: /^backup\.folder / }).waitFor({ state: 'detached' })
  await page.getByLabel('Any source').selectOption('default')
  await page.getByText('No results match your filters.').waitFor()
  await page.getByRole('button', { name: 'Version and news' }).click()
  await page
    .getByText(/^Added \(\d+\)$/)
    .first()
    .click()
  assert.equal(await axeFindings(page), [])
  assert.equal(faults, [])
})

test('log lines are filtered by level and text, and each shows its fields', async t => {
  const log = createLog('info', { write: line => sharedLogTail().append(line) })
  log.info({ event: 'browser_test_begun', domain: 'one.example' }, 'The first line')
  log.warn({ event: 'browser_test_ended', domain: 'two.example', password: 'hush' }, 'The second line')
  const { page, faults, close } = await browser.signIn(mailhorn, '/server-log?q=browser_test')
  t.after(close)
  await page.getByRole('row').filter({ hasText: 'The first line' }).waitFor()
  await page.getByLabel('Any level').selectOption('warn')
  await page.getByRole('row').filter({ hasText: 'The first line' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Details' }).click()
  const details = page.getByRole('dialog', { name: 'browser_test_ended' })
  await details.getByText('"domain": "two.example"').waitFor()
  await details.getByText('"password": "[redacted]"').waitFor()
  assert.equal(await axeFindings(page), [])
  assert.equal(faults, [])
})

test('a backup is made beside the schedule and verified', async t => {
  const { page, faults, close } = await browser.signIn(mailhorn, '/backups')
  t.after(close)
  const rows = page.getByRole('button', { name: 'Verify' })
  await rows.first().waitFor()
  const before = await rows.count()
  mailhorn.clock.advance(1_000)
  await page.getByRole('button', { name: 'Back up now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Back up now' }).click()
  await rows.nth(before).waitFor()
  await rows.first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Verify backup' }).click()
  await page.getByText(/is complete and undamaged/).waitFor()
  assert.equal(await axeFindings(page), [])
  assert.equal(faults, [])
})

test('the records of the provider zone are shown to copy', async t => {
  const { page, close } = await browser.signIn(mailhorn, '/deliverability')
  t.after(close)
  await page.getByRole('button', { name: 'Provider zone' }).click()
  await page
    .getByRole('dialog', { name: 'Provider zone' })
    .getByText(/mailhorn\.test\..* SOA /)
    .waitFor()
  assert.equal(await axeFindings(page), [])
})

test('whoever is not an operator sees that these pages are for operators, and nothing else', async t => {
  const session = await mailhorn.signIn()
  const owner = { name: 'Bakery', owner_email: 'ann@bakery.example', plan: 'pro' }
  const { body } = await mailhorn.call('POST', '/accounts', { session, body: owner })
  const { page, faults, close } = await browser.open(mailhorn)
  t.after(close)
  await page.goto(`${mailhorn.baseUrl}/dashboard/`)
  await page.getByLabel('Email address').fill(owner.owner_email)
  await page.getByLabel('Password').fill(body.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('main#page').waitFor()
  assert.is(await page.getByRole('link', { name: 'Server', exact: true }).count(), 0)
  for (const path of ['storage', 'backups', 'certificates', 'server-log', 'configuration']) {
    await page.goto(`${mailhorn.baseUrl}/dashboard/${path}`)
    await page.getByRole('heading', { name: 'You do not have access to this page' }).waitFor()
  }
  assert.equal(faults, [])
})

test.run()
