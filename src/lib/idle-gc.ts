/**
 * Gives back what a thread took while it was busy, once it is quiet. Left to itself the runtime does so only when nothing has been
 * collected for 100 seconds.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createEventLoopUtilization } from './event-loop-utilization.ts'

export interface OwnHeap {
  /** The share of time that was worked since it was asked last, 0 to 1. */
  utilization(): number
  /** What the heap has of the machine, and the buffers beside it, whether it is still needed or not. */
  heldBytes(): number
  /** Takes as long as what is needed is large: some 20 ms. What is not needed may be given back a while later. */
  collect(): void
}

const SAMPLE_INTERVAL_MS = 5_000
const IDLE_UTILIZATION_MAX = 0.05
const RECLAIMABLE_BYTES_MIN = 8 * 1024 * 1024

/** For this thread, which it does not keep from ending. */
export function collectGarbageWhenIdle(): void {
  setInterval(idleCollector(ownHeap()), SAMPLE_INTERVAL_MS).unref()
}

/** @returns what is to be called every few seconds */
export function idleCollector(heap: OwnHeap): () => void {
  let needed = heap.heldBytes()
  return () => {
    const held = heap.heldBytes()
    needed = Math.min(needed, held)
    const isIdle = heap.utilization() < IDLE_UTILIZATION_MAX
    if (!isIdle || held < needed + RECLAIMABLE_BYTES_MIN) return
    heap.collect()
    needed = heap.heldBytes()
  }
}

/** That of the thread which calls. */
export function ownHeap(): OwnHeap {
  let collector: (() => void) | undefined
  return {
    utilization: createEventLoopUtilization(),
    // `process.memoryUsage()` would open a file, which is not to be had when a crowd has taken all of them
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

/** Only contexts that are made from then on have it. */
function newCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
