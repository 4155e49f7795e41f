/** Budget of memory for large input, as the service makes it. */
import type { Clock } from '../../src/lib/clock.ts'
import { MemoryBudget } from '../../src/lib/memory-budget.ts'
import { createManualClock } from './manual-clock.ts'

const MIB = 1024 * 1024

export function largeInput({ bytes = 224 * MIB, clock = createManualClock() as Clock } = {}): MemoryBudget {
  return new MemoryBudget(bytes, clock)
}
