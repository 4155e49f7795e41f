import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { parseWireId } from '../../src/lib/ids.ts'
import { createUnsubscribeToken } from '../../src/pipeline/tracking/unsubscribe-token.ts'
import { axeFindings, sideways, startBrowser, type TestBrowser, type WatchedPage } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { PNG } from '../kit/logo.ts'
import { type Mailhorn, secretsOf, startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'

const test = suite('pages that recipients see')
const READER = 'ann.with-a-rather-long-address.of-many-letters@there.example'
const PHONE = { width: 390, height: 844 }
let mailhorn: Mailhorn
let browser: TestBrowser
let session: string
let domain: string
let topic: string
let audience: string
let link: string
test.before(async () => {
  buildDashboard()
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
  domain = (await call('POST', '/domains', { name: 'shop.example' })).id
  topic = (await call('POST', '/topics', { name: 'Offers', description: 'Prices, twice a year.' })).id
  await call('POST', '/topics', { name: 'Donaudampfschifffahrtsgesellschaftskapitänsmützenneuigkeiten' })
  audience = (await call('POST', '/audiences', { name: 'Readers' })).id
  await call('POST', `/audiences/${audience}/contacts`, { email: READER })
  const { id } = await call('GET', '/account')
  const token = createUnsubscribeToken(secretsOf(mailhorn), {
    ...{ accountId: parseWireId('acc', id)!, address: READER, topicId: parseWireId('top', topic)! },
    ...{ broadcastId: null, senderDomain: 'shop.example' },
  })
  link = `${mailhorn.baseUrl}/u/${token}`
  browser = await startBrowser()
})
test.after(async () => {
  await browser.close()
  await mailhorn.close()
})

const call = async (method: string, path: string, body?: object) => {
  const reply = await mailhorn.call(method, path, { session, ...(body && { body }) })
  if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`)
  return reply.body
}
const isSubscribed = async () => {
  const { unsubscribed, unsubscribed_topics } = await call('GET', `/audiences/${audience}/contacts/${READER}`)
  return !unsubscribed && !unsubscribed_topics.includes(topic)
}

async function assertFits({ page, faults }: Pick<WatchedPage, 'page' | 'faults'>, what: string) {
  assert.equal(await axeFindings(page), [], what)
  assert.is(await sideways(page), 0, what)
  assert.equal(faults, [], what)
}

test('the operator of a domain gives its pages a name, a colour and a logo', async t => {
  const opened = await browser.signIn(mailhorn, `/domains/${domain}`)
  t.after(opened.close)
  const { page } = opened
  const card = page.getByRole('region', { name: 'Recipients’ pages' })
  await card.getByLabel('Sender name').fill(' Acme Post ')
  await card.getByLabel('Colour').fill('green')
  await card.getByRole('button', { name: 'Save name and colour' }).click()
  await card
    .getByText(/must be a colour such as `?#1c7047/)
    .first()
    .waitFor()
  await card.getByLabel('Colour').fill('#0A5C36')
  await card.getByRole('button', { name: 'Save name and colour' }).click()
  await page.getByText('Recipients’ pages saved.').first().waitFor()
  await card.getByRole('button', { name: 'Save name and colour' }).waitFor({ state: 'detached' })
  const upload = (name: string, buffer: Buffer) =>
    card.getByLabel('Logo', { exact: true }).setInputFiles({ name, mimeType: 'image/png', buffer })
  await upload('logo.png', Buffer.from('<svg/>'))
  await card
    .getByText(/must be a PNG, JPEG or WebP image/)
    .first()
    .waitFor()
  await upload('logo.png', Buffer.from(PNG, 'base64'))
  const logo = card.getByRole('img', { name: 'Logo of the sender' })
  await logo.waitFor()
  const width = (image: { naturalWidth: number }) => image.naturalWidth
  assert.is(await logo.evaluate(width as never), 1, 'the picture has loaded')
  const { branding } = await call('GET', `/domains/${domain}`)
  assert.equal([branding.name, branding.color], ['Acme Post', '#0a5c36'])
  await assertFits(opened, 'the page of the domain')
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`a phone, in the ${colorScheme}: every state of the unsubscribe page is legible and fits`, async t => {
    const opened = await browser.open(mailhorn, { viewport: PHONE, colorScheme, locale: 'de-AT' })
    t.after(opened.close)
    const { page } = opened
    await page.goto(link)
    assert.is(await page.locator('html').getAttribute('lang'), 'de')
    await assertFits(opened, 'subscribed')
    const press = async (name: string, state: string) => {
      await page.getByRole('button', { name, exact: true }).click()
      await page.getByRole('status').waitFor()
      await assertFits(opened, state)
    }
    await press('Von Offers abmelden', 'left the topic')
    await press('Von allen E-Mails abmelden', 'left everything')
    await press('Wieder anmelden', 'back')
    assert.is(await isSubscribed(), true)
    const heights = await page.locator('button').evaluateAll(heightsOf)
    assert.ok(Math.min(...heights) >= 44, `${heights}`)
    const broken = await page.goto(`${link}x`)
    assert.is(broken?.status(), 404)
    await page.getByRole('heading', { name: 'Dieser Link funktioniert nicht' }).waitFor()
    await assertFits(opened, 'a broken link')
  })

const heightsOf = (all: { getBoundingClientRect(): { height: number } }[]) =>
  all.map(one => one.getBoundingClientRect().height)

test('without scripts one press unsubscribes, and another takes it back', async t => {
  const { page, faults, close } = await browser.open(mailhorn, {
    ...{ viewport: PHONE, javaScriptEnabled: false, locale: 'en' },
  })
  t.after(close)
  await page.goto(link)
  assert.is(await isSubscribed(), true, 'opening it changes nothing')
  await pressed(page, 'Unsubscribe from Offers')
  assert.is(await isSubscribed(), false)
  await pressed(page, 'Subscribe again')
  assert.is(await isSubscribed(), true)
  await page.getByLabel('Offers').uncheck()
  await pressed(page, 'Save')
  assert.is(await isSubscribed(), false)
  await pressed(page, 'Subscribe again')
  assert.equal(faults, [])
})

async function pressed(page: Page, name: string) {
  await page.getByRole('button', { name, exact: true }).click()
  await page.getByRole('status').waitFor()
}

test.run()
