import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { openUserMenu, signOut, startBrowser, type TestBrowser, type WatchedPage } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { sendMail } from '../kit/smtp-client.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { type Scene, startScene } from './scene.ts'

const test = suite('what is done in the dashboard')
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
/** Without the page in the browser. */
async function leaveEverything(email: string): Promise<void> {
  const { mailhorn } = scene
  const session = await mailhorn.signIn()
  const { status } = await mailhorn.call('PATCH', `/contacts/${email}`, {
    session,
    body: { unsubscribed: true },
  })
  assert.is(status, 200)
}

test('emails are filtered by what the address says, and go back with the reader', async () => {
  await goTo('/emails')
  await page.getByLabel('Search emails').fill('invoice')
  await page.waitForURL(/search=invoice/)
  await page.getByRole('link', { name: 'Your invoice 1042' }).waitFor()
  await page.getByRole('link', { name: 'How do you like your lamp?' }).waitFor({ state: 'detached' })
  await page.getByLabel('Any status').selectOption('Bounced')
  await page.waitForURL(/status=bounced/)
  await page.getByRole('link', { name: 'Your invoice 1042' }).click()
  await page.getByText('does not exist.').first().waitFor()
  await page.goBack()
  assert.is(await page.getByLabel('Search emails').inputValue(), 'invoice')
  await page.getByLabel('Search emails').fill('nothing like it')
  await page.getByRole('heading', { name: 'No results' }).waitFor()
  await button('Clear filters').last().click()
  await page.getByRole('link', { name: 'How do you like your lamp?' }).waitFor()
})

test('a new email appears in the list by itself', async () => {
  await goTo('/emails')
  await page.getByRole('link', { name: 'Your invoice 1042' }).waitFor()
  await scene.mailhorn.send({
    ...{ from: 'a@b.example', to: 'delivered@simulator.test', subject: 'Just came', text: 'x' },
  })
  await page.getByRole('link', { name: 'Just came' }).waitFor()
})

test('an email is sent again, to those whom it did not reach', async () => {
  await goTo(`/emails/${scene.ids.delivered}`)
  const before = scene.mx.messages.length
  await button('Resend').click()
  await dialog().getByRole('button', { name: 'Resend email' }).click()
  await page.waitForURL(url => !url.pathname.endsWith(scene.ids.delivered))
  await page.getByText('accepted the message.').first().waitFor()
  await page.getByRole('tab', { name: 'Attachments (1)' }).waitFor()
  const again = scene.mx.messages[before]!
  assert.match(again.data.toString(), 'invoice-1042.txt')
  assert.equal(again.rcptTo, ['ann@there.example'])
})

test('an email to a suppressed address is not sent again: the dialog says why, and leads to the entry', async () => {
  await goTo(`/emails/${scene.ids.bounced}`)
  await page.getByText('The address was added to the suppression list').waitFor()
  await page.getByRole('link', { name: 'View suppression' }).waitFor()
  await button('Resend').click()
  const choice = dialog().getByRole('checkbox', { name: 'perm-550-511@there.example' })
  await dialog().getByText('Every recipient is suppressed, so nothing can be sent.').waitFor()
  assert.equal([await choice.isChecked(), await choice.isDisabled()], [false, true])
  assert.ok(await dialog().getByRole('button', { name: 'Resend email' }).isDisabled())
  await dialog().getByRole('link', { name: 'Bounce' }).click()
  await page.waitForURL(url => url.pathname.endsWith('/suppressions'))
  await page.getByText('perm-550-511@there.example').first().waitFor()
})

test('a scheduled email is moved, and canceled only once that is confirmed', async () => {
  await goTo('/emails?status=scheduled')
  await page.getByRole('link', { name: 'How do you like your lamp?' }).click()
  await button('Reschedule').click()
  await dialog()
    .getByLabel(/^Send at \(/)
    .fill('2030-01-01T10:00')
  await dialog().getByRole('button', { name: 'Reschedule email' }).click()
  await dialog().getByText(/year/).waitFor()
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })
  await button('Cancel email').click()
  await dialog().getByRole('button', { name: 'Go back' }).click()
  await dialog().waitFor({ state: 'detached' })
  await button('Cancel email').click()
  await dialog().getByRole('button', { name: 'Cancel email' }).click()
  await page.getByText('Canceled before it was sent.').first().waitFor()
})

test('emails are taken away as CSV, by the filters of the list', async () => {
  await goTo('/emails?status=bounced')
  await page.getByRole('link', { name: 'Your invoice 1042' }).waitFor()
  await button('Export CSV').click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog().getByRole('button', { name: 'Export CSV' }).click(),
  ])
  const csv = readFileSync((await download.path())!, 'utf8')
  assert.match(download.suggestedFilename(), /^emails-\d{4}-\d\d-\d\d\.csv$/)
  assert.match(csv, 'Your invoice 1042')
  assert.not.match(csv, 'Welcome to the shop')
  await dialog()
    .getByText(/^Exported: 1 email/)
    .waitFor()
})

test('a template is written beside its preview, saved, compared with what it said, and restored', async () => {
  await goTo(`/templates/${scene.ids.template}`)
  await page.getByLabel('first_name').fill('Zoë')
  const frame = page.frameLocator('iframe.letter')
  await frame.getByText('Hello Zoë').waitFor()
  await page.getByLabel('HTML', { exact: true }).fill('<p>Dear {{first_name|reader}}</p>')
  await frame.getByText('Dear Zoë').waitFor()
  await button('Save template').click()
  await page.getByText('The previous version was kept.').waitFor()
  await button('Versions').click()
  await dialog().getByText('+ <p>Dear {{first_name|reader}}</p>').waitFor()
  await dialog().getByRole('button', { name: 'Restore version' }).click()
  await frame.getByText('Your order is on its way').waitFor()
})

test('a template is published, changed as a draft, given a fallback and an alias, and duplicated', async () => {
  await goTo(`/templates/${scene.ids.template}`)
  await page.getByText('Draft', { exact: true }).waitFor()
  await button('Publish').click()
  await page.getByText('Published', { exact: true }).waitFor()
  const order = page.getByRole('group', { name: 'order', exact: true })
  await order.getByLabel('If missing').selectOption('Use a fallback')
  await order.getByLabel('Fallback').fill('of today')
  await page.getByLabel('From', { exact: true }).fill('Shop <shop@here.example>')
  await page.getByLabel('Alias', { exact: true }).fill('order-sent')
  await button('Save template').click()
  await page.getByText('Publish the template to use it in emails.').waitFor()
  await page.getByText('Unpublished changes', { exact: true }).waitFor()
  assert.is(await order.getByLabel('Fallback').inputValue(), 'of today')
  await button('Versions').click()
  await dialog().getByText('+ order: string, fallback "of today"').waitFor()
  await dialog().getByText('+ Shop <shop@here.example>').waitFor()
  await page.keyboard.press('Escape')
  await button('Publish').click()
  await page.getByText('Published', { exact: true }).waitFor()
  await button('Duplicate').click()
  await page.getByText('Draft', { exact: true }).waitFor()
  assert.is(await page.getByLabel('Alias', { exact: true }).inputValue(), '')
  assert.match(await page.getByLabel('Name', { exact: true }).inputValue(), / \(copy\)$/)
  assert.is(await page.getByLabel('From', { exact: true }).inputValue(), 'Shop <shop@here.example>')
})

test('an audience is made, filled from a file, and a part of it counted while it is chosen', async () => {
  await goTo('/audiences?add=1')
  await dialog().getByLabel('Name').fill('Customers')
  await dialog().getByRole('button', { name: 'Create audience' }).click()
  await page.getByRole('heading', { name: 'No contacts yet' }).waitFor()
  await button('Import CSV').click()
  await dialog()
    .getByLabel('CSV file')
    .setInputFiles({
      name: 'contacts.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(
        'email,first_name,city,note\none@there.example,One,Vienna,x\ntwo@there.example,Two,Graz,y\nnobody,Three,,\n',
      ),
    })
  await dialog().getByText('one@there.example · two@there.example · nobody').waitFor()
  const useOf = (column: string) => dialog().getByLabel(`Import the column “${column}” as`)
  assert.is(await useOf('city').inputValue(), 'property:city')
  await useOf('note').selectOption('Leave out')
  await useOf('email').selectOption('Leave out')
  await dialog().getByText('Choose the column with the email addresses.').waitFor()
  assert.is(await dialog().getByRole('button', { name: 'Import contacts' }).isEnabled(), false)
  await useOf('email').selectOption('Email address')
  await dialog().getByRole('button', { name: 'Import contacts' }).click()
  await dialog().getByText('3 rows read.').waitFor()
  await dialog().getByText('Row 4').waitFor()
  await dialog().getByRole('button', { name: 'Close' }).last().click()
  await rowOf('one@there.example').getByRole('button', { name: 'Edit' }).click()
  assert.is(await dialog().getByLabel('Properties').inputValue(), 'city: Vienna')
  await dialog().getByLabel('Properties').fill('plan: pro')
  await dialog().getByRole('button', { name: 'Save contact' }).click()
  await page.getByText('Contact saved.').waitFor()
  await rowOf('one@there.example').getByRole('button', { name: 'Edit' }).click()
  assert.is(await dialog().getByLabel('Properties').inputValue(), 'plan: pro')
  await dialog().getByRole('button', { name: 'Close' }).click()
  await rowOf('two@there.example').getByRole('button', { name: 'Edit' }).click()
  await leaveEverything('two@there.example')
  await dialog().getByLabel('First name').fill('Second')
  await dialog().getByRole('button', { name: 'Save contact' }).click()
  await rowOf('two@there.example').getByText('Second').waitFor()
  await rowOf('two@there.example').getByText('Unsubscribed').waitFor()
  await page.getByRole('tab', { name: 'Segments' }).click()
  await button('Create segment').click()
  await dialog().getByLabel('Name').fill('In Graz')
  await dialog().getByLabel('Field of condition 1').selectOption({ label: 'city' })
  await dialog().getByLabel('Value of condition 1').fill('graz')
  await dialog().getByText('1 contact matches.').waitFor()
  await dialog().getByRole('button', { name: 'Create segment' }).click()
  await rowOf('In Graz').getByText('city is “graz”').waitFor()
})

test('a broadcast is written, seen with a reader’s values, tried, and sent to everybody', async () => {
  await goTo(`/broadcasts/${scene.ids.broadcast}`)
  const frame = page.frameLocator('iframe.letter')
  await frame.getByText('Hello ').first().waitFor()
  await page.getByLabel('Preview as').selectOption('ben@there.example')
  await page
    .getByLabel('HTML', { exact: true })
    .fill('<p>Dear {{first_name}} of {{city}}, {{Kunden-Nr.|no customer}}</p> {{unsubscribe_url}}')
  await frame.getByText('Dear Ben of Graz, 17').waitFor()
  await page.getByText(/^Saved \d\d:\d\d/).waitFor()
  await button('Send test email').click()
  await dialog().getByLabel('To').fill('tester@there.example')
  await dialog().getByRole('button', { name: 'Send test email' }).click()
  await page.getByText('The test email was sent.').waitFor()
  await button('Review and send …').click()
  await dialog().getByText('3 people will get it').waitFor()
  await dialog().getByRole('button', { name: 'Send to 3 people' }).click()
  await button('Undo').waitFor()
  scene.mailhorn.clock.advance(30_000)
  await page.locator('.page-head').getByText('Sent', { exact: true }).waitFor()
  const got = () =>
    scene.mx.messages.filter(({ data }) => /Lamps for long/.test(`${data}`)).flatMap(({ rcptTo }) => rcptTo)
  await page.getByText('View emails').click()
  await page.getByText(/^3 results/).waitFor()
  await until(async () => got().length === 4 || undefined)
  assert.equal(
    got().sort(),
    ['ann', 'ben', 'cleo', 'tester'].map(name => `${name}@there.example`),
  )
})

test('a draft for a segment that has been deleted says so, and goes to others', async () => {
  const { mailhorn, ids } = scene
  const session = await mailhorn.signIn()
  const call = async (method: string, path: string, body?: object) =>
    (await mailhorn.call(method, path, { session, ...(body && { body }) })).body
  const segments = `/audiences/${ids.audience}/segments`
  const filters = [{ field: 'email', op: 'exists' }]
  const segment = await call('POST', segments, { name: 'Gone', filters })
  const words = { from: 'Ann <ann@here.example>', subject: 'Lamps', text: 'x' }
  const draft = await call('POST', '/broadcasts', { segment_id: segment.id, ...words })
  await call('DELETE', `${segments}/${segment.id}`)
  await goTo(`/broadcasts/${draft.id}`)
  await page.getByLabel('Subject', { exact: true }).fill('Lamps again')
  await page.getByText('Segment not found').waitFor()
  await page.getByLabel('Segment', { exact: true }).selectOption('All contacts')
  await page.getByText(/^Saved \d\d:\d\d/).waitFor()
  const { segment_id, subject } = await call('GET', `/broadcasts/${draft.id}`)
  assert.equal([segment_id, subject], [null, 'Lamps again'])
})

test('received mail is read without its scripts, and answered in its thread', async () => {
  await goTo('/inbox')
  await page.getByRole('link', { name: 'Where is my <script>alert(1)</script> lamp?' }).click()
  await page.frameLocator('iframe.letter').getByText('Hello, where is my lamp?').waitFor()
  await page.getByText('Is the server authorized to send for the domain?').waitFor()
  await button('Reply').click()
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('On its way.')
  await button('Send reply').click()
  await page.getByText('Your reply was sent.').waitFor()
  const conversation = page.getByRole('region', { name: 'Conversation' })
  await conversation.getByText('orders@shop.example').first().waitFor()
  await until(() => scene.mx.messages.some(({ headers }) => /^Subject: Re: Where/m.test(headers)))
  const answer = scene.mx.messages.find(({ headers }) => /^Subject: Re: Where/m.test(headers))!
  assert.match(answer.headers, 'In-Reply-To: <where@there.example>')
  assert.equal(answer.rcptTo, ['ann@there.example'])
})

/** Marks that turn the direction of writing, and texts that are written from right to left. */
const TURNED = { subject: 'שלום עולם!', name: 'דנה \u202eכהן', file: 'invoice \u202efdp.exe' }

test('texts from right to left stand apart, and turn nothing beside them round', async () => {
  const encoded = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
  await sendMail(scene.mailhorn.app.inboundAddress!, {
    from: 'dana@there.example',
    to: ['orders@shop.example'],
    data: [
      `From: ${encoded(TURNED.name)} <dana@there.example>`,
      `To: ${encoded(TURNED.name)} <orders@shop.example>`,
      `Subject: ${encoded(TURNED.subject)}`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from(TURNED.subject).toString('base64'),
      '--b',
      `Content-Type: application/pdf; name="${encoded(TURNED.file)}"`,
      '',
      'x',
      '--b--',
      '',
    ].join('\r\n'),
  })
  await goTo('/inbox')
  const row = rowOf(TURNED.subject)
  const subject = row.locator('bdi').filter({ hasText: TURNED.subject })
  const clip = await row.locator('svg').boundingBox()
  const { x } = (await subject.boundingBox())!
  assert.ok(clip!.x + clip!.width <= x, 'the clip stands before the subject')
  await row.locator('[dir=auto]').filter({ hasText: 'dana@there.example' }).waitFor()
  await row.getByRole('link').first().click()
  await page.getByRole('heading', { name: TURNED.subject }).locator('bdi').waitFor()
  assert.is(await page.locator('.letter-text').getAttribute('dir'), 'auto')
  assert.is(await page.locator('dd bdi').filter({ hasText: 'orders@shop.example' }).count(), 1)
  await page.getByRole('tab', { name: 'Attachments (1)' }).click()
  await page.locator('bdi').filter({ hasText: 'fdp.exe' }).waitFor()
})

for (const path of ['/emails', '/broadcasts', '/templates'])
  test(`names and subjects in the list ${path} stand apart from what is beside them`, async () => {
    await goTo(path)
    await page.locator('td a [dir=auto]').first().waitFor()
  })

test('a program is told of a test, and of what it missed once more', async () => {
  await goTo(`/webhooks/${scene.ids.webhook}`)
  await button('Send test event').click()
  await dialog().getByRole('button', { name: 'Send test event' }).click()
  await dialog().getByText('Delivered (200)').waitFor()
  await dialog().getByText('thank you').waitFor()
  await dialog().getByRole('button', { name: 'Close', exact: true }).last().click()
  const told = page.locator('details').filter({ has: page.getByText('Test', { exact: true }) })
  await told.getByText('Delivered (200)').waitFor()
  await told.locator('summary').click()
  await told.getByRole('region', { name: 'Response' }).getByText('thank you').waitFor()
  await told.getByRole('region', { name: 'Request' }).getByText('"type": "email.delivered"').waitFor()
  await told.getByRole('button', { name: 'Resend event' }).click()
  await page.getByText('The event is being resent.').waitFor()
  await page.getByRole('checkbox', { name: 'Opened' }).check()
  await button('Save events').click()
  await page.getByText('Webhook saved.', { exact: true }).waitFor()
  await goTo('/webhooks?add=1')
  await dialog().getByLabel('Endpoint URL').fill('https://hooks.example.test/other')
  await dialog().getByRole('button', { name: 'Create webhook' }).click()
  await dialog().getByText('whsec_').waitFor()
  await dialog().getByRole('button', { name: 'I have saved it' }).click()
  await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor()
  await page.getByRole('switch', { name: 'Standard Webhooks signatures' }).check()
  await page.getByText('Webhook saved.', { exact: true }).waitFor()
  await page.getByRole('checkbox', { name: 'shop.example', exact: true }).check()
  await button('Save events').click()
  await page.getByText('Only events about these domains are sent').waitFor()
})

test('addresses are suppressed, found, and taken off the list', async () => {
  await goTo('/suppressions')
  await button('Add addresses').click()
  await dialog().getByLabel('Addresses').fill('one@there.example\ntwo@there.example, three@there.example')
  await dialog().getByRole('button', { name: 'Add 3 addresses' }).click()
  await dialog().waitFor({ state: 'detached' })
  await page.getByLabel('Search addresses').fill('two@')
  await page.waitForURL(/q=two/)
  await button('Remove two@there.example from the suppression list').click()
  await dialog().getByRole('button', { name: 'Remove from suppression list' }).click()
  await page.getByRole('heading', { name: 'No results' }).waitFor()
})

test('suppressions are imported from a file, with the rows that were rejected, and exported', async () => {
  await goTo('/suppressions')
  await button('Import').click()
  const buffer = Buffer.from('email,reason\nfiled@there.example,bounce\nno address,bounce\n')
  await dialog()
    .getByLabel('CSV or JSON file')
    .setInputFiles({ name: 'gone.csv', mimeType: 'text/csv', buffer })
  await dialog().getByRole('button', { name: 'Import suppressions' }).click()
  await dialog().getByText('2 rows read.').waitFor()
  await dialog().getByText('1 added, 0 suppressed already, 1 rejected').waitFor()
  await dialog().getByText('Row 3').waitFor()
  await dialog().locator('.dialog-acts').getByRole('button', { name: 'Close' }).click()
  await rowOf('filed@there.example').waitFor()
  await button('Export').click()
  await dialog().getByLabel('Format').selectOption('json')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog().getByRole('link', { name: 'Export' }).click(),
  ])
  const { data } = JSON.parse(readFileSync(await download.path(), 'utf8'))
  assert.ok(
    data.some(
      ({ email, reason }: Record<string, string>) => email === 'filed@there.example' && reason === 'bounce',
    ),
  )
  await dialog().locator('.dialog-acts').getByRole('button', { name: 'Close' }).click()
})

test('a key is made for one domain, shown once, and deleted', async () => {
  await goTo('/keys?add=1')
  await dialog().getByLabel('Name').fill('For the shop')
  await dialog().getByLabel('Domain').selectOption({ label: 'Only shop.example' })
  await dialog().getByRole('button', { name: 'Create API key' }).click()
  await dialog().getByText('is shown only once').waitFor()
  await button('I have saved it').click()
  await rowOf('For the shop').getByText('shop.example').waitFor()
  await button('Delete For the shop').click()
  await dialog().getByRole('button', { name: 'Delete API key' }).click()
  await rowOf('For the shop').waitFor({ state: 'detached' })
})

test('an access token is created with scopes, shown once, and revoked', async () => {
  await goTo('/keys')
  await button('Create access token').click()
  await dialog().getByLabel('Name').fill('Nightly job')
  await dialog().getByRole('button', { name: 'Create access token' }).click()
  await dialog().getByText('Fill in “Scopes”.').first().waitFor()
  await dialog().getByTitle('contacts:write').click()
  await dialog().getByTitle('domains:read').click()
  await dialog().getByLabel('Expires after').selectOption({ label: '30 days' })
  await dialog().getByLabel('Networks').fill('192.0.2.0/24')
  await dialog().getByRole('button', { name: 'Create access token' }).click()
  await dialog().getByText('is shown only once').waitFor()
  await dialog().getByRole('button', { name: 'Node' }).click()
  await dialog().getByText('await resend.domains.list()').waitFor()
  await button('I have saved it').click()
  await rowOf('Nightly job').getByText('contacts:write, domains:read').waitFor()
  await rowOf('Nightly job').getByText('192.0.2.0/24').waitFor()
  await button('Revoke Nightly job').click()
  await dialog().getByRole('button', { name: 'Revoke access token' }).click()
  await rowOf('Nightly job').waitFor({ state: 'detached' })
})

test('a domain says what is wrong with its records, and its settings are kept', async () => {
  await goTo(`/domains/${scene.ids.pending}`)
  await button('Verify domain').click()
  await page.getByText('DNS checked. See the status of each record below.').waitFor()
  await page.getByText('Not found').first().waitFor()
  const dmarc = page.locator('.record', { hasText: 'DMARC' })
  await dmarc.getByText(/^Large mailbox providers require a DMARC policy\./).waitFor()
  await dmarc.getByText('v=DMARC1; p=none', { exact: true }).waitFor()
  await page.getByText('Standby key', { exact: true }).first().waitFor()
  assert.not.match(await page.locator('main').innerText(), /active from|may sign/i)
  await page.getByRole('switch', { name: /Click tracking/ }).check()
  await page.getByText('Domain settings saved.', { exact: true }).waitFor()
  await page.reload()
  assert.is(await page.getByRole('switch', { name: /Click tracking/ }).isChecked(), true)
  await page.getByLabel('Tracking subdomain').fill('links')
  await button('Use links.news.shop.example').click()
  await page.getByText('Lets tracked links use your own domain', { exact: false }).waitFor()
  await button('Delete domain').click()
  await dialog().getByRole('button', { name: 'Delete domain' }).click()
  await page.getByRole('heading', { name: 'Domains', exact: true }).waitFor()
  await page.getByRole('link', { name: 'news.shop.example' }).waitFor({ state: 'detached' })
})

test('mail that waits is held, released, tried and dropped', async () => {
  await goTo('/queue')
  const row = rowOf('elsewhere.example')
  await row.getByText('Hold', { exact: true }).waitFor()
  await row.getByRole('button', { name: 'Hold deliveries to elsewhere.example' }).click()
  await dialog().getByRole('button', { name: 'Hold deliveries' }).click()
  await page.getByRole('heading', { name: 'Holds', exact: true }).waitFor()
  await goTo('/')
  await page.locator('summary.status').click()
  await page.getByText('On hold: mail to elsewhere.example.').first().waitFor()
  await page.getByRole('link', { name: 'View holds' }).click()
  await button('Release hold').click()
  await dialog().getByRole('button', { name: 'Release hold' }).click()
  await page.getByRole('heading', { name: 'Holds', exact: true }).waitFor({ state: 'detached' })
  await row.getByRole('button', { name: 'Retry deliveries to elsewhere.example' }).click()
  await dialog().getByRole('button', { name: 'Retry now' }).click()
  await page.getByText(/^Retrying \d/).waitFor()
  await scene.mailhorn.emailWhen(scene.ids.delayed, 'delivery_delayed')
  await row.getByRole('button', { name: 'Cancel deliveries to elsewhere.example' }).click()
  await dialog().getByRole('button', { name: 'Cancel deliveries' }).click()
  await row.waitFor({ state: 'detached' })
})

test('a domain is banned, a wrong name is shown at its field, and the ban is lifted', async () => {
  await goTo('/queue')
  await button('Ban a domain').click()
  await dialog().getByLabel('Domain').fill('not a domain')
  await dialog().getByRole('button', { name: 'Ban domain' }).click()
  await dialog().getByText('must be a domain name').waitFor()
  await dialog().getByLabel('Domain').fill('phishing.example')
  await dialog().getByLabel('Reason').fill('reported by a bank')
  await dialog().getByRole('button', { name: 'Ban domain' }).click()
  await rowOf('phishing.example').getByText('reported by a bank').waitFor()
  await rowOf('phishing.example').getByRole('button', { name: 'Lift ban' }).click()
  await dialog().getByRole('button', { name: 'Lift ban' }).click()
  await page.getByRole('heading', { name: 'Banned domains' }).waitFor({ state: 'detached' })
})

test('an account is made, and its owner sees nothing of the operator’s', async t => {
  await goTo('/accounts')
  await button('Create account').click()
  await dialog().getByLabel('Name').fill('Florist')
  await dialog().getByLabel('Owner’s email address').fill('flora@florist.example')
  await dialog().getByRole('button', { name: 'Create account' }).click()
  const password = await dialog().locator('.secret code').innerText()
  await button('Done').click()
  await rowOf('Florist').waitFor()
  const theirs = await browser.open(scene.mailhorn)
  t.after(theirs.close)
  await theirs.page.goto(`${scene.mailhorn.baseUrl}/dashboard/queue`)
  await theirs.page.getByLabel('Email address').fill('flora@florist.example')
  await theirs.page.getByLabel('Password').fill(password)
  await theirs.page.getByRole('button', { name: 'Sign in' }).click()
  await theirs.page.getByRole('heading', { name: 'You do not have access to this page' }).waitFor()
  assert.is(await theirs.page.getByRole('link', { name: 'Server' }).count(), 0)
  await theirs.page.getByRole('link', { name: 'Emails' }).click()
  await theirs.page.getByRole('heading', { name: 'No emails yet' }).waitFor()
  assert.equal(theirs.faults, [])
})

test('an account is deleted once its name is typed', async () => {
  const body = { name: 'Former shop', owner_email: 'owner@former.example' }
  const session = await scene.mailhorn.signIn()
  assert.is((await scene.mailhorn.call('POST', '/accounts', { session, body })).status, 201)
  await goTo('/accounts')
  await rowOf('Former shop').getByRole('button', { name: 'Delete' }).click()
  const act = dialog().getByRole('button', { name: 'Delete account' })
  assert.ok(await act.isDisabled())
  await dialog().getByRole('textbox').fill('Former shop')
  await act.click()
  await page.getByText('The account was deleted.').waitFor()
  await rowOf('Former shop').waitFor({ state: 'detached' })
})

test('the service is drained and returned to its normal mode, and every page says so', async () => {
  await goTo('/queue')
  await button('Maintenance mode').click()
  await dialog().getByRole('textbox').fill('new machine')
  await dialog().getByRole('button', { name: 'Switch mode' }).click()
  await page.getByText('The service is draining').first().waitFor()
  await goTo('/emails')
  await page.getByText('new machine').waitFor()
  await page.getByText(/^Left: /).waitFor()
  await button('Return to normal mode').click()
  await page.getByText('The service is draining').waitFor({ state: 'detached' })
})

test('the keyboard goes to places and to the search', async () => {
  await goTo('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await page.getByRole('heading', { name: 'Emails', exact: true }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('lamp')
  await page.waitForURL(/search=lamp/)
})

test('the theme is chosen, and stays', async () => {
  await goTo('/settings')
  await openUserMenu(page)
  await button('Dark').click()
  const theme = () => page.evaluate('document.documentElement.dataset.theme')
  assert.is(await theme(), 'dark')
  await page.reload()
  assert.is(await theme(), 'dark')
  await openUserMenu(page)
  await button('Auto').click()
  assert.is(await theme(), 'light')
})

test('an address that leads nowhere says so', async () => {
  await goTo('/no/such/place')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await goTo('/emails/eml_01990000-0000-7000-8000-000000000000')
  await page.getByRole('heading', { name: 'Email not found' }).waitFor()
})

test('a session is ended, the password changed, and whoever signs out sees nothing more', async t => {
  const other = await browser.signIn(scene.mailhorn)
  t.after(other.close)
  await goTo('/settings')
  await button('End session').first().click()
  await dialog().getByRole('button', { name: 'End session' }).click()
  await page.getByText('The session was ended.').waitFor()
  await page.getByLabel('Current password').fill('wrong')
  await page.getByLabel('New password').fill('another long password')
  await button('Change password').click()
  await page.getByText('Current password is incorrect.').waitFor()
  await page.getByLabel('Current password').fill(scene.mailhorn.admin.password)
  await button('Change password').click()
  await page.getByText(/^Password changed\./).waitFor()
  // an act before this one may have left a form unsaved, and then signing out would ask first
  await page.evaluate(
    'Object.keys(localStorage).filter(name => name.includes("draft")).forEach(name => localStorage.removeItem(name))',
  )
  await signOut(page)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await goTo('/emails')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('nothing went wrong in all of this', () => {
  // that a frame has stopped a script of a message is noted on the console
  assert.equal(
    opened.faults.filter(fault => !/Blocked script execution|Content Security Policy/.test(fault)),
    [],
  )
})

test.run()
