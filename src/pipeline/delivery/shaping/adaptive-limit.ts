/**
 * How many deliveries that get on quickly a thread has under way at once: as many as keep it busy. More would
 * wait for each other all the same, each with a connection and memory of its own. Those that wait for their
 * destination are not counted.
 */
import type { Clock } from '../../../lib/clock.ts'

export interface AdaptiveLimit {
  /** How many more may begin now. */
  readonly room: number
  /** @returns tells that it has ended */
  enter(): () => void
  /** @param listener called when there may be room though none has ended */
  onRoom(listener: () => void): void
}

interface AdaptiveLimitOptions {
  clock: Clock
  /** The share of time that the thread has worked since it was asked last, 0 to 1. */
  busyShare(): number
  most: number
}

const LIMIT_MIN = 32
/** After one to two of these a delivery waits for its destination. */
const SAMPLE_INTERVAL_MS = 50
const BUSY_SHARE_MAX = 0.8
const GROWTH_FACTOR = 1.25
const SHRINK_FACTOR = 0.8
/** In use of what is allowed, before more is. */
const UTILIZATION_MIN = 0.9

export function createAdaptiveLimit({ clock, busyShare, most }: AdaptiveLimitOptions): AdaptiveLimit {
  const least = Math.min(LIMIT_MIN, most)
  let allowed = least
  let current = { count: 0 }
  let previous = { count: 0 }
  let isTicking = false
  let wasRefused = false
  let wake = () => {}

  const countOf = () => current.count + previous.count
  const roomNow = () => Math.max(0, Math.ceil(allowed - countOf()))
  const tick = () => {
    const count = countOf()
    if (busyShare() >= BUSY_SHARE_MAX) allowed = Math.max(least, Math.min(allowed, count) * SHRINK_FACTOR)
    else if (count >= allowed * UTILIZATION_MIN) allowed = Math.min(most, allowed * GROWTH_FACTOR)
    previous = current
    current = { count: 0 }
    isTicking = count > 0
    if (isTicking) clock.timer(SAMPLE_INTERVAL_MS, tick)
    if (!wasRefused || roomNow() === 0) return
    wasRefused = false
    wake()
  }

  return {
    get room() {
      const room = roomNow()
      wasRefused ||= room === 0
      return room
    },
    enter() {
      if (!isTicking) {
        isTicking = true
        busyShare()
        clock.timer(SAMPLE_INTERVAL_MS, tick)
      }
      const cohort = current
      cohort.count++
      return () => void cohort.count--
    },
    onRoom(listener) {
      wake = listener
    },
  }
}
