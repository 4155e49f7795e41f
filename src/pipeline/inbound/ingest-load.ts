/** How many messages are on their way from DATA to their 250. While those are many, what can wait steps back. */
import type { Clock } from '../../lib/clock.ts'

export interface IngestLoad {
  enter(): void
  leave(): void
  size(): number
  /** More wait, or did a moment ago, than a machine that keeps up ever has. */
  isThere(): boolean
}

const MANY = 8
/** Commits acknowledge many at once, and the next ones come at once. */
const MOMENT_MS = 100

export function createIngestLoad(clock: Pick<Clock, 'monotonic'>): IngestLoad {
  let size = 0
  let manyAt = Number.NEGATIVE_INFINITY
  return {
    enter() {
      size += 1
      if (size > MANY) manyAt = clock.monotonic()
    },
    leave() {
      size -= 1
    },
    size: () => size,
    isThere: () => clock.monotonic() - manyAt < MOMENT_MS,
  }
}
