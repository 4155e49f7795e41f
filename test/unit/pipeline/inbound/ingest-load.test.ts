import * as assert from 'uvu/assert'
import { createIngestLoad } from '../../../../src/pipeline/inbound/ingest-load.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/ingest-load')

function setUp() {
  const clock = createManualClock()
  const ingestLoad = createIngestLoad(clock)
  const times = (count: number, does: () => void) => {
    for (let i = 0; i < count; i++) does()
  }
  return { clock, ingestLoad, times }
}

test('ingest load: few concurrent messages are not high load, whatever their total', () => {
  const { ingestLoad, times } = setUp()
  times(100, () => {
    times(8, ingestLoad.enter)
    times(8, ingestLoad.leave)
  })
  assert.not(ingestLoad.isHigh())
})

test('ingest load: many concurrent messages are high load, until shortly after their replies', () => {
  const { clock, ingestLoad, times } = setUp()
  times(9, ingestLoad.enter)
  assert.ok(ingestLoad.isHigh())
  times(9, ingestLoad.leave)
  assert.is(ingestLoad.size(), 0)
  clock.advance(99)
  assert.ok(ingestLoad.isHigh())
  clock.advance(1)
  assert.not(ingestLoad.isHigh())
})

test.run()
