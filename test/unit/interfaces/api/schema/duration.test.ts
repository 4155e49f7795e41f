import * as assert from 'uvu/assert'
import { parseDuration } from '../../../../../src/interfaces/api/schema/duration.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('durations')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

for (const [input, expected] of [
  // the examples in the comments of the SDKs
  ['10m', 10 * MINUTE_MS],
  ['2 hours', 2 * HOUR_MS],
  ['1 day', DAY_MS],
  ['1h 30m', 90 * MINUTE_MS],
  ['48h', 48 * HOUR_MS],
  // other forms
  [90, 90_000],
  ['90', 90_000],
  ['1h30m', 90 * MINUTE_MS],
  ['1 hour 30 minutes', 90 * MINUTE_MS],
  ['1 hour, 30 minutes', 90 * MINUTE_MS],
  ['1 Day and 6 Hours', 30 * HOUR_MS],
  [' 2hrs  15min ', 135 * MINUTE_MS],
  ['1d 2h 3m 4s', DAY_MS + 2 * HOUR_MS + 3 * MINUTE_MS + 4_000],
  ['1.5 hours', 90 * MINUTE_MS],
  ['0.5d', 12 * HOUR_MS],
  ['1 week', 7 * DAY_MS],
] as const)
  test(`${JSON.stringify(input)} is ${expected} ms`, () => {
    assert.is(parseDuration(input), expected)
  })

for (const input of [
  '',
  '1h 30',
  '30 1h',
  '1h 1h',
  '1h 60 min 5m',
  '1x',
  '1 hourly',
  'h',
  'one hour',
  '-1h',
  '1h -30m',
  '1h and',
  'and 1h',
  '1,5h',
  '1 fortnight',
  '1h;30m',
  '10000000000s',
  1.5,
  true,
  null,
  ['1h'],
  `${' '.repeat(200)}1h`,
])
  test(`${JSON.stringify(input).slice(0, 20)} is no duration`, () => {
    assert.is(parseDuration(input), undefined)
  })

test.run()
