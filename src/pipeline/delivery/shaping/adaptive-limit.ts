/**
 * Limits the number of CPU-bound deliveries in progress on one delivery thread. The limit grows by 25 % while
 * it is reached and the thread is less than 80 % busy, and shrinks by 20 % when the thread is busier than
 * that. Without the limit, deliveries wait for each other's CPU time while each holds a connection and
 * memory.
 *
 * A delivery counts for 50 to 100 ms after it starts; after that it is assumed to be waiting for the network.
 * Measurements: decision 0090.
 */
import type { Clock } from '../../../lib/clock.ts'

export interface AdaptiveLimit {
  /** Number of further deliveries that may start now. */
  readonly room: number
  /** Counts a delivery that starts. @returns a function to call when it ends */
  enter(): () => void
  /** @param listener called when deliveries may start again although none has ended */
  onRoom(listener: () => void): void
}

interface AdaptiveLimitOptions {
  clock: Clock
  /** Share of time, 0 to 1, in which the thread was busy since the last call. */
  busyShare(): number
  max: number
}

const LIMIT_MIN = 32
/** A delivery counts for one to two of these intervals. */
const SAMPLE_INTERVAL_MS = 50
const BUSY_SHARE_MAX = 0.8
const GROWTH_FACTOR = 1.25
const SHRINK_FACTOR = 0.8
/** The limit grows only while at least this share of it is in use. */
const UTILIZATION_MIN = 0.9

export function createAdaptiveLimit({ clock, busyShare, max }: AdaptiveLimitOptions): AdaptiveLimit {
  const min = Math.min(LIMIT_MIN, max)
  let allowed = min
  let current = { count: 0 }
  let previous = { count: 0 }
  let isTicking = false
  let wasRefused = false
  let wake = () => {}

  const countOf = () => current.count + previous.count
  const roomNow = () => Math.max(0, Math.ceil(allowed - countOf()))
  const tick = () => {
    const count = countOf()
    if (busyShare() >= BUSY_SHARE_MAX) allowed = Math.max(min, Math.min(allowed, count) * SHRINK_FACTOR)
    else if (count >= allowed * UTILIZATION_MIN) allowed = Math.min(max, allowed * GROWTH_FACTOR)
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
