/** Samples how late the timers of a thread fire, since its event loop was busy with other work. */
import { createHistogram, type HistogramReading } from './histogram.ts'

const SAMPLE_EVERY_MS = 500
const BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export interface EventLoopDelay {
  /** Delays in seconds. */
  read(): HistogramReading
  stop(): void
}

/** Samples the calling thread until it is stopped. It does not keep the process alive. */
export function startEventLoopDelay(): EventLoopDelay {
  const delays = createHistogram(BOUNDS_SECONDS)
  let dueAt = performance.now() + SAMPLE_EVERY_MS
  const timer = setInterval(() => {
    const now = performance.now()
    delays.observe(Math.max(0, now - dueAt) / 1_000)
    dueAt = now + SAMPLE_EVERY_MS
  }, SAMPLE_EVERY_MS).unref()
  return { read: delays.read, stop: () => clearInterval(timer) }
}
