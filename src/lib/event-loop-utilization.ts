/** Share of time a thread's event loop is busy. */
import { performance } from 'node:perf_hooks'

/**
 * @returns a function that returns the share of time, 0 to 1, in which the calling thread was busy since the
 * previous call
 */
export function createEventLoopUtilization(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}
