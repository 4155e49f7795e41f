import * as assert from 'uvu/assert'
import { startEventLoopDelay } from '../../../src/lib/event-loop-delay.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('lib/event-loop-delay')

test('work that keeps the event loop busy is seen as a delay', async t => {
  const delay = startEventLoopDelay()
  t.after(delay.stop)
  const busyUntil = performance.now() + 800
  while (performance.now() < busyUntil);
  await until(() => delay.read().counts.some(count => count > 0))
  assert.ok(delay.read().sum >= 0.25, 'the timer was due after 500 ms')
})

test.run()
