/**
 * Gives back what a thread took while it was busy, once it is quiet. Left to itself the runtime does so only when nothing has been
 * collected for 100 seconds.
 */
import { performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface OwnHeap {
  /** The share of time that was worked since it was asked last, 0 to 1. */
  busyShare(): number
  /** What has outlived the young generation, whether it is still needed or not. */
  oldBytes(): number
  /** Takes as long as what is needed is large: some 20 ms. */
  collect(): void
}

const LOOK_EVERY_MS = 5_000
const QUIET_BELOW = 0.05
const WORTH_BYTES = 4 * 1024 * 1024

/** For this thread, which it does not keep from ending. */
export function collectWhenQuiet(): void {
  setInterval(quietCollection(ownHeap()), LOOK_EVERY_MS).unref()
}

/** @returns what is to be called every few seconds */
export function quietCollection(heap: OwnHeap): () => void {
  let needed = heap.oldBytes()
  return () => {
    const isQuiet = heap.busyShare() < QUIET_BELOW
    if (!isQuiet || heap.oldBytes() < needed + WORTH_BYTES) return
    heap.collect()
    needed = heap.oldBytes()
  }
}

/** That of the thread which calls. */
export function ownHeap(): OwnHeap {
  let collector: (() => void) | undefined
  let before = performance.eventLoopUtilization()
  return {
    busyShare() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      return utilization
    },
    oldBytes: () =>
      getHeapSpaceStatistics()
        .filter(({ space_name: name }) => !name.startsWith('new_'))
        .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0),
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
