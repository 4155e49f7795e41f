import * as assert from 'uvu/assert'
import { createReadiness } from '../../../src/app/readiness.ts'
import { StorageUnavailable } from '../../../src/store/command.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('readiness')

function openReadiness(write: () => Promise<void>) {
  const clock = createManualClock()
  const readiness = createReadiness((async () => write()) as never, clock)
  readiness.started()
  return { clock, readiness }
}

test('readiness: a store that accepts writes is ready, an unavailable one is not', async () => {
  let isFull = false
  const { clock, readiness } = openReadiness(async () => {
    if (isFull) throw new StorageUnavailable('full')
  })
  assert.equal(await readiness.notReady(), [])
  isFull = true
  clock.advance(1_001)
  assert.equal(await readiness.notReady(), ['database'])
})

test('readiness: a write that hangs is reported after five seconds', async () => {
  const { clock, readiness } = openReadiness(() => new Promise(() => {}))
  for (let asked = 0; asked < 2; asked++) {
    const answer = readiness.notReady()
    clock.advance(5_000)
    assert.equal(await answer, ['database'])
  }
  assert.is(clock.timerCount, 0)
})

test.run()
