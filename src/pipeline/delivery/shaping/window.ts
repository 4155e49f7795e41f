/**
 * How many deliveries go to one destination at once: one more for each that gets through until the
 * destination first pushes back, from then on one more for a windowful; half when it pushes back. After an
 * outage this begins anew.
 */

export interface Window {
  readonly size: number
  /** Nothing has been learnt that would be lost with the window. */
  readonly isFresh: boolean
  /** A delivery got through to an answer about its recipient. */
  grow(): void
  /** The destination refused connections, or asked for fewer. */
  shrink(): void
  /** The destination was away, and is back: what it bears is to be learnt anew, from where the window is. */
  restart(): void
}

const INITIAL_SIZE = 5

/** @param most what the destination bears at once */
export function createWindow(most: number): Window {
  const first = Math.min(INITIAL_SIZE, most)
  let size = first
  let hasShrunk = false
  return {
    get size() {
      return Math.floor(size)
    },
    get isFresh() {
      return size >= first
    },
    grow() {
      size = Math.min(most, size + (hasShrunk ? 1 / size : 1))
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
