/**
 * Keeps the queue keys that have waiting deliveries, ordered by the time of their next delivery. The index
 * holds queue keys and never deliveries, so that its size does not grow with the queue.
 */
import type { Clock, Timer } from '../../lib/clock.ts'
import { createHeap } from '../../lib/heap.ts'
import { type QueueKey, queueKeyText } from '../../store/model/command.ts'
import type { DueQueueKey } from './queue-key-rows.ts'

export interface IndexedQueueKey extends QueueKey {
  key: string
}

interface DueIndex {
  /**
   * Notes that the queue key has a delivery that is due at `at`. A later time than the known one has no
   * effect.
   */
  note(queueKey: DueQueueKey): void
  /** Releases a queue key that `onDue` has returned. `nextAt` is null when no delivery waits in it. */
  served(queueKey: IndexedQueueKey, nextAt: number | null): void
  /** Number of queue keys with waiting deliveries. */
  size(): number
  /** Cancels the timer; `onDue` is not called again. */
  close(): void
}

interface Entry extends IndexedQueueKey {
  /** Time at which the queue key is due, or, while it is being served, the earliest time noted since. */
  at: number
  serving: boolean
}

/** The wall clock may jump, so the timer fires at least this often. */
const SLEEP_MS_MAX = 10_000

/** @param onDue is called once for a due queue key, and again only after `served` */
export function createDueIndex(clock: Clock, onDue: (queueKey: IndexedQueueKey) => void): DueIndex {
  const entries = new Map<string, Entry>()
  const sleeping = createHeap<{ entry: Entry; at: number }>(({ at }) => at)
  let timer: Timer | undefined
  let timerAt = Number.POSITIVE_INFINITY
  let closed = false

  const wake = () => {
    if (closed) return
    timer?.cancel()
    timer = undefined
    timerAt = Number.POSITIVE_INFINITY
    const now = clock.now()
    for (let first = sleeping.peek(); first && first.at <= now; first = sleeping.peek()) {
      sleeping.pop()
      const { entry, at } = first
      if (entry.serving || entry.at !== at) continue
      entry.serving = true
      entry.at = Number.POSITIVE_INFINITY
      onDue(entry)
    }
    arm()
  }

  const arm = () => {
    const first = sleeping.peek()
    if (closed || !first || first.at >= timerAt) return
    timer?.cancel()
    timerAt = first.at
    timer = clock.timer(Math.min(Math.max(0, first.at - clock.now()), SLEEP_MS_MAX), wake)
  }

  const sleepUntil = (entry: Entry, at: number) => {
    entry.at = at
    sleeping.push({ entry, at })
    if (at <= clock.now()) wake()
    else arm()
  }

  return {
    note(queueKey) {
      const key = queueKeyText(queueKey)
      const known = entries.get(key)
      if (!known) {
        const { domain, class: deliveryClass, accountId, at } = queueKey
        const entry = { key, domain, class: deliveryClass, accountId, at, serving: false }
        entries.set(key, entry)
        sleepUntil(entry, at)
      } else if (known.serving) known.at = Math.min(known.at, queueKey.at)
      else if (queueKey.at < known.at) sleepUntil(known, queueKey.at)
    },
    served(queueKey, nextAt) {
      const entry = entries.get(queueKey.key)
      if (!entry?.serving) return
      entry.serving = false
      const at = Math.min(entry.at, nextAt ?? Number.POSITIVE_INFINITY)
      if (at === Number.POSITIVE_INFINITY) entries.delete(queueKey.key)
      else sleepUntil(entry, at)
    },
    size: () => entries.size,
    close() {
      closed = true
      timer?.cancel()
    },
  }
}
