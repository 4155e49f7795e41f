/**
 * Works deliveries off, destination by destination: a bounded number waits in memory, as many are under way
 * as the destination bears.
 */
import type { Clock } from '../../../lib/clock.ts'
import type { ClaimedDelivery } from '../../../store/command.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'
import type { PathState } from '../../queue/paths.ts'
import type { PipelineSlot } from '../pipeline.ts'
import type { DestinationLimits } from '../providers.ts'
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
  /** How many more deliveries of the destination may be claimed now. */
  capacityOf(destination: string): Capacity
  /** @param laneClass of all of them */
  take(destination: string, deliveryClass: number, deliveries: readonly ClaimedDelivery[]): void
  /** A pause that began in a former life. */
  restoreBreaker(name: PathKey, state: BreakerState): void
  /** The destination's pauses are over before their time. False when there is none. */
  probeNow(destination: string): boolean
  /** How much it gets has been ordered anew. */
  updateRate(destination: string): void
  /** None of its mail can go anywhere now. */
  isPaused(destination: string): boolean
  /** Undefined for a destination of which nothing is remembered. */
  pathsTo(destination: string): PathState[] | undefined
  /** Gives back what is meant and has not been begun. */
  recall(isMeant: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[]
  /** Resolves when nothing is under way, or after so long. */
  idle(withinMs: number): Promise<void>
  /** Begins nothing more; gives back what has not been begun. */
  stop(): ClaimedDelivery[]
}

interface ShaperOptions extends Omit<CongestionFeedbackOptions, 'pathsOf' | 'unclaim'> {
  clock: Clock
  slots: Slots
  warmupBudgets: Pick<WarmupBudgets, 'of'>
  limitsOf(destination: string): DestinationLimits
  /** Messages a second by all paths together, as the operator has ordered; any number when null. */
  capOf(destination: string): number | null
  /** It waits behind others, and its turn is near. */
  prepare(delivery: ClaimedDelivery): void
  /** Resolves with false where it lost its turn in the line, and is given back. */
  deliver(
    delivery: ClaimedDelivery,
    source: EgressSource,
    judge: JudgeCongestion,
    slot: PipelineSlot,
  ): Promise<boolean>
  /** The destination has room again. */
  onRoom(destination: string): void
  /** A path to the destination has sent what it may today; these were claimed for it, and not begun. */
  onSpent(destination: string, unstarted: readonly ClaimedDelivery[]): void
  onError(error: unknown): void
}

/** At all destinations together. */
const READY_DELIVERIES_MAX = 2_000
/** Shaper that are remembered while nothing waits for them. */
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
  /** They wait in the queue, for another path or the next day. */
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

/** Of each path, a second: what is ordered for all of them is shared out evenly. */
function rateOf({ limitsOf, capOf, sourceIps }: ShaperOptions, destination: string): number | null {
  const { messagesPerSecond } = limitsOf(destination)
  const cap = capOf(destination)
  if (cap === null) return messagesPerSecond
  return Math.min(cap / sourceIps.sources.length, messagesPerSecond ?? Number.POSITIVE_INFINITY)
}

/** What was not sent is not counted. */
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

/** What was learnt of a destination is kept for a while. */
function keep(destinations: Map<string, DestinationPaths>, destination: DestinationPaths) {
  destinations.delete(destination.name)
  destinations.set(destination.name, destination)
  if (destinations.size <= DESTINATIONS_MAX) return
  for (const other of destinations.values())
    if (areAllIdle(other) && !other.paths.some(({ breaker }) => breaker.isOpen))
      return void destinations.delete(other.name)
}
