import type { Page } from 'playwright-core'
import PostalMime from 'postal-mime'
import * as assert from 'uvu/assert'
import { axeFindings, startBrowser, type TestBrowser, type WatchedPage } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { type FakeMx, startFakeMx } from '../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('files of broadcasts')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
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
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port, env })
  await mailhorn.verifiedDomain('here.example')
  audience = (await call('POST', '/audiences', { name: 'Readers' })).id
  for (const name of ['ann', 'ben'])
    await call('POST', `/audiences/${audience}/contacts`, { email: `ok-${name}@there.example` })
  browser = await startBrowser()
  opened = await browser.signIn(mailhorn)
  page = opened.page
})
test.after(async () => {
  await browser.close()
  await mailhorn.close()
  await mx.close()
})

const call = async (method: string, path: string, body?: object) => {
  const session = await mailhorn.signIn()
  const answer = await mailhorn.call(method, path, { session, ...(body && { body }) })
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
const draft = async (): Promise<string> => {
  const words = { audience_id: audience, from: 'news@here.example', subject: 'Prices' }
  return (await call('POST', '/broadcasts', { ...words, html: '<p>Hi {{unsubscribe_url}}</p>' })).id
}
const goTo = (path: string) => page.goto(`${mailhorn.baseUrl}/dashboard${path}`)
const button = (name: string) => page.getByRole('button', { name, exact: true })
const dialog = () => page.getByRole('dialog').last()
const field = () => page.getByLabel('Attachments', { exact: true })
const file = (name: string, content: string | Buffer) => ({
  ...{ name, mimeType: 'text/plain', buffer: Buffer.from(content) },
})
const storedNames = async (id: string): Promise<string[]> =>
  (await call('GET', `/broadcasts/${id}`)).attachments.map(({ filename }: { filename: string }) => filename)

test('files are attached to a draft, survive a reload, and arrive with each recipient', async () => {
  // given: a draft whose text has just been changed, too
  const id = await draft()
  await goTo(`/broadcasts/${id}`)
  await page.getByText('Up to 100 files, together 1.5 MB: each recipient gets a copy.').waitFor()
  await page.getByLabel('Subject').fill('New prices')

  // when: three files are attached, and one is removed
  await field().setInputFiles([file('prices.txt', 'first'), file('gone.txt', 'x')])
  await button('Remove gone.txt').waitFor()
  await field().setInputFiles(file('map.txt', 'second'))
  await button('Remove map.txt').waitFor()
  await button('Remove gone.txt').click()
  await page.getByText('2 files, 11 B').waitFor()
  assert.equal(await axeFindings(page), [])

  // then: the draft has them after a reload, and its changed text
  await page.reload()
  await page.getByText('2 files, 11 B').waitFor()
  assert.is(await page.getByLabel('Subject').inputValue(), 'New prices')
  assert.equal(await storedNames(id), ['prices.txt', 'map.txt'])

  // when: the text is changed again and it is sent
  await page.getByLabel('Subject').fill('Our prices')
  await button('Review and send …').click()
  await dialog().getByText('prices.txt (5 B), map.txt (6 B)').waitFor()
  assert.equal(await axeFindings(page), [])
  await dialog().getByRole('button', { name: 'Send to 2 people' }).click()
  await button('Undo').waitFor()
  mailhorn.clock.advance(30_000)
  await page.locator('.page-head').getByText('Sent', { exact: true }).waitFor()

  // then: both recipients have the files, and the results name them
  await page.getByText('prices.txt (5 B), map.txt (6 B)').waitFor()
  assert.equal(await axeFindings(page), [])
  await mx.waitFor(2)
  for (const { data } of mx.messages) {
    const { subject, attachments } = await PostalMime.parse(data)
    const decoded = attachments.map(({ filename, content }) => [
      filename,
      Buffer.from(content as ArrayBuffer).toString(),
    ])
    assert.equal([subject, ...decoded], ['Our prices', ['prices.txt', 'first'], ['map.txt', 'second']])
  }
})

test('more than fits is said before it is sent, and the draft keeps what it has', async () => {
  const id = await draft()
  await goTo(`/broadcasts/${id}`)
  await field().setInputFiles(file('small.txt', 'x'))
  await button('Remove small.txt').waitFor()
  await field().setInputFiles(file('large.bin', Buffer.alloc(1_600_000)))
  await page.getByText('The files are too large: 1.6 MB together.').waitFor()
  assert.equal(await storedNames(id), ['small.txt'])
  await field().setInputFiles(file('other.txt', 'y'))
  await button('Remove other.txt').waitFor()
  assert.is(await page.getByText('The files are too large').count(), 0)
})

test('files of a draft that was changed elsewhere are not attached over the other version', async () => {
  const id = await draft()
  await goTo(`/broadcasts/${id}`)
  await page.getByLabel('Subject').waitFor()
  await call('PATCH', `/broadcasts/${id}`, { subject: 'Changed elsewhere' })
  await field().setInputFiles(file('mine.txt', 'x'))
  await page.getByText(/^The files were not changed: The broadcast was changed/).waitFor()
  await until(async () => (await page.getByLabel('Subject').inputValue()) === 'Changed elsewhere')
  assert.equal(await storedNames(id), [])
})

test('a scheduled broadcast shows its files, and they cannot be changed', async () => {
  const id = await draft()
  const attachments = [{ filename: 'kept.txt', content: 'eA==' }]
  await call('PATCH', `/broadcasts/${id}`, { attachments })
  const scheduled_at = new Date(mailhorn.clock.now() + 3_600_000).toISOString()
  await call('POST', `/broadcasts/${id}/send`, { scheduled_at })
  await goTo(`/broadcasts/${id}`)
  await button('Remove kept.txt').waitFor()
  assert.equal([await button('Remove kept.txt').isDisabled(), await field().isDisabled()], [true, true])
})

test('nothing went wrong in all of this', () => {
  assert.equal(opened.faults, [])
})

test.run()
