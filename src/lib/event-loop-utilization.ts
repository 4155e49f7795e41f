/** Share of time a thread's event loop is busy. */
import { performance } from 'node:perf_hooks'

/** @returns the share of time that the calling thread has worked since it was asked last, 0 to 1 */
export function createEventLoopUtilization(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}
