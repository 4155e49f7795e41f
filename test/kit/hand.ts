/** Drives a page of the dashboard by mouse, or by the keyboard alone. */
import type { Locator, Page } from 'playwright-core'

export interface Hand {
  /** Presses a button or a link. */
  press(target: Locator): Promise<void>
  write(target: Locator, text: string): Promise<void>
  /** Chooses an option of a select by its words. */
  choose(target: Locator, words: string): Promise<void>
  /** Opens a section of the sidebar, which has a button of its own in a narrow window. */
  goTo(section: string): Promise<void>
}

const TABS_MAX = 200

export function mouseOf(page: Page): Hand {
  const hand: Hand = {
    press: target => target.click(),
    async write(target, text) {
      await target.click()
      await target.press('Control+A')
      await page.keyboard.insertText(text)
    },
    async choose(target, words) {
      await target.selectOption({ label: words })
    },
    goTo: section => openSection(page, hand, section),
  }
  return hand
}

export function keyboardOf(page: Page): Hand {
  const hand: Hand = {
    async press(target) {
      await tabTo(page, target)
      await page.keyboard.press('Enter')
    },
    async write(target, text) {
      await tabTo(page, target)
      await page.keyboard.press('Control+A')
      await page.keyboard.insertText(text)
    },
    async choose(target, words) {
      await tabTo(page, target)
      await page.keyboard.type(words)
    },
    goTo: section => openSection(page, hand, section),
  }
  return hand
}

async function openSection(page: Page, hand: Hand, section: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu', exact: true })
  const link = page
    .getByRole('navigation', { name: 'Sections' })
    .getByRole('link', { name: section, exact: true })
  await menu.or(link).first().waitFor()
  if (await menu.isVisible()) await hand.press(menu)
  await hand.press(link)
}

/** @throws if the element is not reached with Tab */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let i = 0; i < TABS_MAX; i++) {
    if (await target.evaluate(element => element === element.ownerDocument.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${target} is not reached with Tab`)
}
