/**
 * Concurrency limit of one egress path. Each success raises the limit by one until the destination is
 * congested for the first time, and by one per window of successes after that; congestion halves it. After an
 * outage the limit grows by one per success again.
 */

export interface Window {
  readonly size: number
  /** Records that the destination answered about a recipient. */
  grow(): void
  /** Records that the destination refused connections or asked for fewer. */
  shrink(): void
  /**
   * Lets the window grow by one per success again, from its present size, because the destination was
   * unreachable and answers again.
   */
  restart(): void
}

const INITIAL_CONNECTIONS = 5

/** @param max the number of connections that the destination accepts at once */
export function createWindow(max: number): Window {
  const first = Math.min(INITIAL_CONNECTIONS, max)
  let size = first
  let hasShrunk = false
  return {
    get size() {
      return Math.floor(size)
    },
    grow() {
      size = Math.min(max, size + (hasShrunk ? 1 / size : 1))
    },
    shrink() {
      hasShrunk = true
      size = Math.max(1, size / 2)
    },
    restart() {
      hasShrunk = false
    },
  }
}
