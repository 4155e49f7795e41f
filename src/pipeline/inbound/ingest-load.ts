/** How many messages are on their way from DATA to their 250. While those are many, what can wait steps back. */
import type { Clock } from '../../lib/clock.ts'

export interface IngestLoad {
  enter(): void
  leave(): void
  size(): number
  /** More wait, or did a moment ago, than a machine that keeps up ever has. */
  isHigh(): boolean
}

const ACKNOWLEDGED_AT_ONCE_MAX = 8
/** Commits acknowledge many at once, and the next ones come at once. */
const BUSY_FOR_MS = 100

export function createIngestLoad(clock: Pick<Clock, 'monotonic'>): IngestLoad {
  let size = 0
  let manyAt = Number.NEGATIVE_INFINITY
  return {
    enter() {
      size += 1
      if (size > ACKNOWLEDGED_AT_ONCE_MAX) manyAt = clock.monotonic()
    },
    leave() {
      size -= 1
    },
    size: () => size,
    isHigh: () => clock.monotonic() - manyAt < BUSY_FOR_MS,
  }
}
