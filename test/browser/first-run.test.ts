import * as assert from 'uvu/assert'
import { startBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { startFakeMx } from '../kit/fake-mx.ts'
import { startMailhorn, zoneText } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'

const test = suite('from nothing to a delivered mail, in a browser')
const WORLD = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`

test('a newcomer gets there by the first steps alone', async t => {
  buildDashboard()
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const mailhorn = await t.using(startMailhorn({ zone: WORLD, mxPort: mx.port }))
  const browser = await t.using(startBrowser())
  const { page, faults } = await browser.open(mailhorn)
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const sections = page.getByRole('navigation', { name: 'Sections' })
  const step = (title: string) => page.getByRole('listitem').filter({ hasText: title })

  await page.goto(mailhorn.baseUrl)
  assert.is(new URL(page.url()).pathname, '/dashboard/')
  await page.getByLabel('Email address').fill(mailhorn.admin.email)
  await page.getByLabel('Password').fill('not the password')
  await button('Sign in').click()
  await page.getByText('The email address or the password is incorrect.').waitFor()
  await page.getByLabel('Password').fill(mailhorn.admin.password)
  await button('Sign in').click()
  await page.getByRole('heading', { name: 'First steps' }).waitFor()
  assert.is(await page.getByRole('img').count(), 0, 'no chart without numbers')

  await button('Send test email').click()
  await step('Send a test email to the simulator').getByText('Delivered', { exact: true }).waitFor()
  await step('Send a test email to the simulator').getByText('(done)').waitFor({ state: 'attached' })

  await page.getByRole('heading', { name: 'Verify a domain' }).click()
  await button('Add domain').click()
  await page.getByLabel('Domain', { exact: true }).fill('not a domain')
  await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click()
  await page.getByText('`name` must be a domain name').waitFor()
  await page.getByLabel('Domain', { exact: true }).fill('here.example')
  await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click()
  await page.getByRole('heading', { name: 'here.example', exact: true }).waitFor()
  await button('Copy the value of the TXT record').first().click()
  const { body: domains } = await mailhorn.call('GET', '/domains', { session: await mailhorn.signIn() })
  const { records } = domains.data[0]
  assert.is(await page.evaluate('navigator.clipboard.readText()'), records[0].value)
  mailhorn.zone.add(zoneText(records))
  await button('Verify domain').click()
  await page.getByText('You can send from this domain.').waitFor()

  await sections.getByRole('link', { name: 'API', exact: true }).click()
  await button('Create API key').click()
  await page.getByLabel('Name').fill('Web shop')
  await page.getByRole('dialog').getByRole('button', { name: 'Create API key' }).click()
  const token = await page.getByRole('dialog').locator('.secret code').innerText()
  await button('I have saved it').click()
  const { body: sent } = await mailhorn.call('POST', '/emails', {
    key: token,
    body: { from: 'shop@here.example', to: 'ok@there.example', subject: 'By a program', text: 'Hi' },
  })
  await mailhorn.emailWhen(sent.id, 'delivered')
  // when a key was last used is written down once a minute
  mailhorn.clock.advance(60_000)

  await sections.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('link', { name: 'Deliver your first real email' }).click()
  await step('Send with an API key').getByText('(done)').waitFor({ state: 'attached' })
  await page.getByLabel('To', { exact: true }).fill('ann@there.example')
  await step('Deliver your first real email').getByRole('button').click()
  await step('Deliver your first real email').getByText('Delivered', { exact: true }).waitFor()
  await step('Deliver your first real email').getByRole('link', { name: 'View email' }).click()
  await page.getByText('mx.there.example accepted the message.').waitFor()
  await page.getByText('1 attempt (SMTP transcript)').click()
  await page.getByRole('row', { name: /End of data/ }).waitFor({ state: 'attached' })
  assert.ok(mx.messages.some(({ rcptTo }) => rcptTo.includes('ann@there.example')))

  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('heading', { name: 'Latest problems' }).waitFor()
  assert.is(await page.getByRole('heading', { name: 'First steps' }).count(), 0, 'all of them are done')
  assert.equal(faults, [])
})

test.run()
