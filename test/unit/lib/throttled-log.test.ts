import * as assert from 'uvu/assert'
import { createLog } from '../../../src/lib/log.ts'
import { throttledLog } from '../../../src/lib/throttled-log.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/sparing-line')

for (const level of ['warn', 'error'] as const)
  test(`what happens again and again is said at once, and then once a minute with how often: ${level}`, () => {
    const clock = createManualClock()
    const lines: string[] = []
    const log = createLog('info', { write: line => void lines.push(line) })
    const say = throttledLog({ log, clock }, level, 'no room')
    for (let second = 0; second < 121; second++) {
      say({ second })
      clock.advance(1_000)
    }
    const said = lines.map(line => JSON.parse(line))
    assert.equal(
      said.map(({ level, msg, second, times }) => [level, msg, second, times]),
      [
        [level, 'no room', 0, 1],
        [level, 'no room', 60, 60],
        [level, 'no room', 120, 60],
      ],
    )
  })

test.run()
