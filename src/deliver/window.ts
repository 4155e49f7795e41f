/** How many deliveries go to one site at once: grows while they get through, halves when the site pushes back. */

export interface Window {
  readonly size: number
  /** Nothing has been learnt that would be lost with the window. */
  readonly isFresh: boolean
  /** A delivery got through to an answer about its recipient. */
  grow(): void
  /** The site refused connections, or asked for fewer. */
  shrink(): void
}

const FIRST = 5
const MOST = 20

export function createWindow(): Window {
  let size = FIRST
  return {
    get size() {
      return Math.floor(size)
    },
    get isFresh() {
      return size >= FIRST
    },
    grow() {
      size = Math.min(MOST, size + 1 / size)
    },
    shrink() {
      size = Math.max(1, size / 2)
    },
  }
}
