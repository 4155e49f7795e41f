/**
 * Runs deliveries in slots. The deliveries of a slot run one after another or pipelined; paths that wait for
 * a slot of the thread are served round robin.
 *
 * In: paths with ready deliveries, from the shaper. Out: calls of the delivery runner, and signals about the
 * path.
 */
import { once } from 'node:events'
import type { Clock } from '../../../lib/clock.ts'
import { Slab } from '../../../lib/slab.ts'
import type { ClaimedDelivery } from '../../../store/model/command.ts'
import { DELIVERY_CLASS } from '../../../store/model/schema.ts'
import { type PipelineSlot, runPipelined } from '../sessions/pipeline.ts'
import { admitNext, type Gate, isCrowded, widthOf } from './admission.ts'
import type { JudgeCongestion, RecordFeedback } from './congestion-feedback.ts'
import type { EgressPath } from './egress-path.ts'
import type { Slots } from './slots.ts'
import type { EgressSource } from './source-ips.ts'

/** Runs single deliveries: the delivery runner. */
export interface Runner {
  /** Called for a delivery that is likely to start soon. */
  prepare(delivery: ClaimedDelivery): void
  /** @returns false when the delivery lost its slot in the pipeline and must be given back */
  deliver(
    delivery: ClaimedDelivery,
    source: EgressSource,
    judge: JudgeCongestion,
    slot: PipelineSlot,
  ): Promise<boolean>
}

interface SlotRunnerOptions {
  clock: Clock
  slots: Slots
  runner: Runner
  /** Called with what the result of a delivery says about its path. */
  onSignal: RecordFeedback
  /** Called when a delivery left the ready queue, or a slot of the path came free. */
  onMoved(path: EgressPath): void
  /** Called with a delivery that was not sent and returns to the queue. */
  giveBack(deliveries: readonly ClaimedDelivery[]): void
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

export class SlotRunner {
  readonly #options: SlotRunnerOptions
  readonly #underWay = new Slab<Promise<void>>()
  /** Paths whose next delivery waits for a slot of the thread, longest wait first. */
  readonly #blocked = new Set<EgressPath>()
  #isStopped = false

  constructor(options: SlotRunnerOptions) {
    this.#options = options
    options.slots.onRoom(() => this.#wakeBlocked(this.#blocked.size))
  }

  /** Starts as many deliveries as the gates of the path and thread admit. */
  start(path: EgressPath): void {
    const { slots, onError } = this.#options
    while (!this.#isStopped) {
      const next = admitNext(path, slots, path.active)
      if (typeof next === 'string') {
        if (THREAD_GATES.has(next)) this.#blocked.add(path)
        else if (next === 'window' || next === 'circuit-breaker') this.#prepareNext(path)
        return
      }
      path.active++
      const slot = this.#run(path, next)
        .catch(onError)
        .finally(() => this.#underWay.drop(number))
      const number = this.#underWay.put(slot)
    }
  }

  /** Removes the path from those that wait for a slot of the thread. */
  leave(path: EgressPath): void {
    this.#blocked.delete(path)
  }

  /** Resolves when no delivery is in progress, or after the time has passed. */
  idle(withinMs: number): Promise<void> {
    return allEnded(this.#underWay, this.#options.clock, withinMs)
  }

  /** Starts nothing more. */
  stop(): void {
    this.#isStopped = true
  }

  /** Runs a slot until no delivery follows. */
  async #run(path: EgressPath, first: ClaimedDelivery): Promise<void> {
    const { slots, onMoved, onError } = this.#options
    try {
      await runPipelined(first, {
        carryOut: (delivery, slot) => this.#deliver(path, delivery, slot).catch(onError),
        mayFollow: () => slots.isRoomy && isCrowded(path),
        mayStillBegin: () => !this.#isStopped && path.active <= widthOf(path),
        next: () => this.#following(path),
      })
    } finally {
      path.active--
      this.#wakeBlocked(PATHS_WOKEN_MAX)
      this.start(path)
      onMoved(path)
    }
  }

  /** A delivery that no host has answered does not count towards the warm-up budget. */
  async #deliver(path: EgressPath, delivery: ClaimedDelivery, slot: PipelineSlot): Promise<void> {
    const { slots, clock, runner, onSignal, onMoved, giveBack } = this.#options
    path.rateLimit.begin()
    const onParked = () => this.#wakeBlocked(PATHS_WOKEN_MAX)
    const free = takeSlot(path, delivery, slot, { slots, clock, onParked })
    onMoved(path)
    this.#prepareNext(path)
    const endBudget = path.warmupBudget.begin(delivery.class === DELIVERY_CLASS.transactional)
    let wasAnswered = false
    const judge: JudgeCongestion = (signal, text) => {
      wasAnswered = signal === 'ok'
      onSignal(path, delivery, signal, text)
    }
    try {
      if (!(await runner.deliver(delivery, path.source, judge, slot))) giveBack([delivery])
    } finally {
      endBudget(wasAnswered)
      free()
    }
    this.start(path)
  }

  /** Takes the next delivery for a slot that has come free, unless other paths wait for it. */
  #following(path: EgressPath): ClaimedDelivery | undefined {
    if (this.#isStopped || this.#blocked.size > 0) return undefined
    const next = admitNext(path, this.#options.slots, path.active - 1)
    return typeof next === 'string' ? undefined : next
  }

  /**
   * A rate-limited path has time to prepare deliveries when they start, and a path without free capacity
   * needs none now.
   */
  #prepareNext(path: EgressPath): void {
    if (path.ready.length === 0 || path.active < widthOf(path) || path.rateLimit.perSecond !== null) return
    for (const delivery of path.ready.first(Math.ceil(path.active * PREPARED_SHARE)))
      this.#options.runner.prepare(delivery)
  }

  #wakeBlocked(max: number): void {
    let left = Math.min(this.#blocked.size, max)
    for (const path of this.#blocked) {
      if (this.#options.slots.isFull || left-- === 0) return
      this.#blocked.delete(path)
      this.start(path)
    }
  }
}

/** @returns a function that frees the slot, or the place in which the delivery is parked */
function takeSlot(
  path: EgressPath,
  { accountId }: ClaimedDelivery,
  slot: PipelineSlot,
  { slots, clock, onParked }: { slots: Slots; clock: Clock; onParked(): void },
): () => void {
  let free = slots.take(path.isProven, accountId)
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
