import * as assert from 'uvu/assert'
import {
  isUtcDay,
  nextUtcDay,
  nextUtcMonth,
  startOfUtcDay,
  startOfUtcMonth,
  utcDay,
  utcMonth,
} from '../../../src/lib/periods.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/periods')

test('periods: days and months are UTC in any time zone', () => {
  assert.equal([utcDay(0), utcMonth(0)], ['1970-01-01', '1970-01'])
  const last = Date.UTC(2026, 11, 31, 23, 59, 59, 999)
  assert.equal([utcDay(last), utcMonth(last)], ['2026-12-31', '2026-12'])
  assert.equal([utcDay(last + 1), utcMonth(last + 1)], ['2027-01-01', '2027-01'])
})

test('periods: the next day and month start at midnight, also at the end of a year', () => {
  const noon = Date.UTC(2026, 10, 30, 12)
  assert.equal([nextUtcDay(noon), nextUtcMonth(noon)], [Date.UTC(2026, 11, 1), Date.UTC(2026, 11, 1)])
  const last = Date.UTC(2026, 11, 31, 23, 59, 59, 999)
  assert.equal([nextUtcDay(last), nextUtcMonth(last)], [last + 1, last + 1])
  assert.is(nextUtcDay(last + 1), last + 1 + 86_400_000)
})

test('periods: a day and a month start at their first midnight', () => {
  const [first, day] = [Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 30)]
  const times = [first - 1, first, day - 1, day, day + 86_399_999]
  assert.equal(times.map(startOfUtcDay), [first - 86_400_000, first, day - 86_400_000, day, day])
  assert.equal(times.map(startOfUtcMonth), [Date.UTC(2026, 9, 1), first, first, first, first])
})

for (const [text, isDay] of [
  ['2026-11-30', true],
  ['2028-02-29', true],
  ['2026-02-29', false],
  ['2026-11-31', false],
  ['2026-13-01', false],
  ['2026-1-01', false],
  ['2026-11-30T00:00', false],
  ['x2026-11-30', false],
  ['', false],
] as const)
  test(`periods: "${text}" is ${isDay ? 'a' : 'no'} day`, () => assert.is(isUtcDay(text), isDay))

test.run()
