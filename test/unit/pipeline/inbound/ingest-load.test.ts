import * as assert from 'uvu/assert'
import { createIngestLoad } from '../../../../src/pipeline/inbound/ingest-load.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/crowd')

function given() {
  const clock = createManualClock()
  const crowd = createIngestLoad(clock)
  const times = (count: number, does: () => void) => {
    for (let i = 0; i < count; i++) does()
  }
  return { clock, crowd, times }
}

test('few at a time are no crowd, however many come', () => {
  const { crowd, times } = given()
  times(100, () => {
    times(8, crowd.enter)
    times(8, crowd.leave)
  })
  assert.not(crowd.isThere())
})

test('many at a time are one, and for a moment after they have been answered', () => {
  const { clock, crowd, times } = given()
  times(9, crowd.enter)
  assert.ok(crowd.isThere())
  times(9, crowd.leave)
  assert.is(crowd.size(), 0)
  clock.advance(99)
  assert.ok(crowd.isThere())
  clock.advance(1)
  assert.not(crowd.isThere())
})

test.run()
