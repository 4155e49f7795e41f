import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { signOut, startBrowser, type TestBrowser, type WatchedPage } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type FakeMx, startFakeMx } from '../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('work that is not saved: sent as it is seen, and never lost')
const WORLD = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
/** Time in which sending can be undone. */
const UNDO_MS = 30_000
const RESTORED = 'Unsaved changes restored.'
let mx: FakeMx
let mailhorn: Mailhorn
let browser: TestBrowser
let opened: WatchedPage
let page: Page
let audience: string

test.before(async () => {
  buildDashboard()
  mx = await startFakeMx({ host: '127.0.0.2' })
  const env = { MAILHORN_TRACKING_BASE_URL: 'https://links.here.example' }
  mailhorn = await startMailhorn({ zone: WORLD, mxPort: mx.port, env })
  await mailhorn.verifiedDomain('here.example')
  audience = (await make('/audiences', { name: 'Readers' })).id
  await make(`/audiences/${audience}/contacts`, { email: 'ann@there.example' })
  browser = await startBrowser()
  opened = await browser.signIn(mailhorn)
  page = opened.page
})
test.after(async () => {
  await browser.close()
  await mailhorn.close()
  await mx.close()
})

const make = async (path: string, body: object, method = 'POST') => {
  const answer = await mailhorn.call(method, path, { session: await mailhorn.signIn(), body })
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
const read = async (path: string) =>
  (await mailhorn.call('GET', path, { session: await mailhorn.signIn() })).body
const draftOf = (subject: string, over: object = {}) =>
  make('/broadcasts', {
    audience_id: audience,
    from: 'news@here.example',
    subject,
    html: '<p>As it was saved {{unsubscribe_url}}</p>',
    ...over,
  })
const statusOf = async (id: string) => (await read(`/broadcasts/${id}`)).status
const on = (of: Page) => ({
  button: (name: string | RegExp) => of.getByRole('button', { name, exact: true }),
  dialog: () => of.getByRole('dialog').last(),
  html: () => of.getByLabel('HTML', { exact: true }),
  place: (name: string) =>
    of.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name, exact: true }),
  goTo: (path: string) => of.goto(`${mailhorn.baseUrl}/dashboard${path}`),
})
/** A page that has been painted is one whose fields hold what was restored. */
const requireRestored = async (of: Page, label: string, text: string) => {
  await of.getByText(RESTORED).waitFor()
  assert.is(await of.getByLabel(label, { exact: true }).inputValue(), text)
}

test('a broadcast that is edited and not saved is sent as it is on the screen', async () => {
  const { button, dialog, html, goTo } = on(page)
  const { id } = await draftOf('Edited and sent')
  await goTo(`/broadcasts/${id}`)
  await html().fill('<h1>THE REAL TEXT</h1> {{unsubscribe_url}}')
  await page.getByText('Saving …', { exact: true }).waitFor()
  await button('Review and send …').click()
  await dialog().getByText('1 person will get it').waitFor()
  assert.match((await read(`/broadcasts/${id}`)).html, 'THE REAL TEXT')
  await dialog()
    .getByRole('button', { name: /^Send to/ })
    .click()
  await button('Undo').waitFor()
  mailhorn.clock.advance(UNDO_MS)
  await page.locator('.page-head').getByText('Sent', { exact: true }).waitFor()
  const got = await until(() => mx.messages.find(({ headers }) => /^Subject: Edited and sent/m.test(headers)))
  assert.match(`${got.data}`, 'THE REAL TEXT')
  assert.not.match(`${got.data}`, 'As it was saved')
})

test('a test of a broadcast, too', async () => {
  const { button, dialog, html, goTo } = on(page)
  const { id } = await draftOf('Edited and tried')
  await goTo(`/broadcasts/${id}`)
  await html().fill('<p>TRIED</p> {{unsubscribe_url}}')
  await button('Send test email').click()
  await dialog().getByLabel('To').fill('tester@there.example')
  await dialog().getByRole('button', { name: 'Send test email' }).click()
  await page.getByText('The test email was sent.').waitFor()
  const got = await until(() =>
    mx.messages.find(({ headers }) => /^Subject: Edited and tried/m.test(headers)),
  )
  assert.match(`${got.data}`, 'TRIED')
})

test('where it cannot be saved nothing is sent, and the page says why', async () => {
  const { button, dialog, goTo } = on(page)
  const { id } = await draftOf('Not saved')
  await goTo(`/broadcasts/${id}`)
  await page.getByLabel('From', { exact: true }).fill('no address at all')
  await button('Review and send …').click()
  await page.getByText('Nothing was sent, because the changes could not be saved.').waitFor()
  await page
    .getByText(/The address /)
    .first()
    .waitFor()
  assert.is(await dialog().count(), 0)
  assert.is(await statusOf(id), 'draft')
  await button('Discard changes').first().click()
  assert.is(await page.getByLabel('From', { exact: true }).inputValue(), 'news@here.example')
})

test('the untouched starter text is not sent', async () => {
  const { button, dialog, html, goTo } = on(page)
  await goTo('/broadcasts?add=1')
  await dialog().getByLabel('Subject').fill('Untouched')
  await dialog().getByRole('button', { name: 'Create broadcast' }).click()
  await page.getByRole('heading', { name: 'Untouched', level: 1 }).waitFor()
  await button('Review and send …').click()
  await dialog().getByText('The HTML is still the starter text').waitFor()
  assert.ok(
    await dialog()
      .getByRole('button', { name: /^Send to/ })
      .isDisabled(),
  )
  await page.keyboard.press('Escape')
  await html().fill('<p>Mine. {{unsubscribe_url}}</p>')
  await button('Review and send …').click()
  await dialog().locator('button:enabled', { hasText: 'Send to' }).waitFor()
  assert.is(await dialog().getByText('The HTML is still the starter text').count(), 0)
})

test('tags of other template languages are named as errors, and the broadcast is not sent', async () => {
  const { button, dialog, goTo } = on(page)
  const { id } = await draftOf('Tags', { html: '<p>{{#if a}}x{{/if}} {{unsubscribe_url}}</p>' })
  await goTo(`/broadcasts/${id}`)
  await button('Review and send …').click()
  await dialog().getByText('This broadcast cannot be sent yet:').waitFor()
  for (const tag of ['{{#if a}}', '{{/if}}']) await dialog().getByText(`The html contains ${tag}`).waitFor()
  assert.ok(
    await dialog()
      .getByRole('button', { name: /^Send to/ })
      .isDisabled(),
  )
  assert.is(await dialog().getByText('No contact has').count(), 0)
  await page.keyboard.press('Escape')
})

test('the preview of HTML alone shows the text that is derived from it', async () => {
  const { button, dialog, goTo } = on(page)
  const html = '<h1>Autumn</h1><p>Hello {{first_name|there}}</p>'
  const tab = page.getByRole('tab', { name: 'Text' })
  const text = page.locator('pre.letter-text')
  for (const scheduled_at of [undefined, new Date(Date.now() + 86_400_000).toISOString()]) {
    const { id } = await draftOf('Derived', { html, ...(scheduled_at && { scheduled_at }) })
    await goTo(`/broadcasts/${id}`)
    await tab.click()
    await text.getByText('Hello there').waitFor()
    assert.is(await text.textContent(), 'Autumn\n\nHello there')
  }
  const { id } = await draftOf('Opted out', { html, text: '' })
  await goTo(`/broadcasts/${id}`)
  await tab.click()
  await text.getByText('There is no text part.').waitFor()
  await button('Send test email').click()
  await dialog().getByText('Unsubscribe links in test emails do not work.').waitFor()
  await page.keyboard.press('Escape')
})

test('links that only this machine can open: the dialog says what to set, and sends to the simulator alone', async t => {
  const laboratory = await t.using(startMailhorn())
  await laboratory.verifiedDomain('here.example')
  const call = async (path: string, body: object) =>
    (await laboratory.call('POST', path, { session: await laboratory.signIn(), body })).body
  const { id: audience_id } = await call('/audiences', { name: 'Mixed' })
  await call(`/audiences/${audience_id}/contacts`, { email: 'delivered@simulator.test' })
  const words = { from: 'news@here.example', subject: 'Trial', text: 'x {{unsubscribe_url}}' }
  const { id } = await call('/broadcasts', { audience_id, ...words })
  const { page: trial, close } = await browser.signIn(laboratory, `/broadcasts/${id}`)
  t.after(close)
  const { button, dialog } = on(trial)
  const real = await call(`/audiences/${audience_id}/contacts`, { email: 'ann@there.example' })
  await button('Review and send …').click()
  await dialog().getByText('This broadcast cannot be sent yet:').waitFor()
  await dialog()
    .getByText(/Set http\.base_url to the public https address/)
    .waitFor()
  assert.ok(
    await dialog()
      .getByRole('button', { name: /^Send to/ })
      .isDisabled(),
  )
  await trial.keyboard.press('Escape')
  const session = await laboratory.signIn()
  await laboratory.call('DELETE', `/audiences/${audience_id}/contacts/${real.id}`, { session })
  await button('Review and send …').click()
  await dialog().getByText('1 person will get it').waitFor()
  await dialog()
    .getByRole('button', { name: /^Send to/ })
    .click()
  await button('Undo').waitFor()
  laboratory.clock.advance(UNDO_MS)
  await trial.locator('.page-head').getByText('Sent', { exact: true }).waitFor()
})

test('what another has saved meanwhile is not sent, and not overwritten unasked', async () => {
  const { button, dialog, html, goTo } = on(page)
  const { id } = await draftOf('Two people')
  const changeElsewhere = (text: string) =>
    make(`/broadcasts/${id}`, { html: `<p>${text} {{unsubscribe_url}}</p>` }, 'PATCH')
  await goTo(`/broadcasts/${id}`)
  await button('Review and send …').click()
  await dialog().getByText('1 person will get it').waitFor()
  await changeElsewhere('Of the other.')
  await dialog()
    .getByRole('button', { name: /^Send to/ })
    .click()
  await dialog().getByText('Nothing was sent: this broadcast was changed elsewhere').waitFor()
  assert.is(await statusOf(id), 'draft')
  await page.keyboard.press('Escape')
  await until(async () => (await html().inputValue()).includes('Of the other.') || undefined)

  const conflict = page.getByText(/changed this broadcast at .* while you were editing it\./)
  await changeElsewhere('Once more of the other.')
  await html().fill('<p>Mine. {{unsubscribe_url}}</p>')
  await conflict.waitFor()
  assert.is(await conflict.count(), 1)
  await button('Review and send …').click()
  assert.is(await dialog().count(), 0)
  assert.match((await read(`/broadcasts/${id}`)).html, 'Once more of the other')
  await button('Use the other text').click()
  assert.match(await html().inputValue(), 'Once more of the other')

  await changeElsewhere('The last of the other.')
  await html().fill('<p>Mine, and it stays. {{unsubscribe_url}}</p>')
  await button('Keep my text').click()
  await page.getByText(/^Saved \d\d:\d\d/).waitFor()
  assert.is(await conflict.count(), 0)
  assert.match((await read(`/broadcasts/${id}`)).html, 'Mine, and it stays.')
  assert.is(await statusOf(id), 'draft')
})

test('a broadcast is saved while it is written, and when its page is left', async () => {
  const { html, place, goTo } = on(page)
  const { id } = await draftOf('Saves itself')
  const savedHtml = async () => (await read(`/broadcasts/${id}`)).html
  await goTo(`/broadcasts/${id}`)
  await html().fill('<p>First</p>')
  await until(async () => (await savedHtml()) === '<p>First</p>' || undefined)
  await page.getByText(/^Saved \d\d:\d\d/).waitFor()
  assert.is((await read(`/broadcasts/${id}`)).updated_by, mailhorn.admin.email)
  await html().fill('<p>Second</p>')
  await place('Domains').click()
  await page.getByRole('heading', { name: 'Domains', exact: true }).waitFor()
  await until(async () => (await savedHtml()) === '<p>Second</p>' || undefined)
  await goTo('/broadcasts')
  await page.getByRole('link', { name: 'Saves itself', exact: true }).waitFor()
  assert.is(await page.getByText('has unsaved changes').count(), 0)
})

test('a tab that ends before it could save: the list says so, and the next tab saves it', async t => {
  const { id } = await draftOf('Ended early')
  const first = await page.context().newPage()
  await first.route(/\/broadcasts\/brd_/, route =>
    route.request().method() === 'PATCH' ? route.abort() : route.continue(),
  )
  await on(first).goTo(`/broadcasts/${id}`)
  await on(first).html().fill('<p>In a tab that ends</p>')
  await first.getByText('Not saved: The service cannot be reached.').waitFor()
  await first.close()
  assert.match((await read(`/broadcasts/${id}`)).html, 'As it was saved')
  const second = await page.context().newPage()
  t.after(() => second.close())
  await on(second).goTo('/broadcasts')
  const row = second.getByRole('row').filter({ hasText: 'Ended early' })
  await row.getByText('has unsaved changes').waitFor()
  await row.getByRole('link').first().click()
  await on(second).html().waitFor()
  assert.is(await on(second).html().inputValue(), '<p>In a tab that ends</p>')
  await second.getByText(/^Saved \d\d:\d\d/).waitFor()
  assert.is((await read(`/broadcasts/${id}`)).html, '<p>In a tab that ends</p>')
})

test('a scheduled broadcast shows what is sent, whatever the browser still holds', async t => {
  const { id } = await draftOf('Scheduled elsewhere')
  const first = await page.context().newPage()
  await first.route(/\/broadcasts\/brd_/, route =>
    route.request().method() === 'PATCH' ? route.abort() : route.continue(),
  )
  await on(first).goTo(`/broadcasts/${id}`)
  await on(first).html().fill('<p>Never saved</p>')
  await first.getByText('Not saved: The service cannot be reached.').waitFor()
  await first.close()
  await make(`/broadcasts/${id}/send`, { scheduled_at: new Date(Date.now() + 86_400_000).toISOString() })
  const second = await page.context().newPage()
  t.after(() => second.close())
  await on(second).goTo(`/broadcasts/${id}`)
  await second.getByText('This browser holds changes that will not be sent.').waitFor()
  assert.match(await on(second).html().inputValue(), 'As it was saved')
  await second.frameLocator('iframe.letter').getByText('As it was saved').waitFor()
  await on(second).button('Unschedule to edit').click()
  await second.getByText(/^Saved \d\d:\d\d/).waitFor()
  assert.is((await read(`/broadcasts/${id}`)).html, '<p>Never saved</p>')
})

test('leaving an editor by a link, the back button or a reload keeps what was written', async () => {
  const { button, html, place, goTo } = on(page)
  const { id } = await make('/templates', { name: 'Kept', html: '<p>Saved</p>' })
  await goTo('/templates')
  await page.getByRole('link', { name: 'Kept', exact: true }).click()
  await html().fill('<p>Not saved</p>')
  await place('Domains').click()
  await page.getByRole('heading', { name: 'Domains', exact: true }).waitFor()
  await page.goBack()
  await requireRestored(page, 'HTML', '<p>Not saved</p>')
  await page.goBack()
  await page.getByRole('link', { name: 'Kept', exact: true }).click()
  await requireRestored(page, 'HTML', '<p>Not saved</p>')
  await html().fill('<p>Not saved, and more</p>')
  await page.reload()
  await requireRestored(page, 'HTML', '<p>Not saved, and more</p>')
  await button('Discard changes').click()
  assert.is(await html().inputValue(), '<p>Saved</p>')
  await page.reload()
  await html().waitFor()
  assert.is(await page.getByText(RESTORED).count(), 0)
  assert.is((await read(`/templates/${id}`)).html, '<p>Saved</p>')
})

test('what was saved is no draft any more', async () => {
  const { button, html, goTo } = on(page)
  const { id } = await make('/templates', { name: 'Saved', html: '<p>One</p>' })
  await goTo(`/templates/${id}`)
  await html().fill('<p>Two</p>')
  await button('Save template').click()
  await page.getByText('The previous version was kept.').waitFor()
  await make(`/templates/${id}`, { name: 'Saved', html: '<p>Three</p>' }, 'PUT')
  await page.reload()
  await until(async () => (await html().inputValue()) === '<p>Three</p>' || undefined)
  assert.is(await page.getByText(RESTORED).count(), 0)
})

test('a closed tab keeps it for the next one, with a warning when it was changed since', async t => {
  const { id } = await make('/templates', { name: 'Closed', html: '<p>Saved</p>' })
  const first = await page.context().newPage()
  await on(first).goTo(`/templates/${id}`)
  await on(first).html().fill('<p>In a tab that is closed</p>')
  await first.close()
  await make(`/templates/${id}`, { name: 'Closed', html: '<p>By a colleague</p>' }, 'PUT')
  const second = await page.context().newPage()
  t.after(() => second.close())
  await on(second).goTo(`/templates/${id}`)
  await requireRestored(second, 'HTML', '<p>In a tab that is closed</p>')
  await second.getByText('This template was changed elsewhere after you began editing.').waitFor()
  await on(second).button('Discard changes').click()
  assert.is(await on(second).html().inputValue(), '<p>By a colleague</p>')
})

test('looking at what another tab is writing leaves no draft of its own', async t => {
  const { button, html, goTo } = on(page)
  const { id } = await make('/templates', { name: 'Looked at', html: '<p>Saved</p>' })
  await goTo(`/templates/${id}`)
  await html().fill('<p>Half</p>')
  const other = await page.context().newPage()
  await until(async () => {
    await on(other).goTo(`/templates/${id}`)
    await on(other).html().waitFor()
    return (await on(other).html().inputValue()) === '<p>Half</p>' || undefined
  })
  await other.close()
  await html().fill('<p>Whole</p>')
  await button('Save template').click()
  await page.getByText('The previous version was kept.').waitFor()
  const later = await page.context().newPage()
  t.after(() => later.close())
  await on(later).goTo(`/templates/${id}`)
  await on(later).html().waitFor()
  assert.is(await on(later).html().inputValue(), '<p>Whole</p>')
})

test('what is shown this once is not closed by Escape', async () => {
  const { button, dialog, goTo } = on(page)
  await goTo('/keys?add=1')
  await dialog().getByLabel('Name').fill('Once')
  await dialog().getByRole('button', { name: 'Create API key' }).click()
  await dialog().getByText('is shown only once').waitFor()
  for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
  assert.ok(await dialog().getByText('is shown only once').isVisible())
  await button('I have saved it').click()
  await dialog().waitFor({ state: 'detached' })
})

test('an email that is being written outlives a link, Back and a reload', async () => {
  const { button, place, goTo } = on(page)
  await goTo('/emails/compose')
  await page.getByLabel('To', { exact: true }).fill('delivered@simulator.test')
  await page.getByLabel('Subject').fill('By hand')
  await page.getByLabel('Message').fill('A long message')
  for (const leave of [() => place('Overview').click(), () => page.goBack()]) {
    await leave()
    await page.getByRole('heading', { name: 'Compose' }).waitFor({ state: 'detached' })
    await place('Overview').click()
    await page.getByRole('link', { name: 'Compose' }).click()
    await requireRestored(page, 'Message', 'A long message')
  }
  await page.reload()
  await requireRestored(page, 'Message', 'A long message')
  await button('Send email').click()
  await page.getByRole('heading', { name: 'By hand' }).waitFor()
  await goTo('/emails/compose')
  assert.is(await page.getByLabel('Message').inputValue(), '')
  assert.is(await page.getByText(RESTORED).count(), 0)
})

test('other forms keep their work, too', async () => {
  const { button, dialog, goTo } = on(page)
  for (const [path, open, label, text] of [
    ['/suppressions', 'Add addresses', 'Addresses', 'a@there.example\nb@there.example'],
    [`/audiences/${audience}`, 'Add contact', 'Properties', 'plan: pro'],
    [`/audiences/${audience}?view=segments`, 'Create segment', 'Value of condition 1', 'vienna'],
    ['/audiences', 'Create topic', 'Description', 'Offers, twice a year'],
    ['/webhooks', 'Create webhook', 'Endpoint URL', 'https://hooks.example/'],
    ['/templates', 'Create template', 'Name', 'Welcome'],
    ['/broadcasts', 'Create broadcast', 'Subject', 'July'],
  ] as const) {
    await goTo(path)
    await button(open).click()
    await dialog().getByLabel(label, { exact: true }).fill(text)
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    await page.reload()
    await button(open).click()
    await requireRestored(page, label, text)
    await button('Discard changes').click()
    await page.getByText(RESTORED).waitFor({ state: 'detached' })
    assert.is.not(await dialog().getByLabel(label, { exact: true }).inputValue(), text, path)
  }
})

test('a session that ends while somebody writes loses nothing, and shows nothing to the next', async () => {
  const { button, html, goTo } = on(page)
  const { id } = await make('/templates', { name: 'Expired', html: '<p>Saved</p>' })
  const other = await make('/accounts', { name: 'Other', owner_email: 'other@there.example', plan: 'pro' })
  const signIn = async (email: string, password: string) => {
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(password)
    await button('Sign in').click()
  }
  await goTo(`/templates/${id}`)
  await html().fill('<p>Written before it ended</p>')
  await page.context().clearCookies()
  await button('Save template').click()
  await page.getByText('Your session has expired.').waitFor()
  await signIn('other@there.example', other.password)
  await page.getByText('The link may be outdated').waitFor()
  assert.is(await page.getByText('Written before').count(), 0)
  await signOut(page)
  await signIn(mailhorn.admin.email, mailhorn.admin.password)
  await requireRestored(page, 'HTML', '<p>Written before it ended</p>')
  await button('Save template').click()
  await page.getByText('The previous version was kept.').waitFor()
  assert.is((await read(`/templates/${id}`)).html, '<p>Written before it ended</p>')
})

test('who signs out is asked about unsaved work, and leaves none behind', async () => {
  const { dialog, html, goTo } = on(page)
  const { id } = await make('/templates', { name: 'Left', html: '<p>Saved</p>' })
  await goTo(`/templates/${id}`)
  await html().fill('<p>Secret plans</p>')
  await signOut(page)
  await dialog().getByText('1 form has unsaved changes').waitFor()
  await dialog().getByRole('button', { name: 'Cancel' }).click()
  assert.is(await html().inputValue(), '<p>Secret plans</p>')
  await signOut(page)
  await dialog().getByRole('button', { name: 'Discard and sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  assert.not.match((await page.evaluate('JSON.stringify(localStorage)')) as string, 'Secret plans')
})

test('nothing went wrong in all of this', () => {
  assert.equal(opened.faults, [])
})

test.run()
