import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { startBrowser, type TestBrowser, type WatchedPage } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { addInbound } from '../kit/inbound.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { sendMail } from '../kit/smtp-client.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

/** A part of the browser's global object, which the types of these tests do not have. */
interface Styles {
  getComputedStyle(of: unknown): { fontWeight: string }
}

const test = suite('the inbox of the dashboard')
let mailhorn: Mailhorn
let browser: TestBrowser
let opened: WatchedPage
let page: Page
let session: string
let accountId: string

test.before(async () => {
  buildDashboard()
  mailhorn = await startMailhorn()
  await mailhorn.verifiedDomain('here.example')
  session = await mailhorn.signIn()
  accountId = (await mailhorn.call('GET', '/account', { session })).body.id
  browser = await startBrowser()
  opened = await browser.signIn(mailhorn)
  page = opened.page
})
test.after(async () => {
  await browser.close()
  await mailhorn.close()
})

const button = (name: string) => page.getByRole('button', { name, exact: true })
const goTo = (path: string) => page.goto(`${mailhorn.baseUrl}/dashboard${path}`)
const rowOf = (subject: string) => page.getByRole('row').filter({ hasText: subject })
const checkboxOf = (subject: string) => rowOf(subject).getByRole('checkbox')
const sideLink = () =>
  page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: /^Inbox/ })

/** Replaces all received mail by unread mail with these subjects, the last one on top. */
async function receive(...subjects: string[]): Promise<string[]> {
  const { body } = await mailhorn.call('GET', '/inbound?limit=100', { session })
  const ids = body.data.map(({ id }: { id: string }) => id)
  if (ids.length > 0) await mailhorn.call('POST', '/inbound/batch/remove', { session, body: { ids } })
  return subjects.map(subject => {
    mailhorn.clock.advance(1_000)
    return addInbound(mailhorn, accountId, { data: `Subject: ${subject}\n\nHello.\n`, unread: true }).id
  })
}

async function unreadSubjects(): Promise<string[]> {
  const { body } = await mailhorn.call('GET', '/inbound?unread=true', { session })
  return body.data.map(({ subject }: { subject: string }) => subject)
}

test('an unread message is bold and counted until it is opened, and again when it is marked', async () => {
  await receive('Lamp', 'Chair')
  await goTo('/inbox')
  await page.getByText('2 unread', { exact: true }).first().waitFor()
  await sideLink().getByText('2', { exact: false }).waitFor()
  assert.is(await page.title(), '(2) Inbox · Mailhorn')
  const weight = (subject: string) =>
    rowOf(subject)
      .locator('a.cell')
      .first()
      .evaluate(cell => (globalThis as unknown as Styles).getComputedStyle(cell).fontWeight)
  assert.is(await weight('Lamp'), '700')
  await rowOf('Lamp').getByText('Unread', { exact: true }).waitFor()
  await rowOf('Lamp').getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Lamp' }).waitFor()
  await until(async () => (await unreadSubjects()).join() === 'Chair')
  await sideLink().getByText('1', { exact: false }).waitFor()
  await page.getByRole('link', { name: 'Inbox', exact: true }).first().click()
  await until(async () => (await page.title()) === '(1) Inbox · Mailhorn')
  assert.is(await weight('Lamp'), '500')
  await rowOf('Lamp').getByRole('link').first().click()
  await button('Mark as unread').click()
  await until(async () => (await page.title()) === '(2) Inbox · Mailhorn')
  await rowOf('Lamp').getByText('Unread', { exact: true }).waitFor()
  assert.equal(await unreadSubjects(), ['Chair', 'Lamp'])
})

test('new mail raises the number in the sidebar on any page', async () => {
  await receive('Lamp')
  await goTo('/domains')
  await sideLink().getByText('1', { exact: false }).waitFor()
  const mail = { from: 'ann@there.example', to: 'bob@here.example', data: 'Subject: News\n\nhi\n' }
  await sendMail(mailhorn.app.inboundAddress!, mail)
  await sideLink().getByText('2', { exact: false }).waitFor()
})

test('a range of rows is selected with Shift and marked as read; the filter shows the others', async () => {
  await receive('Alpha', 'Beta', 'Gamma', 'Delta', 'Epsilon')
  await goTo('/inbox')
  await checkboxOf('Delta').check()
  await checkboxOf('Beta').click({ modifiers: ['Shift'] })
  await page.getByText('3 selected').waitFor()
  assert.is(await checkboxOf('Gamma').isChecked(), true)
  await button('Mark as read').click()
  await page.getByText('3 messages marked as read.').waitFor()
  assert.equal(await unreadSubjects(), ['Epsilon', 'Alpha'])
  await page.getByLabel('Read and unread').selectOption('Unread')
  await rowOf('Gamma').waitFor({ state: 'detached' })
  await rowOf('Alpha').waitFor()
  await page.getByLabel('Read and unread').selectOption('Read')
  await rowOf('Gamma').waitFor()
  await page.getByLabel('Select all on this page').check()
  await button('Mark as unread').click()
  await page.getByText('3 messages marked as unread.').waitFor()
  assert.equal(await unreadSubjects(), ['Epsilon', 'Delta', 'Gamma', 'Beta', 'Alpha'])
})

test('rows are selected by the keyboard, and deleted after a question', async () => {
  await receive('Alpha', 'Beta', 'Gamma', 'Delta')
  await goTo('/inbox')
  await rowOf('Delta').waitFor()
  for (const key of ['j', 'j', 'x', 'j', 'X']) await page.keyboard.press(key)
  await page.getByText('2 selected').waitFor()
  await button('Delete').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('for all users of the account', { exact: false }).waitFor()
  await dialog.getByRole('button', { name: 'Delete 2 messages' }).click()
  await page.getByText('2 messages deleted.').waitFor()
  await rowOf('Gamma').waitFor({ state: 'detached' })
  assert.equal(await unreadSubjects(), ['Delta', 'Alpha'])
  await until(async () => (await page.title()) === '(2) Inbox · Mailhorn')
})

/** Takes in mail of a conversation. @returns the id of the last message, once it is listed */
async function converse(...lines: string[][]): Promise<string> {
  for (const [i, more] of lines.entries())
    await sendMail(mailhorn.app.inboundAddress!, {
      ...{ from: 'ann@there.example', to: 'shop@here.example' },
      data: ['From: Ann <ann@there.example>', ...more, '', `Text ${i + 1}`, ''].join('\n'),
    })
  return until(async () => {
    const { body } = await mailhorn.call('GET', '/inbound', { session })
    return body.data.length === lines.length ? (body.data[0].id as string) : undefined
  })
}

test('the messages of a conversation are counted in the list and open in place', async () => {
  await receive()
  await converse(
    ['Subject: Lamp', 'Message-ID: <1@there.example>', 'To: shop@here.example'],
    ['Subject: Re: Lamp', 'References: <1@there.example>', 'To: shop@here.example'],
  )
  await goTo('/inbox')
  await rowOf('Re: Lamp').getByText('(2)').waitFor()
  await rowOf('Re: Lamp').getByRole('link').first().click()
  const conversation = page.getByRole('region', { name: 'Conversation' })
  await conversation.getByText('shown below').waitFor()
  assert.is(await conversation.getByRole('listitem').count(), 2)
  await conversation.getByRole('listitem').first().locator('summary').click()
  await conversation.getByText('Text 1').waitFor()
  await conversation.getByRole('link', { name: 'Open message' }).click()
  await page.getByRole('heading', { name: 'Lamp', exact: true }).waitFor()
})

test('a reply to all is written below the message, quotes it, and joins the conversation', async () => {
  await receive()
  const id = await converse([
    ...['Subject: Chair', 'Message-ID: <chair@there.example>', 'References: <old@there.example>'],
    ...['To: Shop <shop@here.example>, ben@simulator.test', 'Cc: "Smith, Cy" <cy@simulator.test>'],
    'Reply-To: ann@simulator.test',
  ])
  await goTo(`/inbox/${id}`)
  await button('Reply all').click()
  const form = page.locator('form', { has: page.getByRole('region', { name: 'Reply to all' }) })
  const field = (name: string) => form.getByLabel(name, { exact: true })
  assert.is(await field('From').inputValue(), 'shop@here.example')
  assert.is(await field('To').inputValue(), 'ann@simulator.test')
  assert.is(await field('Cc').inputValue(), 'ben@simulator.test, "Smith, Cy" <cy@simulator.test>')
  assert.is(await field('Subject').inputValue(), 'Re: Chair')
  assert.match(await field('Message').inputValue(), /^\n\nOn .* wrote:\n> Text 1$/)
  await page.keyboard.type('It is blue.')
  await button('Send reply').click()
  await page.getByText('Your reply was sent.').waitFor()
  await form.waitFor({ state: 'detached' })
  const sent = page.getByRole('region', { name: 'Conversation' }).getByRole('listitem').nth(1)
  await sent.locator('summary').click()
  await sent.getByText('It is blue.').waitFor()
  await sent.getByRole('link', { name: 'Open email' }).click()
  await page.waitForURL(/\/emails\/eml_/)
  const { headers, text, cc } = await mailhorn.email(new URL(page.url()).pathname.split('/').at(-1)!)
  assert.equal(headers, {
    'In-Reply-To': '<chair@there.example>',
    References: '<old@there.example> <chair@there.example>',
  })
  assert.match(text, /^It is blue\.\n\nOn /)
  assert.equal(cc, ['ben@simulator.test', '"Smith, Cy" <cy@simulator.test>'])
})

test('a reply from a domain that is not verified says what to do, and is kept when the form is closed', async () => {
  const [id] = await receive('Table')
  await goTo(`/inbox/${id}`)
  await button('Reply').click()
  await page.getByText('No domain that received this message is verified.').waitFor()
  const message = page.getByRole('textbox', { name: 'Message', exact: true })
  await message.fill('Later.')
  await button('Close').click()
  await message.waitFor({ state: 'detached' })
  await button('Reply').click()
  assert.is(await message.inputValue(), 'Later.')
})

test('nothing of it is complained of by the browser', async () => {
  assert.equal(opened.faults, [])
})

test('while the service is read-only, a message can be read, and stays unread', async () => {
  await receive('For later')
  const switchTo = (mode: string) => mailhorn.call('PUT', '/installation/mode', { session, body: { mode } })
  await switchTo('read-only')
  await goTo('/inbox')
  const refusal = page.waitForResponse(response => response.request().method() === 'PATCH')
  await rowOf('For later').getByRole('link').first().click()
  assert.is((await refusal).status(), 503)
  await page.getByRole('heading', { name: 'For later' }).waitFor()
  const alerts = await page.getByRole('alert').allTextContents()
  assert.equal(
    alerts.filter(text => !text.endsWith('Return to normal mode')),
    [],
  )
  await switchTo('normal')
  assert.equal(await unreadSubjects(), ['For later'])
})

test.run()
