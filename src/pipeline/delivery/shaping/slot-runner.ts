/**
 * Runs deliveries in slots. The deliveries of a slot run one after another or pipelined; paths that wait for
 * a slot of the thread are served round robin.
 *
 * In: paths with ready deliveries, from the shaper. Out: calls of `deliver`.
 */
import { once } from 'node:events'
import type { Clock } from '../../../lib/clock.ts'
import { Slab } from '../../../lib/slab.ts'
import type { ClaimedDelivery } from '../../../store/model/command.ts'
import { type PipelineSlot, runPipelined } from '../sessions/pipeline.ts'
import { admitNext, type Gate, isCrowded, widthOf } from './admission.ts'
import type { EgressPath } from './egress-path.ts'
import type { ReadyDelivery } from './ready-queue.ts'
import type { Slots } from './slots.ts'

interface SlotRunner {
  /** Starts as many deliveries as the gates of the path and thread admit. */
  start(path: EgressPath): void
  /** Removes the path from those that wait for a slot of the thread. */
  leave(path: EgressPath): void
  /** Resolves when no delivery is in progress, or after the time has passed. */
  idle(withinMs: number): Promise<void>
  /** Starts nothing more. */
  stop(): void
}

interface SlotRunnerOptions {
  clock: Clock
  slots: Slots
  /** Called for a delivery that is likely to start soon. */
  prepare(delivery: ClaimedDelivery): void
  deliver(path: EgressPath, ready: ReadyDelivery, slot: PipelineSlot): Promise<void>
  /** Called when a delivery left the ready queue, or a slot of the path came free. */
  onMoved(path: EgressPath): void
  onError(error: unknown): void
}

/** Deliveries of a full path that are prepared, per delivery in progress on that path. */
const PREPARED_SHARE = 0.75
/** A destination that stayed silent once is not waited for so long again within this time. */
const PARK_INTERVAL_MS = 3_600_000
/** Number of waiting paths that are tried when a slot comes free. */
const PATHS_WOKEN_MAX = 16

/** Gates of the thread. A path that one of them refused is started again when a slot comes free. */
const THREAD_GATES: ReadonlySet<Gate> = new Set<Gate>([
  'thread-slots',
  'adaptive-limit',
  'unproven-share',
  'account-share',
])

export function createSlotRunner(options: SlotRunnerOptions): SlotRunner {
  const { clock, slots, onMoved } = options
  const underWay = new Slab<Promise<void>>()
  /** Paths whose next delivery waits for a slot of the thread, longest wait first. */
  const blocked = new Set<EgressPath>()
  let stopped = false

  const start = (path: EgressPath) => {
    while (!stopped) {
      const next = admitNext(path, slots, path.active)
      if (typeof next === 'string') {
        if (THREAD_GATES.has(next)) blocked.add(path)
        else if (next === 'window' || next === 'circuit-breaker') prepareNext(path)
        return
      }
      path.active++
      const slot = run(path, next)
        .catch(options.onError)
        .finally(() => underWay.drop(number))
      const number = underWay.put(slot)
    }
  }
  /**
   * A rate-limited path has time to prepare deliveries when they start, and a path without free capacity
   * needs none now.
   */
  const prepareNext = (path: EgressPath) => {
    if (path.ready.length === 0 || path.active < widthOf(path) || path.rateLimit.perSecond !== null) return
    for (const delivery of path.ready.first(Math.ceil(path.active * PREPARED_SHARE)))
      options.prepare(delivery)
  }
  /** Takes the next delivery for a slot that has come free, unless other paths wait for it. */
  const following = (path: EgressPath) => {
    if (stopped || blocked.size > 0) return undefined
    const next = admitNext(path, slots, path.active - 1)
    return typeof next === 'string' ? undefined : next
  }

  /** Runs a slot until no delivery follows. */
  const run = async (path: EgressPath, first: ReadyDelivery) => {
    const bearsIt = () => !stopped && path.active <= widthOf(path)
    try {
      await runPipelined(first, {
        carryOut: (ready, slot) => carryOut(path, ready, slot).catch(options.onError),
        mayFollow: () => slots.isRoomy && isCrowded(path),
        mayStillBegin: bearsIt,
        next: () => following(path),
      })
    } finally {
      path.active--
      wakeBlocked(PATHS_WOKEN_MAX)
      start(path)
      onMoved(path)
    }
  }
  const carryOut = async (path: EgressPath, ready: ReadyDelivery, slot: PipelineSlot) => {
    path.rateLimit.begin()
    const free = takeSlot(path, ready, slot, { slots, clock, onParked: () => wakeBlocked(PATHS_WOKEN_MAX) })
    onMoved(path)
    prepareNext(path)
    try {
      await options.deliver(path, ready, slot)
    } finally {
      free()
    }
    start(path)
  }
  const wakeBlocked = (most: number) => {
    let left = Math.min(blocked.size, most)
    for (const path of blocked) {
      if (slots.isFull || left-- === 0) return
      blocked.delete(path)
      start(path)
    }
  }
  slots.onRoom(() => wakeBlocked(blocked.size))

  return {
    start,
    leave: path => void blocked.delete(path),
    idle: withinMs => allEnded(underWay, clock, withinMs),
    stop() {
      stopped = true
    },
  }
}

/** @returns a function that frees the slot, or the place in which the delivery is parked */
function takeSlot(
  path: EgressPath,
  { delivery }: ReadyDelivery,
  slot: PipelineSlot,
  { slots, clock, onParked }: { slots: Slots; clock: Clock; onParked(): void },
): () => void {
  let free = slots.take(path.isProven, delivery.accountId)
  let isParked = false
  slot.mayWaitOn = () => {
    const place = isParked ? undefined : parkOn(path, slots, clock)
    if (!place) return isParked
    isParked = true
    free()
    free = place
    onParked()
    return true
  }
  return () => {
    slot.mayWaitOn = () => true
    free()
  }
}

/**
 * Parks a delivery that waits for a slow host: one of each path, and one in an hour of a path that does not
 * answer.
 *
 * @returns a function that ends it; undefined when the delivery must not wait on
 */
function parkOn(path: EgressPath, slots: Slots, clock: Clock): (() => void) | undefined {
  const now = clock.monotonic()
  if (path.isParked || now - (path.parkedAt ?? Number.NEGATIVE_INFINITY) < PARK_INTERVAL_MS) return undefined
  const place = slots.park()
  if (!place) return undefined
  path.isParked = true
  path.parkedAt = now
  return () => {
    path.isParked = false
    place()
  }
}

/** Resolves when all promises have settled, or after the time has passed. */
async function allEnded(underWay: Slab<Promise<void>>, clock: Clock, withinMs: number) {
  const deadline = new AbortController()
  const timer = clock.timer(withinMs, () => deadline.abort())
  while (underWay.size > 0 && !deadline.signal.aborted)
    await Promise.race([...underWay, once(deadline.signal, 'abort')])
  timer.cancel()
}
