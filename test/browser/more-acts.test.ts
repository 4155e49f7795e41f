import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { recordMade } from '../../src/store/backup/record.ts'
import { addAccount } from '../kit/accounts.ts'
import { startBrowser, type TestBrowser, type WatchedPage } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { zoneText } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'
import { type Scene, startScene } from './scene.ts'

const test = suite('what is done with many things at once, and what is known of mail as a whole')
let scene: Scene
let browser: TestBrowser
let opened: WatchedPage
let page: Page
test.before(async () => {
  buildDashboard()
  scene = await startScene()
  browser = await startBrowser()
  opened = await browser.signIn(scene.mailhorn)
  page = opened.page
})
test.after(async () => {
  await browser.close()
  await scene.close()
})

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const dialog = () => page.getByRole('dialog')
const goTo = (path: string) => page.goto(`${scene.mailhorn.baseUrl}/dashboard${path}`)
const rowOf = (text: string) => page.getByRole('row').filter({ hasText: text })
const choose = (text: string) => rowOf(text).getByRole('checkbox').check()

test('why a message has not arrived takes two clicks', async () => {
  await goTo('/')
  await page.getByRole('link', { name: 'Your invoice 1042' }).click()
  await page
    .getByText(/The mailbox .* does not exist\./)
    .first()
    .waitFor()
  await page.getByText('550 5.1.1').first().waitFor()
})

test('the operator is told of an alert with its fix, and led to where it is seen to', async () => {
  await goTo('/')
  const verdict = page.getByRole('region', { name: 'Status' })
  await verdict.locator('summary').click()
  await verdict.locator('ul').getByText('A mailbox provider reports a poor IP reputation (outlook').waitFor()
  await verdict.getByText('Check whether the IP address is on a blocklist').waitFor()
  await verdict.getByRole('link', { name: 'View destinations' }).click()
  await page.getByRole('heading', { name: 'Destinations' }).waitFor()
})

test('an address that is warmed up shows its way, and which lists it is on', async () => {
  await goTo('/deliverability')
  await page.getByRole('img', { name: /^Day 12 of 28: [\d,]+ messages per provider/ }).waitFor()
  await page.getByText('Listed on zen.list.example', { exact: true }).waitFor()
  const alerts = page.getByRole('region', { name: 'Alerts' })
  await alerts.getByText('part of their network is on our block list').waitFor()
  await alerts.getByRole('link', { name: 'View destinations' }).waitFor()
})

test('an alert is silenced for a time, says so, and is told of again when the silence is ended', async () => {
  await goTo('/deliverability')
  const title = 'A mailbox provider reports a poor IP reputation.'
  const row = page.getByRole('region', { name: 'Alerts' }).getByRole('row').filter({ hasText: title })
  await row.getByRole('button', { name: `Silence: ${title}` }).click()
  await dialog().getByLabel('Duration').selectOption('1 day')
  await dialog().getByRole('button', { name: 'Silence alert' }).click()
  await row.getByText(`Silenced until`).waitFor()
  const session = await scene.mailhorn.signIn()
  const silences = async () => (await scene.mailhorn.call('GET', '/alerts/silences', { session })).body.data
  const [silence] = await silences()
  assert.equal([silence.kind, silence.provider, silence.source_ip], ['ip-reputation', 'outlook', '127.0.0.1'])
  assert.is(silence.created_by, scene.mailhorn.admin.email)
  await row.getByRole('button', { name: `End silence: ${title}` }).click()
  await dialog().getByRole('button', { name: 'End silence' }).click()
  await row.getByText('Check whether the IP address is on a blocklist').waitFor()
  assert.equal(await silences(), [])
})

test('a test alert says to whom it was sent', async () => {
  await goTo('/deliverability')
  await button('Send test alert').click()
  await dialog().getByText(`Email to ${scene.mailhorn.admin.email}`).waitFor()
  await dialog().getByText('queued for delivery').first().waitFor()
  await dialog().getByRole('button', { name: 'Close' }).first().click()
})

test('the links of a broadcast say how many followed each', async () => {
  await goTo(`/broadcasts/${scene.ids.sent}`)
  const row = rowOf('https://shop.example/summer/lamps?utm_source=newsletter')
  await row.waitFor()
  const numbers = (await row.getByRole('cell').allInnerTexts()).slice(2)
  assert.equal(numbers, ['171', '214', '12'])
})

test('a scheduled broadcast is made a draft again, and deleted', async () => {
  const { mailhorn } = scene
  const session = await mailhorn.signIn()
  const call = async (method: string, path: string, body?: object) =>
    (await mailhorn.call(method, path, { session, ...(body && { body }) })).body
  const { id: audience } = await call('POST', '/audiences', { name: 'Nobody' })
  const { id } = await call('POST', '/broadcasts', {
    ...{ audience_id: audience, from: 'orders@shop.example', subject: 'Autumn', text: 'Lamps' },
    scheduled_at: new Date(mailhorn.clock.now() + 86_400_000).toISOString(),
  })
  await goTo(`/broadcasts/${id}`)
  const scheduled = () => call('GET', `/broadcasts/${id}`)
  await button('Reschedule …').click()
  const time = dialog().getByLabel('Send at')
  assert.ok(
    Math.abs(Date.parse(`${await time.inputValue()}Z`) - Date.parse((await scheduled()).scheduled_at)) <
      60_000,
  )
  assert.ok(await page.getByLabel('HTML', { exact: true }).isDisabled(), 'what is scheduled is not edited')
  const later = new Date(mailhorn.clock.now() + 2 * 86_400_000).toISOString().slice(0, 16)
  await time.fill(later)
  await dialog().getByRole('button', { name: 'Save new time' }).click()
  await page.getByText('The broadcast was rescheduled.').waitFor()
  const { status, scheduled_at } = await scheduled()
  assert.equal([status, scheduled_at.slice(0, 16)], ['scheduled', later])
  await button('Send now …').click()
  assert.is(await dialog().getByLabel('Send at').count(), 0)
  await dialog().getByRole('button', { name: 'Send to 0 people' }).waitFor()
  await page.keyboard.press('Escape')
  await button('Unschedule to edit').click()
  await page.getByText('The broadcast is a draft again and will not be sent.').waitFor()
  await button('Review and send …').waitFor()
  assert.is((await call('GET', `/broadcasts/${id}`)).status, 'draft')
  await button('Delete broadcast').click()
  await dialog().getByRole('button', { name: 'Delete broadcast' }).click()
  await page.getByText('The broadcast was deleted.').waitFor()
})

test('a topic is shown to everybody unless it is made private', async () => {
  await goTo('/audiences')
  await button('Create topic').click()
  await dialog().getByLabel('Name').fill('Repairs')
  await dialog().getByRole('button', { name: 'Create topic' }).click()
  await rowOf('Repairs').getByText('All contacts', { exact: true }).waitFor()
  await rowOf('Repairs')
    .getByRole('button', { name: /^(Edit|Change)/ })
    .click()
  await dialog().getByLabel('Shown on the preferences page to').selectOption('private')
  await dialog().getByRole('button', { name: 'Save topic' }).click()
  await rowOf('Repairs').getByText('Only its subscribers').waitFor()
})

test('received mail is passed on with its files', async () => {
  await goTo(`/inbox/${scene.ids.inbound}`)
  await button('Forward').click()
  await dialog().getByLabel('To').fill('nonsense')
  await dialog().getByRole('button', { name: 'Forward message' }).click()
  await dialog()
    .getByText(/The address has no "@"/)
    .waitFor()
  await dialog().getByLabel('To').fill('ben@there.example')
  await dialog().getByRole('button', { name: 'Forward message' }).click()
  await page
    .getByText(/ accepted the message\./)
    .first()
    .waitFor()
  const passedOn = scene.mx.messages.find(({ headers }) => /^Subject: Fwd: Where/m.test(headers))!
  assert.equal(passedOn.rcptTo, ['ben@there.example'])
})

test('several emails are tried now and canceled; those that have ended are left as they are', async () => {
  const { mailhorn, ids } = scene
  await mailhorn.emailWhen(ids.delayed, 'delivery_delayed')
  const before = (await mailhorn.email(ids.delayed)).recipients[0].attempts
  await goTo('/emails')
  await choose('Your invoice 1042')
  await page.getByText('There is nothing to cancel or retry.').waitFor()
  await choose('Welcome to the shop')
  await choose('How do you like your lamp?')
  await page.getByText('3 selected').waitFor()
  await button('Retry now (1)').click()
  await dialog().getByRole('button', { name: 'Retry 1 email' }).click()
  await page.getByText('Retrying 1 email.').waitFor()
  await page.getByText('3 selected').waitFor({ state: 'detached' })
  assert.ok((await mailhorn.emailWhen(ids.delayed, 'delivery_delayed')).recipients[0].attempts >= before)
  await choose('Welcome to the shop')
  await choose('How do you like your lamp?')
  await button('Cancel (2)').click()
  await dialog().getByRole('button', { name: 'Cancel 2 emails' }).click()
  await page.getByText('2 emails canceled.').waitFor()
  await mailhorn.emailWhen(ids.delayed, 'failed')
  await rowOf('How do you like your lamp?').getByText('Canceled').waitFor()
  await rowOf('Your invoice 1042').getByText('Bounced').waitFor()
})

test('several contacts are unsubscribed, and removed', async () => {
  await goTo(`/audiences/${scene.ids.audience}`)
  await choose('ann@there.example')
  await choose('ben@there.example')
  await button('Unsubscribe').click()
  await dialog().getByRole('button', { name: 'Unsubscribe 2 contacts' }).click()
  await page.getByText('2 contacts unsubscribed.').waitFor()
  await rowOf('ben@there.example').getByText('Unsubscribed').waitFor()
  await page.getByText('1 subscribed of 3 contacts.').waitFor()
  await page.getByLabel('Any status').selectOption('Subscribed')
  await rowOf('ben@there.example').waitFor({ state: 'detached' })
  await rowOf('cleo@there.example').waitFor()
  assert.is(await page.locator('table.list tbody tr').count(), 1)
  await page.getByLabel('Any status').selectOption('Any status')
  await page.locator('table.list tbody tr').nth(2).waitFor()
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await button('Delete').click()
  await dialog().getByRole('button', { name: 'Delete 3 contacts' }).click()
  await page.getByRole('heading', { name: 'No contacts yet' }).waitFor()
})

test('several addresses are taken off the suppression list, with a warning for those who complained', async () => {
  await goTo('/suppressions')
  await choose('angry@there.example')
  await choose('nobody@there.example')
  await button('Remove from list').click()
  await dialog().getByText('1 recipient marked your email as spam.').waitFor()
  await dialog().getByRole('button', { name: 'Remove from suppression list' }).click()
  await page.getByText('2 addresses removed from the suppression list.').waitFor()
  await rowOf('angry@there.example').waitFor({ state: 'detached' })
})

test('emails are filtered by how they came and by their key', async () => {
  await goTo('/emails')
  await page.getByLabel('Any source').selectOption('Broadcast')
  await page.waitForURL(/source=broadcast/)
  await rowOf('Summer prices').first().waitFor()
  await rowOf('Your invoice 1042').waitFor({ state: 'detached' })
  await page.getByLabel('Any source').selectOption('API')
  await rowOf('Your invoice 1042').waitFor()
  await page.getByLabel('Any API key').selectOption('Web shop')
  await page.getByRole('heading', { name: 'No results' }).waitFor()
})

test('a refused request is found by its status and path, and shows its bodies as text', async () => {
  await goTo('/logs')
  await page.getByLabel('Any status').selectOption('Client errors (4xx)')
  await page.getByLabel('Search requests').fill('emails')
  await page.waitForURL(/q=emails/)
  await rowOf('422 missing_required_field').getByRole('link', { name: 'POST /emails' }).click()
  await page.getByRole('heading', { name: 'POST /emails' }).waitFor()
  await page.getByRole('region', { name: 'Request body' }).getByText('"html": "<b>Thank you</b>"').waitFor()
  await page.getByRole('region', { name: 'Response body' }).getByText('Missing `to` field.').first().waitFor()
})

test('a server is slowed down, and gets as much as it bears again', async () => {
  const { mailhorn } = scene
  await mailhorn.send({
    ...{ from: 'orders@shop.example', to: 'defer-451@elsewhere.example', subject: 'Once more', text: 'x' },
  })
  await goTo('/queue')
  await button('Limit rate to mx.elsewhere.example').click()
  await dialog().getByLabel('Messages per minute').fill('12')
  await dialog().getByRole('button', { name: 'Set rate limit' }).click()
  const slowed = page.getByRole('region', { name: 'Rate limits' })
  await slowed.getByText('12 messages per minute').waitFor()
  await rowOf('elsewhere.example')
    .getByText(/, 12\/min/)
    .first()
    .waitFor()
  await slowed.getByRole('button', { name: 'Remove rate limit' }).click()
  await dialog().getByRole('button', { name: 'Remove rate limit' }).click()
  await slowed.waitFor({ state: 'detached' })
})

test('the operator sees the age of the last backup with the readiness of the server', async () => {
  const { dataDir, clock } = scene.mailhorn
  recordMade(dataDir, '/var/backups/mailhorn/20261128T003000Z', clock.now() - 3.5 * 3_600_000)
  clock.advance(60_000) // the last report of the doctor is used for a while
  await goTo('/start')
  await page.getByText('The last backup was made 3 hours ago.').waitFor()
})

test('the operator is told how the installation gets a name of its own', async () => {
  await goTo('/start')
  await page
    .getByRole('region', { name: 'Go live' })
    .getByRole('link', { name: 'Set up the host name' })
    .click()
  await page.getByLabel('Host name of this server').fill('https://Post.shop.example/')
  await page.getByLabel('Public IP addresses').fill('192.0.2.25, 2001:db8::25')
  await page.getByLabel('Contact address').fill('ops@shop.example')
  await button('Checkout with npm').click()
  await button('Reverse proxy on this server').click()
  await button('Check this server').click()
  const step = (title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })
  const copied = async (what: string) => {
    await button(what).click()
    return (await page.evaluate('navigator.clipboard.readText()')) as string
  }
  await step('Save the settings').locator('summary').first().click()
  const settings = (await copied('Copy settings')).split('\n')
  for (const line of [
    'MAILHORN_MAIL_HOST=post.shop.example',
    'MAILHORN_SMTP_INBOUND_LISTEN=[::]:25',
    'MAILHORN_ACME_EMAIL=ops@shop.example',
    'MAILHORN_HTTP_TRUSTED_PROXIES=127.0.0.1,::1',
    'MAILHORN_DNS_ADDRESSES=192.0.2.25,2001:db8::25',
  ])
    assert.ok(settings.includes(line), line)
  assert.match(await copied('Copy systemd unit'), 'EnvironmentFile=/etc/mailhorn.env')
  await step('Add DNS records').locator('summary').first().click()
  assert.match(await copied('Copy DNS records'), 'ns2.post.shop.example.  AAAA  2001:db8::25')
  await page.reload()
  await step('Name and addresses').locator('summary').first().click()
  assert.is(await page.getByLabel('Contact address').inputValue(), 'ops@shop.example', 'the answers are kept')
})

test('a domain that another account has verified is claimed by a record', async () => {
  const { mailhorn } = scene
  const other = addAccount(mailhorn, 'other')
  const named = { name: 'theirs.example' }
  const { body: theirs } = await mailhorn.call('POST', '/domains', { session: other.session, body: named })
  mailhorn.zone.add(zoneText(theirs.records))
  await mailhorn.call('POST', `/domains/${theirs.id}/verify`, { session: other.session })
  await goTo('/domains?add=1')
  await dialog().getByLabel('Domain', { exact: true }).fill('theirs.example')
  await dialog().getByRole('button', { name: 'Add domain' }).click()
  await button('Claim theirs.example').click()
  await button('Verify claim').click()
  await page.getByText('The TXT record was not found.').waitFor()
  const value = await page.getByText(/^svc-claim=/).textContent()
  mailhorn.zone.add(`_svc-claim.theirs.example TXT "${value}"`)
  mailhorn.clock.advance(5_000)
  await button('Verify claim').click()
  await page.getByText('theirs.example now belongs to this account.').waitFor()
  await button('Verify claim').waitFor({ state: 'detached' })
})

test('nothing went wrong in all of this', () => {
  assert.equal(
    opened.faults.filter(fault => !/Blocked script execution|Content Security Policy/.test(fault)),
    [],
  )
})

test.run()
