import * as assert from 'uvu/assert'
import {
  daysOf,
  PRESETS,
  rangeOfDays,
  rangeWords,
} from '../../../../src/interfaces/dashboard/web/labels/ranges.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('date ranges of the dashboard')
/** Without an offset, so that the test is the same in every time zone. */
const NOW = new Date('2026-11-27T20:14:30')
const iso = (local: string) => new Date(local).toISOString()

test('days: both are included, and are read back from the range', () => {
  const range = rangeOfDays({ from: '2026-11-24', to: '2026-11-30' })
  assert.equal(range, { created_after: iso('2026-11-24T00:00'), created_before: iso('2026-12-01T00:00') })
  assert.equal(daysOf(range), { from: '2026-11-24', to: '2026-11-30' })
  for (const days of [
    { from: '', to: '2026-11-30' },
    { from: '2024-02-29', to: '' },
    { from: '', to: '' },
  ])
    assert.equal(daysOf(rangeOfDays(days)), days)
})

test('presets: they end today, except yesterday', () => {
  const shown = PRESETS.map(([label, rangeAt]) => [label, daysOf(rangeAt(NOW))])
  assert.equal(shown, [
    ['Today', { from: '2026-11-27', to: '' }],
    ['Yesterday', { from: '2026-11-26', to: '2026-11-26' }],
    ['Last 7 days', { from: '2026-11-21', to: '' }],
    ['Last 30 days', { from: '2026-10-29', to: '' }],
  ])
})

test('words: whole days have no time, other ranges do', () => {
  const words = (created_after: string, created_before: string) =>
    rangeWords({ created_after, created_before }, NOW)
  assert.is(words('', ''), '')
  assert.is(words(iso('2026-11-26T00:00'), iso('2026-11-27T00:00')), '26 Nov')
  assert.is(words(iso('2026-11-24T00:00'), iso('2026-11-27T00:00')), '24 Nov to 26 Nov')
  assert.is(words(iso('2025-12-31T00:00'), iso('2026-01-02T00:00')), '31 Dec 2025 to 1 Jan')
  assert.is(words(iso('2026-11-24T00:00'), ''), 'since 24 Nov')
  assert.is(words('', iso('2026-11-27T00:00')), 'until 26 Nov')
  assert.is(words(iso('2026-11-26T20:00'), iso('2026-11-26T21:00')), '26 Nov 20:00 to 26 Nov 21:00')
  assert.is(words('', iso('2026-11-26T21:00')), 'before 26 Nov 21:00')
  assert.is(words('yesterday', ''), 'yesterday to ')
})

test.run()
