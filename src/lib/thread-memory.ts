/**
 * How much each thread, which has a heap of its own, takes for what it has just made: a young generation has
 * two halves of a third of this, and begins with `--min-semi-space-size` for each unless that is more.
 */
import type { ResourceLimits } from 'node:worker_threads'

/** Works on much at once. */
export const BUSY_THREAD: ResourceLimits = { maxYoungGenerationSizeMb: 48 }
/** There all the time, and mostly waits. */
export const QUIET_THREAD: ResourceLimits = { maxYoungGenerationSizeMb: 6 }
