/**
 * Traffic shaping of a delivery thread: keeps the egress paths of each destination, holds claimed deliveries
 * until their path admits them, and runs them.
 *
 * In: deliveries that the scheduler has claimed (`take`). Out: calls of `deliver`, free capacity for the
 * scheduler, and events about circuit breakers and warm-up. Called by `worker.ts` only.
 */
import type { Clock } from '../../../lib/clock.ts'
import type { ClaimedDelivery } from '../../../store/model/command.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'
import type { PathState } from '../../queue/paths.ts'
import type { DestinationLimits } from '../destinations/providers.ts'
import type { PipelineSlot } from '../sessions/pipeline.ts'
import { NO_CAPACITY } from './admission.ts'
import type { BreakerState } from './circuit-breaker.ts'
import {
  type CongestionFeedbackOptions,
  createCongestionFeedback,
  type JudgeCongestion,
  type PathKey,
  type RecordFeedback,
} from './congestion-feedback.ts'
import {
  allBreakersOpen,
  areAllIdle,
  capacityIn,
  type DestinationPaths,
  distribute,
  unclaimSpent,
} from './destination-paths.ts'
import {
  closePath,
  createEgressPath,
  type EgressPath,
  type EgressPathOptions,
  stateOf,
} from './egress-path.ts'
import type { ReadyDelivery } from './ready-queue.ts'
import { createSlotRunner } from './slot-runner.ts'
import type { Slots } from './slots.ts'
import type { EgressSource } from './source-ips.ts'
import type { WarmupBudgets } from './warmup-budget.ts'

export interface Shaper {
  /** Number of further deliveries of the destination that may be claimed now. */
  capacityOf(destination: string): Capacity
  /** @param deliveryClass class of all the deliveries */
  take(destination: string, deliveryClass: number, deliveries: readonly ClaimedDelivery[]): void
  /** Restores a circuit breaker that was open before a restart. */
  restoreBreaker(name: PathKey, state: BreakerState): void
  /** Makes open circuit breakers of the destination half open. @returns false when none was open */
  probeNow(destination: string): boolean
  /** Applies a new rate limit of the operator. */
  updateRate(destination: string): void
  /** Whether all paths to the destination are open or half open. */
  isPaused(destination: string): boolean
  /** Undefined for a destination that is not remembered. */
  pathsTo(destination: string): PathState[] | undefined
  /** Removes and returns deliveries that match and have not started. */
  recall(isMeant: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[]
  /** Resolves when no delivery is in progress, or after the time has passed. */
  idle(withinMs: number): Promise<void>
  /** Starts nothing more. @returns the deliveries that had not started */
  stop(): ClaimedDelivery[]
}

interface ShaperOptions extends Omit<CongestionFeedbackOptions, 'pathsOf' | 'unclaim'> {
  clock: Clock
  slots: Slots
  warmupBudgets: Pick<WarmupBudgets, 'of'>
  limitsOf(destination: string): DestinationLimits
  /** Rate limit of the operator for all paths together, in messages per second; null when there is none. */
  capOf(destination: string): number | null
  /** Called for a delivery that is likely to start soon. */
  prepare(delivery: ClaimedDelivery): void
  /** @returns false when the delivery lost its slot in the pipeline and must be given back */
  deliver(
    delivery: ClaimedDelivery,
    source: EgressSource,
    judge: JudgeCongestion,
    slot: PipelineSlot,
  ): Promise<boolean>
  /** Called when deliveries of the destination may be claimed again. */
  onRoom(destination: string): void
  /**
   * Called when a path has used up its warm-up budget of the day, with the deliveries that were claimed for
   * it and not started.
   */
  onSpent(destination: string, unstarted: readonly ClaimedDelivery[]): void
  onError(error: unknown): void
}

/** Claimed deliveries that wait in memory, for all destinations of the thread together. */
const READY_DELIVERIES_MAX = 2_000
/** Idle destinations whose paths are remembered. */
const DESTINATIONS_MAX = 10_000

export function createShaper(options: ShaperOptions): Shaper {
  const { clock, slots, warmupBudgets, sourceIps, onError } = options
  const destinations = new Map<string, DestinationPaths>()
  const waiting = { count: 0 }
  let stopped = false

  const pathsOf = (name: string): DestinationPaths =>
    destinations.get(name) ?? createPaths(options, name, { clock, waiting, warmupBudgets, wake })
  const wake = ({ destination: name }: EgressPath) => {
    const destination = pathsOf(name)
    giveBackSpent(destination)
    for (const path of destination.paths) runner.start(path)
    offerRoom(destination)
  }
  /** Returned deliveries wait in the queue for another path or for the next day. */
  const giveBackSpent = (destination: DestinationPaths) => {
    const spent = unclaimSpent(destination)
    if (spent.length > 0) options.onSpent(destination.name, spent)
  }
  const runner = createSlotRunner({
    clock,
    slots,
    prepare: options.prepare,
    deliver: (path, ready, slot) => deliverOn(options, path, ready, slot, recordFeedback),
    onMoved(path) {
      const destination = pathsOf(path.destination)
      if (areAllIdle(destination)) keep(destinations, destination)
      offerRoom(destination)
    },
    onError,
  })

  const unclaim = (path: EgressPath): ClaimedDelivery[] => {
    runner.leave(path)
    return path.ready.clear()
  }
  const recordFeedback = createCongestionFeedback({ ...options, pathsOf, unclaim })

  const capacityOf = (paths: DestinationPaths) => capacityIn(paths, READY_DELIVERIES_MAX - waiting.count)
  const offerRoom = (destination: DestinationPaths) => {
    const { any, transactional } = capacityOf(destination)
    const isNews = any > 0 || (transactional > 0 && !destination.hadTransactionalCapacity)
    destination.hadTransactionalCapacity = transactional > 0
    if (isNews && !stopped) options.onRoom(destination.name)
  }

  return {
    capacityOf: name => (stopped ? NO_CAPACITY : capacityOf(pathsOf(name))),
    take(name, deliveryClass, deliveries) {
      const destination = pathsOf(name)
      destinations.set(name, destination)
      distribute(destination, deliveryClass, deliveries, sourceIps)
      giveBackSpent(destination)
      destination.hadTransactionalCapacity = capacityOf(destination).transactional > 0
      for (const path of destination.paths) runner.start(path)
    },
    restoreBreaker({ destination: name, source: wanted }, state) {
      const destination = pathsOf(name)
      destinations.set(name, destination)
      for (const path of destination.paths)
        if (wanted === '' || path.source.name === wanted) path.breaker.restore(state)
    },
    probeNow: name => pathsOf(name).paths.filter(({ breaker }) => breaker.probeNow()).length > 0,
    updateRate(name) {
      for (const { rateLimit } of destinations.get(name)?.paths ?? []) rateLimit.change(rateOf(options, name))
    },
    isPaused: name => destinations.has(name) && allBreakersOpen(pathsOf(name)),
    pathsTo: name => destinations.get(name)?.paths.map(stateOf),
    recall(isMeant) {
      return [...destinations.values()].flatMap(destination => {
        const recalled = destination.paths.flatMap(({ ready }) => ready.clear(isMeant))
        if (recalled.length > 0) offerRoom(destination)
        return recalled
      })
    },
    idle: runner.idle,
    stop() {
      stopped = true
      runner.stop()
      const paths = [...destinations.values()].flatMap(destination => destination.paths)
      for (const path of paths) closePath(path)
      return paths.flatMap(unclaim)
    },
  }
}

function createPaths(options: ShaperOptions, name: string, pathOptions: EgressPathOptions): DestinationPaths {
  const limits = { ...options.limitsOf(name), messagesPerSecond: rateOf(options, name) }
  const paths = options.sourceIps.sources.map(source => createEgressPath(name, source, limits, pathOptions))
  return { name, paths, hadTransactionalCapacity: true }
}

/**
 * Rate limit of each path, in messages per second. The operator's limit is divided evenly among the paths.
 */
function rateOf({ limitsOf, capOf, sourceIps }: ShaperOptions, destination: string): number | null {
  const { messagesPerSecond } = limitsOf(destination)
  const cap = capOf(destination)
  if (cap === null) return messagesPerSecond
  return Math.min(cap / sourceIps.sources.length, messagesPerSecond ?? Number.POSITIVE_INFINITY)
}

/** A delivery that was not sent does not count towards the warm-up budget. */
async function deliverOn(
  { deliver, giveBack }: ShaperOptions,
  path: EgressPath,
  { delivery, isTransactional }: ReadyDelivery,
  slot: PipelineSlot,
  recordFeedback: RecordFeedback,
): Promise<void> {
  const end = path.warmupBudget.begin(isTransactional)
  let wasSent = false
  const judge: JudgeCongestion = (signal, text) => {
    wasSent = signal === 'ok'
    recordFeedback(path, delivery, signal, text)
  }
  try {
    if (!(await deliver(delivery, path.source, judge, slot))) giveBack([delivery])
  } finally {
    end(wasSent)
  }
}

/**
 * Keeps the state of an idle destination, and forgets the one that has been idle longest when there are too
 * many. Destinations with an open circuit breaker are kept.
 */
function keep(destinations: Map<string, DestinationPaths>, destination: DestinationPaths) {
  destinations.delete(destination.name)
  destinations.set(destination.name, destination)
  if (destinations.size <= DESTINATIONS_MAX) return
  for (const other of destinations.values())
    if (areAllIdle(other) && !other.paths.some(({ breaker }) => breaker.isOpen))
      return void destinations.delete(other.name)
}
