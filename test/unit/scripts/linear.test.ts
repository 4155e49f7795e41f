import * as assert from 'uvu/assert'
import { assertLinear, assertLinearInTurns } from '../../kit/linear.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('linear time')

/** Repeats work that no compiler leaves out. */
function spin(steps: number): number {
  let sum = 0
  for (let step = 0; step < steps; step++) sum = (sum * 31 + step) | 0
  return sum
}

test('linear time: work in proportion passes', () => {
  assertLinear('steps', count => spin(count * 1_000), 5_000)
})

test('linear time: work that grows with the square is found', () => {
  assert.throws(
    () => assertLinear('squares', count => spin(count * count), 2_500),
    /"squares": 4 times as much takes \d+ times/,
  )
})

test('linear time: the same for work in turns', async () => {
  await assertLinearInTurns('steps', async count => spin(count * 1_000), 5_000)
  const found = await assertLinearInTurns('squares', async count => spin(count * count), 2_500).catch(
    error => error,
  )
  assert.match(String(found), /"squares": 4 times as much takes \d+ times/)
})

test.run()
