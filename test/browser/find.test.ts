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

test.run()
