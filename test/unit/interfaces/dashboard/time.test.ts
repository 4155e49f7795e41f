import * as assert from 'uvu/assert'
import {
  exactTime,
  fullTime,
  onDayAtTime,
  relativeTime,
} from '../../../../src/interfaces/dashboard/web/labels/time.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('times of the dashboard')
/** Without an offset, so that the test is the same in every time zone. */
const NOW = Date.parse('2026-11-27T20:14:30')
const iso = (local: string) => new Date(local).toISOString()

test('exact time: the clock today, the day this year, the year before', () => {
  assert.is(exactTime(iso('2026-11-27T09:04:03'), NOW), '09:04:03')
  assert.is(exactTime(iso('2026-11-26T20:14:03'), NOW), '26 Nov 20:14')
  assert.is(exactTime(iso('2026-12-16T10:00:00'), NOW), '16 Dec 10:00')
  assert.is(exactTime(iso('2025-11-27T20:14:03'), NOW), '27 Nov 2025')
})

test('a time in a sentence: today, the day this year, the year after', () => {
  assert.is(onDayAtTime(iso('2026-11-27T21:00:00'), NOW), 'today at 21:00')
  assert.is(onDayAtTime(iso('2026-12-01T09:00:00'), NOW), 'on 1 Dec at 09:00')
  assert.is(onDayAtTime(iso('2027-01-01T09:00:00'), NOW), 'on 1 Jan 2027 at 09:00')
})

test('relative time: the largest unit that fits', () => {
  assert.is(relativeTime(iso('2026-11-27T20:14:10'), NOW), 'just now')
  assert.is(relativeTime(iso('2026-11-27T20:15:00'), NOW), 'in under a minute')
  assert.is(relativeTime(iso('2026-11-27T20:11:30'), NOW), '3 minutes ago')
  assert.is(relativeTime(iso('2026-11-27T22:14:30'), NOW), 'in 2 hours')
  assert.is(relativeTime(iso('2026-11-24T20:14:30'), NOW), '3 days ago')
})

test('tooltip of a time: relative while it is near, with the whole date', () => {
  assert.match(
    fullTime(iso('2026-11-27T20:11:30'), NOW),
    /^3 minutes ago: Friday,? 27 November 2026 at 20:11:30/,
  )
  assert.match(fullTime(iso('2024-01-02T03:04:05'), NOW), /^Tuesday,? 2 January 2024 at 03:04:05/)
})

test.run()
