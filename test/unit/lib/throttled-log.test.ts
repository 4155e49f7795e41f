import * as assert from 'uvu/assert'
import { createLog } from '../../../src/lib/log.ts'
import { throttledLog } from '../../../src/lib/throttled-log.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/throttled-log')

for (const level of ['warn', 'error'] as const)
  test(`throttled log: a repeated event is logged at once, and then once a minute with the number of times: ${level}`, () => {
    const clock = createManualClock()
    const lines: string[] = []
    const log = createLog('info', { write: line => void lines.push(line) })
    const say = throttledLog({ log, clock }, level, 'no_room', 'No room')
    for (let second = 0; second < 121; second++) {
      say({ second })
      clock.advance(1_000)
    }
    const text = lines.map(line => JSON.parse(line))
    assert.equal(
      text.map(({ event, level, msg, second, times }) => [event, level, msg, second, times]),
      [
        ['no_room', level, 'No room', 0, 1],
        ['no_room', level, 'No room', 60, 60],
        ['no_room', level, 'No room', 120, 60],
      ],
    )
  })

test.run()
