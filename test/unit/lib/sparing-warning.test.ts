import * as assert from 'uvu/assert'
import { createLog } from '../../../src/lib/log.ts'
import { sparingWarning } from '../../../src/lib/sparing-warning.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/sparing-warning')

test('what happens again and again is said at once, and then once a minute with how often', () => {
  const clock = createManualClock()
  const lines: string[] = []
  const log = createLog('info', { write: line => void lines.push(line) })
  const warn = sparingWarning({ log, clock }, 'no room')
  for (let second = 0; second < 121; second++) {
    warn({ second })
    clock.advance(1_000)
  }
  const said = lines.map(line => JSON.parse(line))
  assert.equal(
    said.map(({ level, msg, second, times }) => [level, msg, second, times]),
    [
      ['warn', 'no room', 0, 1],
      ['warn', 'no room', 60, 60],
      ['warn', 'no room', 120, 60],
    ],
  )
})

test.run()
