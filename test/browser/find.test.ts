import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { suite } from '../kit/suite.ts'
import { type Scene, startScene } from './scene.ts'

const test = suite('finding things in the dashboard')
let scene: Scene
let browser: TestBrowser
test.before(async () => {
  buildDashboard()
  scene = await startScene()
  browser = await startBrowser()
})
test.after(async () => {
  await browser.close()
  await scene.close()
})

const bouncedLink = (page: Page) => page.getByRole('link', { name: 'Your invoice 1042' })

test('one box finds an email by a part of its address, its id and its Message-ID, without an error on the way', async t => {
  const { page, faults, close } = await browser.signIn(scene.mailhorn, '/emails')
  t.after(close)
  await bouncedLink(page).waitFor()
  const { body: email } = await scene.mailhorn.call('GET', `/emails/${scene.ids.bounced}`, {
    session: await scene.mailhorn.signIn(),
  })
  const box = page.getByLabel('Search emails')
  for (const text of [email.to[0].slice(0, 9), email.id, email.message_id, email.message_id.slice(1, -1)]) {
    await box.fill('')
    for (const part of [text.slice(0, 4), text.slice(4)]) {
      await box.pressSequentially(part)
      await page.waitForURL(url => url.searchParams.get('search') === (part === text.slice(4) ? text : part))
      assert.is(await page.getByRole('alert').filter({ hasText: /./ }).count(), 0, text)
    }
    await bouncedLink(page).waitFor()
    await page.getByText('1 result', { exact: true }).waitFor()
  }
  assert.equal(faults, [])
})

test('every filter in the address is a chip with a readable name, and can be removed alone or with all others', async t => {
  const { ids, mailhorn } = scene
  const { page, faults, close } = await browser.signIn(mailhorn, '/')
  t.after(close)
  const { body: keys } = await mailhorn.call('GET', '/api-keys', { session: await mailhorn.signIn() })
  const key = keys.data.find(({ name }: { name: string }) => name === 'Web shop')
  const query = new URLSearchParams({
    ...{
      status: 'bounced',
      source: 'api',
      q: 'invoice',
      from: 'orders@shop.example',
      to: 'ann@there.example',
    },
    ...{ domain: 'shop.example', tag: 'kind:order', broadcast_id: ids.sent, template_id: ids.template },
    ...{ api_key_id: key.id, created_after: '2020-01-01T00:00:00Z' },
  })
  await page.goto(`${mailhorn.baseUrl}/dashboard/emails?${query}`)
  const chips = page.getByRole('list', { name: 'Filters' })
  await chips.getByText('Broadcast: Summer prices').waitFor()
  await chips.getByText('Template: Order sent').waitFor()
  await chips.getByText('API key: Web shop').waitFor()
  for (const [name] of query) if (name !== 'broadcast_id') await chips.getByText(CHIPS[name]!).waitFor()
  assert.is(await chips.getByRole('button', { name: /^Remove filter/ }).count(), 11)
  for (const name of query.keys()) {
    await chips.getByRole('button', { name: REMOVALS[name]! }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(url => !url.searchParams.has(name))
    assert.is(await page.evaluate('document.activeElement.type'), 'search', name)
  }
  await bouncedLink(page).waitFor()
  assert.is(await chips.count(), 0)
  await page.goto(`${mailhorn.baseUrl}/dashboard/emails?${query}`)
  await chips.getByRole('button', { name: 'Clear' }).click()
  await page.waitForURL(/emails$/)
  assert.equal(faults, [])
})

const CHIPS: Readonly<Record<string, string | RegExp>> = {
  status: 'Status: Bounced',
  source: 'Source: API',
  q: 'Subject: invoice',
  from: 'From: orders@shop.example',
  to: 'To: ann@there.example',
  domain: 'Domain: shop.example',
  tag: 'Tag: kind:order',
  template_id: 'Template: Order sent',
  api_key_id: 'API key: Web shop',
  created_after: /^Date: since /,
}
const REMOVALS: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    Object.entries(CHIPS).map(([name, words]) => [
      name,
      new RegExp(`^Remove filter ${(words instanceof RegExp ? 'Date' : words).replace(/:.*/, '')}:`),
    ]),
  ),
  broadcast_id: /^Remove filter Broadcast:/,
}

test('a range of days is chosen by the keyboard, from the presets and by its first and last day', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn, '/emails')
  t.after(close)
  await bouncedLink(page).waitFor()
  const open = () => page.getByRole('button', { name: 'Any date', exact: true }).first()
  await open().press('Enter')
  const panel = page.getByRole('dialog', { name: 'Date' })
  await panel.waitFor()
  assert.is(await page.evaluate('document.activeElement.textContent'), 'Today')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })
  await open().press('Enter')
  await page.keyboard.press('Enter')
  await page.waitForURL(/created_after=/)
  await page.getByText(/^Date: since /).waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await open().press('Enter')
  await panel.getByLabel('First day').fill('2020-02-28')
  await panel.getByLabel('Last day').fill('2020-02-29')
  await page.keyboard.press('Enter')
  await page.getByText('Date: 28 Feb 2020 to 29 Feb 2020').waitFor()
  await page.getByText('No results match your filters.').waitFor()
})

test('a page beyond the end of the list says so, and is no filter', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn, '/emails?page=900')
  t.after(close)
  await page.getByRole('heading', { name: 'Nothing on this page' }).waitFor()
  await page.getByRole('button', { name: 'Go to the first page' }).click()
  await bouncedLink(page).waitFor()
})

test('links lead from a tag, an address, a broadcast, a key, a domain and a queue to their emails, and back', async t => {
  const { ids, mailhorn } = scene
  const { page, faults, close } = await browser.signIn(mailhorn, `/emails/${ids.delivered}`)
  t.after(close)
  const chip = (text: string) => page.getByRole('list', { name: 'Filters' }).getByText(text)
  const order = page.getByRole('link', { name: 'Your order is on its way' })
  const goTo = (path: string) => page.goto(`${mailhorn.baseUrl}/dashboard${path}`)
  const facts = page.locator('.facts')
  await facts.getByRole('link', { name: 'kind: order' }).click()
  await chip('Tag: kind:order').waitFor()
  await order.click()
  await facts.getByRole('link', { name: 'Ann <ann@there.example>' }).click()
  await chip('To: ann@there.example').waitFor()
  await order.click()
  await facts.getByRole('link', { name: 'contact' }).click()
  await page.waitForURL(new RegExp(`/audiences/${ids.audience}/contacts/`))
  await page.getByRole('link', { name: 'View emails' }).click()
  await chip('To: ann@there.example').waitFor()
  await goTo(`/emails/${ids.delivered}`)
  await facts.getByRole('link', { name: 'shop.example', exact: true }).click()
  await page.getByRole('heading', { name: 'shop.example' }).waitFor()
  await page.getByRole('link', { name: 'View emails' }).click()
  await chip('Domain: shop.example').waitFor()
  await goTo('/keys')
  await page.getByRole('link', { name: 'Web shop' }).click()
  await chip('API key: Web shop').waitFor()
  await goTo(`/broadcasts/${ids.sent}`)
  await page.getByRole('link', { name: 'View emails' }).click()
  await chip('Broadcast: Summer prices').waitFor()
  await page.getByRole('link', { name: 'Summer prices' }).first().click()
  await facts.getByRole('link', { name: 'Summer prices' }).click()
  await page.waitForURL(`**/broadcasts/${ids.sent}`)
  await goTo(`/templates/${ids.template}`)
  await page.getByRole('link', { name: 'View emails' }).click()
  await chip('Template: Order sent').waitFor()
  await goTo('/queue')
  await page.getByRole('link', { name: /^elsewhere\.example/ }).click()
  await page.waitForURL(/search=%40elsewhere\.example/)
  await page.getByRole('link', { name: 'Welcome to the shop' }).click()
  await page.getByRole('link', { name: 'View queue' }).click()
  await page.waitForURL(/queue\?domain=elsewhere\.example/)
  assert.equal(faults, [])
})

test('the palette loads lists when something is typed, and not again at once', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn, '/settings')
  t.after(close)
  await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor()
  const asked: string[] = []
  page.on('request', request => {
    if (/\/(?:domains|audiences|webhooks)\?limit=100$|\/api-keys$/.test(request.url()))
      asked.push(request.url())
  })
  for (let opening = 0; opening < 2; opening++) {
    await page.keyboard.press('Control+k')
    await page.locator('[role="combobox"]:focus').waitFor()
    await page.getByRole('option').first().waitFor()
    if (opening === 0) assert.equal(asked, [], 'nothing is loaded for an empty text')
    await page.keyboard.type('shop.ex')
    await page.getByRole('option', { name: /^shop\.example Domain/ }).waitFor()
    await page.keyboard.press('Escape')
    assert.is(asked.length, 4)
  }
})

test('the API reference is found from the palette and the menu of the account', async t => {
  const { page, close } = await browser.signIn(scene.mailhorn, '/usage')
  t.after(close)
  await page.getByText('API requests').waitFor()
  await page.keyboard.press('Control+k')
  await page.locator('[role="combobox"]:focus').waitFor()
  await page.keyboard.type('code samples')
  await page.getByRole('option', { name: /^API reference/ }).click()
  await page.waitForURL(/\/docs/)
  await page.goBack()
  await page.getByRole('button', { name: /^Account menu/ }).click()
  await page.getByRole('link', { name: 'API reference' }).click()
  await page.waitForURL(/\/docs/)
})

test('an email is shared by a link that needs no sign-in', async t => {
  const { ids, mailhorn } = scene
  const { page, close } = await browser.signIn(mailhorn, `/emails/${ids.delivered}`)
  t.after(close)
  await page.getByRole('button', { name: 'Share' }).click()
  const dialog = page.getByRole('dialog').last()
  await dialog.getByLabel('The link works for').selectOption('1 hour')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  const url = await dialog.locator('.secret code').innerText()
  await dialog.getByText(/It expires on/).waitFor()
  const shared = await fetch(mailhorn.baseUrl + new URL(url).pathname)
  assert.match(await shared.text(), /Your order is on its way/)
})

test('the palette opens pages, actions and objects by the keyboard alone', async t => {
  const { ids, mailhorn } = scene
  const { page, faults, close } = await browser.signIn(mailhorn, '/settings')
  t.after(close)
  await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor()
  const find = async (text: string, option: RegExp, key = 'Control+k') => {
    await page.keyboard.press(key)
    await page.locator('[role="combobox"]:focus').waitFor()
    await page.keyboard.type(text)
    const found = page.getByRole('option', { name: option }).first()
    await found.waitFor()
    for (let i = 0; i < 20 && (await found.getAttribute('aria-selected')) !== 'true'; i++)
      await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Search everything' }).waitFor({ state: 'detached' })
  }
  const { body: email } = await mailhorn.call('GET', `/emails/${ids.bounced}`, {
    session: await mailhorn.signIn(),
  })
  for (const [text, option, place, key] of [
    ['deliv', /Deliverability/, /deliverability$/, 'Meta+k'],
    ['shop.ex', /^shop\.example Domain/, new RegExp(`domains/${ids.domain}$`)],
    ['order se', /Order sent/, new RegExp(`templates/${ids.template}$`)],
    ['summer', /Summer prices Broadcast/, new RegExp(`broadcasts/${ids.sent}$`)],
    ['readers', /Readers of the newsletter/, new RegExp(`audiences/${ids.audience}$`)],
    ['ben@', /ben@there\.example.*Contact/, new RegExp(`audiences/${ids.audience}/contacts/con_`)],
    ['hooks.ex', /Webhook/, new RegExp(`webhooks/${ids.webhook}$`)],
    ['web sh', /Web shop/, /emails\?api_key_id=/],
    [email.message_id, /Your invoice 1042/, new RegExp(`emails/${ids.bounced}$`)],
    ['where is my', /Received email/, new RegExp(`inbox/${ids.inbound}$`)],
    [ids.refused, /Log$/, new RegExp(`logs\\?q=${ids.refused}$`)],
    ['create webh', /Create webhook/, /webhooks\?add=1$/],
  ] as const) {
    await find(text, option, key)
    await page.waitForURL(place)
  }
  await page.getByRole('dialog', { name: 'Add webhook' }).or(page.getByRole('dialog')).waitFor()
  // the received email has a script and an image, which its frame blocks
  assert.equal(
    faults.filter(fault => !fault.includes('/dashboard/preview')),
    [],
  )
})

test('the keyboard: help, rows, every place, and saving an editor', async t => {
  const { ids, mailhorn } = scene
  const { page, faults, close } = await browser.signIn(mailhorn, '/')
  t.after(close)
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  const rows = await help.getByRole('region', { name: 'Go to' }).locator('dl > div').allInnerTexts()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  assert.is(rows.length, 26)
  const places = new Set<string>()
  for (const row of rows) {
    const [, key] = /^g\s*(\w)\s/.exec(row)!
    await page.keyboard.press('g')
    await page.keyboard.press(key!)
    await page.waitForURL(url => places.size === 0 || !places.has(url.pathname))
    places.add(new URL(page.url()).pathname)
  }
  assert.is(places.size, 26)
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await bouncedLink(page).waitFor()
  const focused = () => page.evaluate('document.activeElement.innerText')
  await page.locator('h1:focus').waitFor()
  await page.keyboard.press('j')
  const first = await focused()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  const third = await focused()
  assert.is.not(third, first)
  await page.keyboard.press('k')
  await page.keyboard.press('j')
  assert.is(await focused(), third)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: third as string }).waitFor()
  await page.goto(`${mailhorn.baseUrl}/dashboard/templates/${ids.template}`)
  await page.getByLabel('Subject').first().fill('Your order {{order}} has left')
  await page.keyboard.press('Control+s')
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  assert.equal(faults, [])
})

test('focus: the heading has it, too, after a page that was left before it was drawn', async t => {
  const { page, faults, close } = await browser.signIn(scene.mailhorn, '/')
  t.after(close)
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await bouncedLink(page).waitFor()
  await page.locator('h1:focus').waitFor()
  await page.keyboard.press('j')
  await page.locator('main .list a:focus').waitFor()
  await page.evaluate(`(async () => {
    for (const key of ['g', 's', 'g', 'e']) {
      document.dispatchEvent(new KeyboardEvent('keydown', { key }))
      await new Promise(resolve => queueMicrotask(() => queueMicrotask(resolve)))
    }
  })()`)
  await page.locator('h1:focus').waitFor()
  assert.match(page.url(), /\/emails$/)
  assert.equal(faults, [])
})

test('focus: links lead to the heading, dialogs begin with a field or the safe choice and give it back, lists are near', async t => {
  const { ids, mailhorn } = scene
  const { page, close } = await browser.signIn(mailhorn, '/emails')
  t.after(close)
  await bouncedLink(page).waitFor()
  const focused = () => page.evaluate('document.activeElement.innerText || document.activeElement.id')
  const title = () => page.title()
  // from the top of the page, as if it had just been opened
  await page.evaluate('document.activeElement.blur()')
  let tabs = 0
  while ((await focused()) !== 'Skip to list' && tabs < 40) {
    await page.keyboard.press('Tab')
    tabs++
  }
  await page.keyboard.press('Enter')
  assert.ok(tabs <= 2, `${tabs} stops`)
  assert.ok(await page.evaluate(`document.activeElement.matches('.list tbody tr:first-child a')`))
  await bouncedLink(page).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Your invoice 1042' }).waitFor()
  assert.is(await focused(), 'Your invoice 1042')
  assert.is(await title(), 'Your invoice 1042 · Mailhorn')
  await page.getByRole('link', { name: 'Templates' }).click()
  await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor()
  assert.equal([await focused(), await title()], ['Templates', 'Templates · Mailhorn'])
  await page.goto(`${mailhorn.baseUrl}/dashboard/templates?add=1`)
  await page.getByRole('dialog').waitFor()
  assert.is(await page.evaluate('document.activeElement.labels[0].innerText'), 'Name')
  await page.goto(`${mailhorn.baseUrl}/dashboard/templates/${ids.template}`)
  await page.getByRole('button', { name: 'Delete template' }).press('Enter')
  await page.getByRole('dialog').waitFor()
  assert.is(await focused(), 'Cancel')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.is(await page.evaluate('document.activeElement.ariaLabel'), 'Delete template')
})

test.run()
