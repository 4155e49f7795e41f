import * as assert from 'uvu/assert'
import { weekOf } from '../../../../src/interfaces/dashboard/web/labels/week.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('hours of the week')

test('week: counts of several weeks are added by day and hour', () => {
  const week = weekOf(
    [
      { period: '2026-11-24T10:00:00+01:00', opened: 3 },
      { period: '2026-11-17T10:00:00+01:00', opened: 4 },
      { period: '2026-11-22T23:00:00+01:00', opened: 1 },
    ] as unknown as Parameters<typeof weekOf>[0],
    'opened',
  )
  assert.is(week[1]![10], 7)
  assert.is(week[6]![23], 1)
  assert.is(
    week.flat().reduce((sum, value) => sum + value, 0),
    8,
  )
})

test.run()
