import type { Locator, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { sideways, startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type FakeMx, startFakeMx } from '../kit/fake-mx.ts'
import { type Hand, keyboardOf, mouseOf } from '../kit/hand.ts'
import { type DnsRecordView, type Mailhorn, zoneText } from '../kit/mailhorn.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { startMailhornWithWebhooks, startSink } from '../kit/webhook-sink.ts'

const test = suite('journeys through the dashboard')
const WORLD = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
const WIDTHS = [1440, 820, 390]
/** Each journey is made once, by keyboard, unless all are wanted, so that CI stays short. */
const ALL = process.env.JOURNEYS === 'all'
let browser: TestBrowser
test.before(async () => {
  buildDashboard()
  browser = await startBrowser()
})
test.after(() => browser.close())

interface Traveller {
  t: TestContext
  mailhorn: Mailhorn
  mx: FakeMx
  page: Page
  hand: Hand
}

const JOURNEYS: readonly (readonly [string, (traveller: Traveller) => Promise<void>])[] = [
  ['from nothing to a delivered mail', firstRun],
  ['a domain with faults in its records', domainWithFaults],
  ['an email that is delayed', delayedMail],
  ['an import and a broadcast', importAndBroadcast],
  ['a webhook', webhookJourney],
]

for (const [i, [title, travel]] of JOURNEYS.entries())
  for (const [j, width] of WIDTHS.entries()) {
    const isKeyboard = (i + j) % WIDTHS.length === 0
    if (!isKeyboard && !ALL) continue
    const colorScheme = (i + j) % 2 === 0 ? 'light' : 'dark'
    test(`${title}, by ${isKeyboard ? 'keyboard' : 'mouse'} at ${width} px in ${colorScheme}`, async t => {
      const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
      const mailhorn = await t.using(startMailhornWithWebhooks({ zone: WORLD, mxPort: mx.port, env: LINKS }))
      const viewport = { width, height: 900 }
      const { page, faults } = await t.using(browser.open(mailhorn, { viewport, colorScheme }))
      const hand = isKeyboard ? keyboardOf(page) : mouseOf(page)
      await signIn(page, hand, mailhorn)
      await travel({ t, mailhorn, mx, page, hand })
      assert.is(await sideways(page), 0)
      assert.equal(faults.filter(isOurs), [])
    })
  }

/** That the frame of a message lets no script run is noted on the console. */
function isOurs(fault: string): boolean {
  return !/dashboard\/preview/.test(fault)
}

/** A broadcast to real people needs links that they can open. */
const LINKS = { MAILHORN_TRACKING_BASE_URL: 'https://links.here.example' }

async function signIn(page: Page, hand: Hand, mailhorn: Mailhorn) {
  await page.goto(mailhorn.baseUrl)
  await hand.write(page.getByLabel('Email address'), mailhorn.admin.email)
  await hand.write(page.getByLabel('Password'), mailhorn.admin.password)
  await hand.press(buttonOf(page, 'Sign in'))
  await page.locator('main h1').waitFor()
}

function buttonOf(of: Page | Locator, name: string): Locator {
  return of.getByRole('button', { name, exact: true })
}

function dialogOf(page: Page): Locator {
  return page.getByRole('dialog')
}

async function firstRun({ mailhorn, mx, page, hand }: Traveller) {
  const step = (title: string) => page.getByRole('listitem').filter({ hasText: title })
  const open = (title: string) => hand.press(step(title).locator('summary').first())
  await page.getByRole('heading', { name: 'First steps' }).waitFor()
  assert.is(await page.getByRole('img').count(), 0, 'no chart without numbers')

  await hand.press(buttonOf(page, 'Send test email'))
  await step('Send a test email to the simulator').getByText('Delivered', { exact: true }).waitFor()
  await step('Send a test email to the simulator').getByText('(done)').waitFor({ state: 'attached' })

  await open('Verify a domain')
  await hand.press(buttonOf(page, 'Add domain'))
  await hand.write(page.getByLabel('Domain', { exact: true }), 'not a domain')
  await hand.press(buttonOf(dialogOf(page), 'Add domain'))
  await page.getByText('Domain must be a domain, such as mail.acme.example').waitFor()
  await hand.write(page.getByLabel('Domain', { exact: true }), 'https://Here.example/')
  await page.getByText('The domain here.example will be added.').waitFor()
  await hand.press(buttonOf(dialogOf(page), 'Add domain'))
  await page.getByRole('heading', { name: 'here.example', exact: true }).waitFor()
  await hand.press(buttonOf(page, 'Copy the value of the TXT record').first())
  const { body: domains } = await mailhorn.call('GET', '/domains', { session: await mailhorn.signIn() })
  const { records } = domains.data[0]
  assert.is(await page.evaluate('navigator.clipboard.readText()'), records[0].value)
  mailhorn.zone.add(zoneText(records))
  await hand.press(buttonOf(page, 'Verify domain'))
  await page.getByText('You can send from this domain.').waitFor()

  await hand.goTo('API')
  await hand.press(buttonOf(page, 'Create API key'))
  await hand.write(dialogOf(page).getByLabel('Name'), 'Web shop')
  await hand.press(buttonOf(dialogOf(page), 'Create API key'))
  const token = await dialogOf(page).locator('.secret code').innerText()
  await hand.press(buttonOf(page, 'I have saved it'))
  const { body: sent } = await mailhorn.call('POST', '/emails', {
    key: token,
    body: { from: 'shop@here.example', to: 'ok@there.example', subject: 'By a program', text: 'Hi' },
  })
  await mailhorn.emailWhen(sent.id, 'delivered')
  // when a key was last used is written down once a minute
  mailhorn.clock.advance(60_000)

  const menu = buttonOf(page, 'Menu')
  if (await menu.isVisible()) await hand.press(menu)
  await hand.press(page.getByRole('button', { name: 'Account menu' }))
  await hand.press(page.getByRole('link', { name: 'First steps', exact: true }))
  const received = step('Send with an API key').getByText('The first request was received.')
  await received.waitFor({ state: 'attached' })
  await open('Deliver your first real email')
  await hand.write(page.getByLabel('To', { exact: true }), 'ann@there.example')
  const last = step('Deliver your first real email')
  await hand.press(last.getByRole('button'))
  await last.getByText('Delivered', { exact: true }).waitFor()
  await hand.press(last.getByRole('link', { name: 'View email' }))
  await page.getByText('mx.there.example accepted the message.').waitFor()
  await hand.press(page.locator('summary').filter({ hasText: '1 attempt (SMTP transcript)' }))
  await page.getByRole('row', { name: /End of data/ }).waitFor({ state: 'attached' })
  assert.ok(mx.messages.some(({ rcptTo }) => rcptTo.includes('ann@there.example')))

  await hand.goTo('Overview')
  await page.getByRole('heading', { name: 'Latest problems' }).waitFor()
  assert.is(await page.getByRole('heading', { name: 'First steps' }).count(), 0, 'all of them are done')
}

async function domainWithFaults({ mailhorn, page, hand }: Traveller) {
  await hand.goTo('Domains')
  await hand.press(buttonOf(page, 'Add your first domain'))
  await hand.write(page.getByLabel('Domain', { exact: true }), 'here.example')
  await hand.press(buttonOf(dialogOf(page), 'Add domain'))
  await page.getByRole('heading', { name: 'here.example', exact: true }).waitFor()
  const { body: domains } = await mailhorn.call('GET', '/domains', { session: await mailhorn.signIn() })
  const records: DnsRecordView[] = domains.data[0].records
  const [spf] = records.filter(({ record }) => record === 'SPF')
  const others = records.filter(({ record }) => record !== 'SPF' && record !== 'MX')
  mailhorn.zone.add(zoneText(others))
  mailhorn.zone.add(`${spf!.host} TXT "v=spf1 include:elsewhere.example -all"`)
  await hand.press(buttonOf(page, 'Verify domain'))
  const row = (record: string) => page.locator('.record').filter({ hasText: record })
  await row('Authorizes Mailhorn').getByText('Wrong value', { exact: true }).waitFor()
  await row('Authorizes Mailhorn').getByText('v=spf1 include:elsewhere.example -all').first().waitFor()
  await row('Authorizes Mailhorn').locator('.advice').waitFor()
  await row('Routes bounces').getByText('Not found', { exact: true }).waitFor()

  mailhorn.zone.remove(spf!.host)
  mailhorn.zone.add(zoneText(records))
  mailhorn.clock.advance(61_000)
  await hand.press(buttonOf(page, 'Verify domain'))
  await row('Authorizes Mailhorn').getByText('Verified', { exact: true }).waitFor()
  await page.getByText('You can send from this domain.').waitFor()
  await hand.goTo('Domains')
  await page.getByRole('row').filter({ hasText: 'here.example' }).getByText('Verified').waitFor()
}

async function delayedMail({ mailhorn, page, hand }: Traveller) {
  await mailhorn.verifiedDomain('here.example')
  const id = await mailhorn.send({
    ...{ from: 'shop@here.example', to: 'defer-451@there.example', subject: 'Your order', text: 'Hi' },
  })
  await mailhorn.emailWhen(id, 'delivery_delayed')
  await hand.goTo('Emails')
  const row = page.getByRole('row').filter({ hasText: 'Your order' })
  await row.getByText('Deferred').waitFor()
  await hand.press(row.getByRole('link').first())
  await page
    .getByText(/Next attempt/)
    .first()
    .waitFor()
  const recipient = page.locator('.recipient').filter({ hasText: 'defer-451@there.example' })
  await hand.press(buttonOf(recipient, 'Try now'))
  await recipient.getByText(/2 attempts/).waitFor()
  await hand.press(buttonOf(recipient, 'Give up'))
  await hand.press(buttonOf(dialogOf(page), 'Give up'))
  await page.getByText('Given up by the account.').first().waitFor()
  await hand.goTo('Emails')
  await row.getByText('Failed').waitFor()
}

async function importAndBroadcast({ mailhorn, mx, page, hand }: Traveller) {
  await mailhorn.verifiedDomain('here.example')
  await hand.goTo('Contacts')
  await hand.press(buttonOf(page, 'Create audience'))
  await hand.write(dialogOf(page).getByLabel('Name'), 'Newsletter')
  await hand.press(buttonOf(dialogOf(page), 'Create audience'))
  await page.getByRole('heading', { name: 'No contacts yet' }).waitFor()
  await hand.press(buttonOf(page, 'Import CSV'))
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    hand.press(dialogOf(page).getByLabel('CSV file')),
  ])
  const lines = ['email,first_name', 'ann@there.example,Ann', 'ben@there.example,Ben', 'nobody,Nobody']
  const buffer = Buffer.from(lines.join('\n'))
  await chooser.setFiles({ name: 'contacts.csv', mimeType: 'text/csv', buffer })
  await hand.press(buttonOf(dialogOf(page), 'Import contacts'))
  await dialogOf(page).getByText('3 rows read.').waitFor()
  await hand.press(buttonOf(dialogOf(page), 'Close').last())
  await page.getByRole('row').filter({ hasText: 'ann@there.example' }).waitFor()

  await hand.goTo('Broadcasts')
  await hand.press(buttonOf(page, 'Create broadcast'))
  await hand.write(dialogOf(page).getByLabel('Subject'), 'Autumn news')
  await hand.press(buttonOf(dialogOf(page), 'Create broadcast'))
  await page.getByRole('heading', { name: 'Autumn news', level: 1 }).waitFor()
  await hand.write(page.getByLabel('HTML', { exact: true }), '<p>Dear {{first_name}}</p> {{unsubscribe_url}}')
  await page
    .frameLocator('iframe.letter')
    .getByText(/^Dear (Ann|Ben)$/)
    .waitFor()
  await page.getByText(/^Saved \d\d:\d\d/).waitFor()
  await hand.press(buttonOf(page, 'Review and send …'))
  await hand.press(buttonOf(dialogOf(page), 'Send to 2 people'))
  await buttonOf(page, 'Undo').waitFor()
  mailhorn.clock.advance(30_000)
  await page.locator('.page-head').getByText('Sent', { exact: true }).waitFor()
  await until(async () => mx.messages.length === 2 || undefined)
}

async function webhookJourney({ t, mailhorn, page, hand }: Traveller) {
  const sink = await startSink(t)
  await hand.goTo('Webhooks')
  await hand.press(buttonOf(page, 'Create webhook').first())
  await hand.write(dialogOf(page).getByLabel('Endpoint URL'), sink.url)
  await hand.press(buttonOf(dialogOf(page), 'Create webhook'))
  await dialogOf(page).locator('.secret code').waitFor()
  await hand.press(buttonOf(page, 'I have saved it'))
  await page.getByRole('heading', { name: sink.url }).waitFor()
  await hand.press(buttonOf(page, 'Send test event'))
  await hand.press(buttonOf(dialogOf(page), 'Send test event'))
  await dialogOf(page).getByText('Delivered (200)').waitFor()
  await hand.press(dialogOf(page).getByRole('button', { name: 'Close', exact: true }).last())
  const delivery = page.locator('details.recipient').filter({ hasText: 'Test' })
  await delivery.getByText(/\(200\)/).waitFor()
  await hand.press(delivery.locator('summary'))
  await delivery.getByText('ok', { exact: true }).waitFor()
  await mailhorn.send({
    ...{ from: 'a@b.example', to: 'delivered@simulator.test', subject: 'Hi', text: 'Hi' },
  })
  await until(async () => sink.events().length === 2 || undefined)
}

test.run()
