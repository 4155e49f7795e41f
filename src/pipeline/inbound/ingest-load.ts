/**
 * Counts the messages between DATA and their final reply. While there are many, background work such as
 * parsing yields to the listener. Updated by `listener.ts`, read by it and by `inbound-processor.ts`.
 */
import type { Clock } from '../../lib/clock.ts'

export interface IngestLoad {
  enter(): void
  leave(): void
  size(): number
  /** Whether more messages wait, or waited within the last 100 ms, than when the machine keeps up. */
  isHigh(): boolean
}

const NORMAL_MESSAGES_MAX = 8
/** A group commit acknowledges many messages together, and the next ones follow immediately. */
const HIGH_FOR_MS = 100

export function createIngestLoad(clock: Pick<Clock, 'monotonic'>): IngestLoad {
  let size = 0
  let highAt = Number.NEGATIVE_INFINITY
  return {
    enter() {
      size += 1
      if (size > NORMAL_MESSAGES_MAX) highAt = clock.monotonic()
    },
    leave() {
      size -= 1
    },
    size: () => size,
    isHigh: () => clock.monotonic() - highAt < HIGH_FOR_MS,
  }
}
