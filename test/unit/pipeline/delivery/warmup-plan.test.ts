import * as assert from 'uvu/assert'
import { warmedProvider, warmupDay } from '../../../../src/pipeline/delivery/shaping/warmup-plan.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('warm-up plan')
const DAY_MS = 86_400_000
const START = Date.UTC(2026, 10, 20)
const PLAN = { caps: [50, 100, 200], starts: new Map([['192.0.2.2', START]]) }

test('each UTC day has its number and cap; after the last one the address is warm', () => {
  const days = [-400 * DAY_MS, -1, 0, DAY_MS - 1, DAY_MS, 3 * DAY_MS - 1, 3 * DAY_MS].map(ms =>
    warmupDay(PLAN, '192.0.2.2', START + ms),
  )
  assert.equal(days, [
    { number: 1, cap: 50 },
    { number: 1, cap: 50 },
    { number: 1, cap: 50 },
    { number: 1, cap: 50 },
    { number: 2, cap: 100 },
    { number: 3, cap: 200 },
    undefined,
  ])
})

test('an address without a start date is warm', () => {
  assert.is(warmupDay(PLAN, '192.0.2.1', START), undefined)
})

test('large providers are counted separately, all others together, and smart hosts not at all', () => {
  assert.equal(
    ['google', 'mx.there.test', 'a.there.test b.there.test', 'smart-host', 'simulator', '!there.test'].map(
      warmedProvider,
    ),
    ['google', 'other', 'other', undefined, undefined, undefined],
  )
})

test.run()
