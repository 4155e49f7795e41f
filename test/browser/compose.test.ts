import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { axeFindings, sideways, startBrowser, type TestBrowser, type WatchedPage } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type FakeMx, startFakeMx } from '../kit/fake-mx.ts'
import { keyboardOf } from '../kit/hand.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { tempFolder } from '../kit/store.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('writing and sending one email in the dashboard')
const WORLD = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
let mx: FakeMx
let mailhorn: Mailhorn
let browser: TestBrowser
let opened: WatchedPage
let page: Page

test.before(async () => {
  buildDashboard()
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: WORLD, mxPort: mx.port })
  await mailhorn.verifiedDomain('here.example')
  await mailhorn.verifiedDomain('news.here.example')
  browser = await startBrowser()
  opened = await browser.signIn(mailhorn)
  page = opened.page
})
test.after(async () => {
  await browser.close()
  await mailhorn.close()
  await mx.close()
})

const button = (name: string) => page.getByRole('button', { name, exact: true })
const field = (name: string) => page.getByLabel(name, { exact: true })
const open = () => page.goto(`${mailhorn.baseUrl}/dashboard/emails/compose`)
const messageAbout = (subject: string) =>
  until(() => mx.messages.find(({ headers }) => headers.includes(`Subject: ${subject}`)))
const shownEmail = async () => {
  await page.waitForURL(/\/emails\/eml_/)
  const id = new URL(page.url()).pathname.split('/').at(-1)!
  return (await mailhorn.call('GET', `/emails/${id}`, { session: await mailhorn.signIn() })).body
}
const write = async (to: string, subject: string) => {
  await open()
  await field('To').fill(to)
  await field('Subject').fill(subject)
  await field('Message').fill('Good day.')
}
const textFile = (name: string, content: string | Buffer) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(content),
})

test('Compose, Emails: text with names, Cc, Bcc, Reply-To and files goes out as it was written', async () => {
  await page.goto(`${mailhorn.baseUrl}/dashboard/emails`)
  await page.getByRole('link', { name: 'Compose' }).click()
  await field('Name').fill('Hats, "R" Us')
  await field('Address').fill('shop')
  await field('Domain').selectOption('news.here.example')
  await field('To').fill('"Smith, Ann" <ann@there.example>, ben@there.example')
  await field('Cc').fill('cy@there.example')
  await field('Bcc').fill('dee@there.example')
  await field('Reply-To').fill('help@here.example')
  await field('Subject').fill('With everything')
  await field('Message').fill('Good day, Ann.')
  await field('Attachments').setInputFiles([textFile('a.txt', 'first'), textFile('gone.txt', 'x')])
  await field('Attachments').setInputFiles([textFile('b.txt', 'second')])
  await button('Remove gone.txt').click()
  await page.getByText('2 files, 11 B').waitFor()
  await button('Send email').click()
  await page.getByText('The email was sent.').waitFor()
  const email = await shownEmail()
  assert.is(email.text, 'Good day, Ann.')
  assert.equal(email.reply_to, ['help@here.example'])
  assert.is(email.html, null)
  await mailhorn.emailWhen(email.id, 'delivered')
  const { headers, data, rcptTo } = await messageAbout('With everything')
  assert.match(headers, String.raw`From: "Hats, \"R\" Us" <shop@news.here.example>`)
  assert.match(headers, '"Smith, Ann" <ann@there.example>')
  assert.match(headers, /^Cc: cy@there\.example/m)
  assert.not.match(headers, /dee@/)
  assert.ok(rcptTo.length > 0)
  assert.equal(
    email.attachments.map(({ filename }: { filename: string }) => filename),
    ['a.txt', 'b.txt'],
  )
  assert.match(`${data}`, Buffer.from('second').toString('base64'))
})

test('Compose, errors: each is shown at its field, and names the address', async () => {
  await write('ann@there.example, nobody', 'Faulty')
  await field('Cc').fill('x@y')
  await button('Send email').click()
  await page.getByText('The address “nobody” has no "@".').waitFor()
  assert.is(await field('To').getAttribute('aria-invalid'), 'true')
  await field('To').fill('ann@there.example')
  await button('Send email').click()
  await page.getByText('The address has an invalid domain.').waitFor()
  assert.is(await field('Cc').getAttribute('aria-invalid'), 'true')
  await field('Cc').fill('')
  await field('Message').fill('')
  await button('Send email').click()
  await page.getByText('Fill in “Message”.').waitFor()
  await field('Address').fill('two@signs')
  await field('Message').fill('Good day.')
  await button('Send email').click()
  await until(async () => (await field('Address').getAttribute('aria-invalid')) === 'true' || undefined)
  assert.is(await page.getByText('The email was not sent.').count(), 0)
  await button('Discard changes').click()
})

test('Compose, HTML: the preview is beside it, and the email has both parts', async () => {
  await open()
  await field('To').fill('ann@there.example')
  await field('Subject').fill('In colour')
  await button('HTML').click()
  await field('HTML').fill('<h1 style="color:red">Good day</h1>')
  await page.frameLocator('iframe.letter').getByRole('heading', { name: 'Good day' }).waitFor()
  await button('Send email').click()
  const email = await shownEmail()
  assert.is(email.html, '<h1 style="color:red">Good day</h1>')
  const { data } = await messageAbout('In colour')
  assert.match(`${data}`, /^Content-Type: text\/plain/m)
})

test('Compose, schedule: the email waits for the time in the time zone of the browser', async () => {
  await write('ann@there.example', 'Later')
  await button('At a time').click()
  const day = new Date(mailhorn.clock.now() + 2 * 86_400_000).toISOString().slice(0, 10)
  await page.getByLabel(/^Send at \(/).fill(`${day}T10:30`)
  await button('Schedule email').click()
  await page.getByText('The email is scheduled.').waitFor()
  const { status, scheduled_at } = await shownEmail()
  const zone = await page.evaluate('new Date().getTimezoneOffset()')
  assert.is(status, 'scheduled')
  assert.is(Date.parse(scheduled_at), Date.parse(`${day}T10:30Z`) + Number(zone) * 60_000)
})

test('Compose, template: its variables are filled in and typed, and a missing one is named at its field', async () => {
  const { body: template } = await mailhorn.call('POST', '/templates', {
    session: await mailhorn.signIn(),
    body: {
      name: 'Order sent',
      subject: 'Order {{order.number}}',
      html: '<p>Dear {{name|customer}}, {{order.count}} things of {{order.number}}.</p>',
      variables: [{ key: 'order.count', type: 'number' }],
    },
  })
  await open()
  await field('To').fill('ann@there.example')
  await button('Template').click()
  await button('Send email').click()
  await page.getByText('Choose a template.', { exact: true }).waitFor()
  await field('Template').selectOption('Order sent')
  await field('order.count').fill('many')
  await button('Send email').click()
  await page.getByText(/must be a number/).waitFor()
  assert.is(await field('order.count').getAttribute('aria-invalid'), 'true')
  await field('order.count').fill('3')
  await button('Send email').click()
  await page.getByText(/has no value and no fallback/).waitFor()
  assert.is(await field('order.number').getAttribute('aria-invalid'), 'true')
  assert.is(await page.getByText('The email was not sent.').count(), 0)
  await field('order.number').fill('1042')
  await page.frameLocator('iframe.letter').getByText('Dear customer, 3 things of 1042.').waitFor()
  await button('Send email').click()
  const email = await shownEmail()
  assert.is(email.template_id, template.id)
  assert.is(email.subject, 'Order 1042')
  assert.is(email.html, '<p>Dear customer, 3 things of 1042.</p>')
})

test('Compose, idempotency: after a lost reply, a second try sends nothing twice', async () => {
  await write('ann@there.example', 'Only once')
  const keys: (string | undefined)[] = []
  await page.route('**/emails', async route => {
    if (route.request().method() !== 'POST') return route.continue()
    keys.push(route.request().headers()['idempotency-key'])
    if (keys.length > 1) return route.continue()
    await route.fetch()
    await route.abort()
  })
  await button('Send email').click()
  await page.getByText('It is not known whether the email was sent.').waitFor()
  await button('Send email').dblclick()
  const { id } = await shownEmail()
  await page.unroute('**/emails')
  assert.is(keys.length, 2)
  assert.ok(keys[0])
  assert.is(keys[0], keys[1])
  await mailhorn.emailWhen(id, 'delivered')
  const { body } = await mailhorn.call('GET', '/emails?q=Only+once', { session: await mailhorn.signIn() })
  assert.is(body.total, 1)
  await write('ann@there.example', 'Only once')
  await button('Send email').click()
  assert.is.not((await shownEmail()).id, id, 'an email that is written again is another email')
})

test('Compose, files: warnings of the API are shown, and a file that is lost by a reload is named', async () => {
  await write('ann@there.example', 'Old text')
  await field('Attachments').setInputFiles([textFile('café.txt', Buffer.from('café', 'latin1'))])
  await page.getByRole('link', { name: 'Emails', exact: true }).first().click()
  await page.getByRole('link', { name: 'Compose' }).click()
  await page.getByText('Unsaved changes restored.').waitFor()
  await button('Send email').click()
  await page.getByText('“café.txt” is not UTF-8 text.').waitFor()
  assert.is((await shownEmail()).attachments.length, 1)

  await write('ann@there.example', 'Lost file')
  await field('Attachments').setInputFiles([textFile('kept.txt', 'x')])
  await page.getByText('1 file, 1 B').waitFor()
  await page.reload()
  await page.getByText('The browser no longer has “kept.txt”').waitFor()
  await button('Send email').click()
  await page.getByText('The browser no longer has “kept.txt”').waitFor()
  assert.match(page.url(), /compose$/)
  await button('Remove kept.txt').click()
  await button('Discard changes').first().click()
})

test('Compose, files: more than fits is said before it is sent', async t => {
  const { path: folder } = await t.using(tempFolder())
  await open()
  await page.getByText('Up to 100 files, together 30 MB.').waitFor()
  // files on the disk, since others go through the protocol of the browser
  for (const name of ['1.bin', '2.bin']) {
    const path = join(folder, name)
    writeFileSync(path, '')
    truncateSync(path, 16_000_000)
    await field('Attachments').setInputFiles(path)
  }
  await page.getByText('The files are too large: 32.0 MB together.').waitFor()
  await button('Remove 2.bin').click()
  await page.getByText('The files are too large').waitFor({ state: 'detached' })
  await button('Discard changes').click()
})

test('Compose, no verified domain: the page says what to do, and sends to the simulator by the keyboard on a phone', async t => {
  const fresh = await t.using(startMailhorn())
  const viewport = { width: 390, height: 844 }
  const { page: phone, faults, close } = await browser.signIn(fresh, '/emails/compose', { viewport })
  t.after(close)
  await phone.getByText('You have no verified domain yet.').waitFor()
  const link = phone.getByRole('link', { name: 'Add a domain' })
  assert.match((await link.getAttribute('href'))!, /\/domains\?add=1$/)
  assert.equal(await axeFindings(phone), [])
  assert.is(await sideways(phone), 0)
  const hand = keyboardOf(phone)
  await hand.write(phone.getByLabel('To', { exact: true }), 'delivered@simulator.test')
  await hand.write(phone.getByLabel('Subject', { exact: true }), 'By keyboard')
  await hand.press(phone.getByRole('button', { name: 'HTML', exact: true }))
  await hand.write(phone.getByLabel('HTML', { exact: true }), '<p>Good day</p>')
  await phone.frameLocator('iframe.letter').getByText('Good day').waitFor()
  assert.equal(await axeFindings(phone), [])
  assert.is(await sideways(phone), 0)
  await hand.press(phone.getByRole('button', { name: 'Send email', exact: true }))
  await phone.getByText('accepted the message.').first().waitFor()
  assert.equal(
    faults.filter(fault => !/dashboard\/preview/.test(fault)),
    [],
  )
})

test('Compose, palette: it is found by what it does', async () => {
  await page.goto(`${mailhorn.baseUrl}/dashboard/`)
  await page.locator('main h1').waitFor()
  await page.keyboard.press('Control+K')
  await page.getByRole('combobox').fill('compose')
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Compose', level: 1 }).waitFor()
})

test.run()
