/**
 * Heap limits of threads. Each thread has its own heap, whose young generation has two halves of a third of
 * this size each. A half starts at `--min-semi-space-size`, unless the limit is smaller (decision 0017).
 */
import type { ResourceLimits } from 'node:worker_threads'

/** Limits of a thread that processes many items at once. */
export const BUSY_THREAD: ResourceLimits = { maxYoungGenerationSizeMb: 48 }
/** Limits of a thread that always exists and mostly waits. */
export const QUIET_THREAD: ResourceLimits = { maxYoungGenerationSizeMb: 6 }
