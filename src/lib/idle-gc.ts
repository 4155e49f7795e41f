/**
 * Collects garbage when a thread becomes idle, to return memory after a busy period. V8 by itself does so
 * only after 100 seconds without a collection.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createEventLoopUtilization } from './event-loop-utilization.ts'

interface OwnHeap {
  /** Share of time the event loop was busy since the last call, 0 to 1. */
  utilization(): number
  /** Physical size of the heap and of external buffers, garbage included. */
  heldBytes(): number
  /**
   * Collects garbage. It takes about 20 ms, depending on the live data; memory may be returned somewhat
   * later.
   */
  collect(): void
}

const SAMPLE_INTERVAL_MS = 5_000
const IDLE_UTILIZATION_MAX = 0.05
const RECLAIMABLE_BYTES_MIN = 8 * 1024 * 1024

/** Starts the collector for the calling thread. The timer does not keep the thread alive. */
export function collectGarbageWhenIdle(): void {
  setInterval(idleCollector(ownHeap()), SAMPLE_INTERVAL_MS).unref()
}

/** @returns the function to call every few seconds */
export function idleCollector(heap: OwnHeap): () => void {
  return collectorFrom(heap, RECLAIMABLE_BYTES_MIN, () => heap.utilization() < IDLE_UTILIZATION_MAX)
}

/**
 * @param reclaimableBytes growth since the smallest size that is worth a collection
 * @param mayCollect whether this is a moment to collect
 * @returns the function that collects garbage if the heap has grown so much
 */
export function collectorFrom(
  heap: Pick<OwnHeap, 'heldBytes' | 'collect'>,
  reclaimableBytes: number,
  mayCollect = () => true,
): () => void {
  let needed = heap.heldBytes()
  return () => {
    const held = heap.heldBytes()
    needed = Math.min(needed, held)
    if (!mayCollect() || held < needed + reclaimableBytes) return
    heap.collect()
    needed = heap.heldBytes()
  }
}

export function ownHeap(): OwnHeap {
  let collector: (() => void) | undefined
  return {
    utilization: createEventLoopUtilization(),
    // `process.memoryUsage()` would open a file, which fails when connections have used up all descriptors
    heldBytes() {
      const { total_physical_size: heap, external_memory: beside } = getHeapStatistics()
      return heap + beside
    },
    collect() {
      collector ??= newCollector()
      collector()
    },
  }
}

/** Returns the function `gc`, which exists only in contexts that are created after the flag is set. */
function newCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
