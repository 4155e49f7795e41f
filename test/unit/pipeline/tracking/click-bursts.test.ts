import * as assert from 'uvu/assert'
import { ClickBursts } from '../../../../src/pipeline/tracking/click-bursts.ts'
import type { VisitEntry } from '../../../../src/pipeline/tracking/record-visits.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('tracking/click-bursts')
const BURST_WINDOW_MS = 3_000
const BURST_GOES_ON_MS = 10_000

/** Bursts of at most so many recipients, with the clicks that they have marked. */
function scripted(recipientsMax: number) {
  const bursts = new ClickBursts(recipientsMax)
  const click = (recipient: string, link: number, at: number) => {
    const entry = { link, isBurst: false } as VisitEntry
    bursts.clicked(recipient, entry, at)
    return entry
  }
  return {
    bursts,
    click,
    /** @returns whether clicks on three links at once are a burst */
    clickThrice: (recipient: string, at: number) =>
      [0, 1, 2].map(link => click(recipient, link, at)).every(({ isBurst }) => isBurst),
  }
}

test('click bursts: three links are a burst only within three seconds', () => {
  const { click } = scripted(9)
  for (const [recipient, lastAt, isBurst] of [
    ['a', BURST_WINDOW_MS - 1, true],
    ['b', BURST_WINDOW_MS, false],
  ] as const) {
    const clicks = [click(recipient, 0, 0), click(recipient, 1, 0), click(recipient, 2, lastAt)]
    assert.equal(
      clicks.map(entry => entry.isBurst),
      [isBurst, isBurst, isBurst],
    )
  }
})

test('click bursts: each further click prolongs a burst by ten seconds', () => {
  const { click, clickThrice } = scripted(9)
  assert.ok(clickThrice('a', 0))
  assert.ok(click('a', 5, BURST_GOES_ON_MS - 1).isBurst)
  assert.ok(click('a', 6, 2 * BURST_GOES_ON_MS - 2).isBurst)
  assert.not(click('a', 7, 3 * BURST_GOES_ON_MS - 2).isBurst)
})

test('click bursts: recipients beyond the limit are not watched until others are forgotten', () => {
  const { bursts, click, clickThrice } = scripted(1)
  click('a', 0, 0)
  assert.not(clickThrice('b', 1))
  bursts.forget(BURST_WINDOW_MS - 1)
  assert.not(clickThrice('b', BURST_WINDOW_MS - 1))
  bursts.forget(BURST_WINDOW_MS)
  assert.ok(clickThrice('b', BURST_WINDOW_MS))
})

test('click bursts: a recipient with a burst is forgotten when no click can belong to it any more', () => {
  const { bursts, click, clickThrice } = scripted(1)
  assert.ok(clickThrice('a', 0))
  bursts.forget(BURST_GOES_ON_MS - 1)
  assert.ok(click('a', 5, BURST_GOES_ON_MS - 1).isBurst)
  bursts.forget(2 * BURST_GOES_ON_MS - 1)
  assert.ok(clickThrice('b', 2 * BURST_GOES_ON_MS - 1))
})

test.run()
