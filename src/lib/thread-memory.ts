/**
 * Heap limits of threads. Each thread has its own heap, whose young generation has two halves of a third of
 * this size each. A half starts at `--min-semi-space-size`, unless the limit is smaller (decision 0017).
 */
import type { ResourceLimits } from 'node:worker_threads'
import { machineMemoryBytes, SEVERAL_THREADS_BYTES } from './machine-memory.ts'

/**
 * Size of a half in MiB. On small machines, halves of 4 cost a quarter more CPU time (decision 0063) and
 * leave about 30 MB a busy thread.
 */
export const HALF_MIB = machineMemoryBytes() < SEVERAL_THREADS_BYTES ? 4 : 16
/** Limits of a thread that processes many items at once. */
export const BUSY_THREAD: ResourceLimits = { maxYoungGenerationSizeMb: 3 * HALF_MIB }
/** Limits of a thread that always exists and mostly waits. */
export const QUIET_THREAD: ResourceLimits = { maxYoungGenerationSizeMb: 6 }
