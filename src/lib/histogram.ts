/** Counts values by size, as Prometheus histograms do. */

export interface HistogramReading {
  /** Upper bounds of the buckets, ascending. */
  bounds: readonly number[]
  /** Number of values per bucket, and of those above the last bound. */
  counts: readonly number[]
  sum: number
}

interface Histogram {
  observe(value: number): void
  read(): HistogramReading
}

/** Bounds for durations of requests and commits, in seconds. */
export const DURATION_BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Array<number>(bounds.length + 1).fill(0)
  let sum = 0
  return {
    observe(value) {
      let bucket = 0
      while (value > bounds[bucket]!) bucket++
      counts[bucket]!++
      sum += value
    },
    read: () => ({ bounds, counts: [...counts], sum }),
  }
}
