import * as assert from 'uvu/assert'
import { MemoryBudget } from '../../../src/lib/memory-budget.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/memory-budget')

for (const [name, total, inAnyCase, largest] of [
  ['an owner may hold half of it', 100, 0, 50],
  ['an owner may hold what the largest input needs', 100, 60, 60],
  ['no owner holds more than there is', 40, 60, 40],
] as const)
  test(name, () => {
    assert.is(new MemoryBudget(total, createManualClock(), inAnyCase).ownerBytesMax, largest)
  })

test.run()
