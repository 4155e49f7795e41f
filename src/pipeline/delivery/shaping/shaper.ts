/**
 * Traffic shaping of a delivery thread: keeps the egress paths of each destination, holds claimed deliveries
 * until their path admits them, and runs them.
 *
 * In: deliveries that the scheduler has claimed (`take`). Out: calls of the delivery runner, free capacity
 * for the scheduler, and events about circuit breakers and warm-up. Called by `worker.ts` only.
 */
import type { Clock } from '../../../lib/clock.ts'
import type { ClaimedDelivery } from '../../../store/model/command.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'
import type { PathState } from '../../queue/paths.ts'
import type { DestinationLimits } from '../destinations/providers.ts'
import { NO_CAPACITY } from './admission.ts'
import type { BreakerState } from './circuit-breaker.ts'
import {
  type CongestionEvents,
  createCongestionFeedback,
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
import { closePath, createEgressPath, type EgressPath, stateOf } from './egress-path.ts'
import { type Runner, SlotRunner } from './slot-runner.ts'
import type { Slots } from './slots.ts'
import type { SourceIps } from './source-ips.ts'
import type { WarmupBudgets } from './warmup-budget.ts'

interface ShaperOptions {
  clock: Clock
  slots: Slots
  warmupBudgets: Pick<WarmupBudgets, 'of'>
  sourceIps: Pick<SourceIps, 'sources' | 'isUsable'>
  limitsOf(destination: string): DestinationLimits
  /** Rate limit of the operator for all paths together, in messages per second; null when there is none. */
  capOf(destination: string): number | null
  runner: Runner
  onError(error: unknown): void
}

/** What the shaper tells the rest of the worker. */
interface ShaperEvents extends CongestionEvents {
  /** Called when deliveries of the destination may be claimed again. */
  onRoom(destination: string): void
  /**
   * Called when a path has used up its warm-up budget of the day, with the deliveries that were claimed for
   * it and not started.
   */
  onSpent(destination: string, unstarted: readonly ClaimedDelivery[]): void
}

/** Claimed deliveries that wait in memory, for all destinations of the thread together. */
const READY_DELIVERIES_MAX = 2_000
/** Idle destinations whose paths are remembered. */
const DESTINATIONS_MAX = 10_000

export class Shaper {
  readonly #options: ShaperOptions
  readonly #destinations = new Map<string, DestinationPaths>()
  readonly #waiting = { count: 0 }
  readonly #slotRunner: SlotRunner
  #events!: ShaperEvents
  #recordFeedback!: RecordFeedback
  #isStopped = false

  constructor(options: ShaperOptions) {
    const { clock, slots, runner, onError } = options
    this.#options = options
    this.#slotRunner = new SlotRunner({
      clock,
      slots,
      runner,
      onSignal: (path, delivery, signal, text) => this.#recordFeedback(path, delivery, signal, text),
      onMoved: path => this.#onMoved(path),
      giveBack: deliveries => this.#events.giveBack(deliveries),
      onError,
    })
  }

  /** Connects the shaper to the parts that it reports to. Called once, before the first delivery. */
  connect(events: ShaperEvents): void {
    this.#events = events
    this.#recordFeedback = createCongestionFeedback({
      sourceIps: this.#options.sourceIps,
      pathsOf: name => this.#pathsOf(name),
      unclaim: path => this.#unclaim(path),
      events,
    })
  }

  /** Number of further deliveries of the destination that may be claimed now. */
  capacityOf(name: string): Capacity {
    return this.#isStopped ? NO_CAPACITY : this.#capacityIn(this.#pathsOf(name))
  }

  /** @param deliveries have the same class */
  take(name: string, deliveries: readonly ClaimedDelivery[]): void {
    const destination = this.#remembered(name)
    distribute(destination, deliveries, this.#options.sourceIps)
    this.#giveBackSpent(destination)
    destination.hadTransactionalCapacity = this.#capacityIn(destination).transactional > 0
    for (const path of destination.paths) this.#slotRunner.start(path)
  }

  /** Restores a circuit breaker that was open before a restart. */
  restoreBreaker({ destination: name, source: wanted }: PathKey, state: BreakerState): void {
    for (const path of this.#remembered(name).paths)
      if (wanted === '' || path.source.name === wanted) path.breaker.restore(state)
  }

  /** Makes open circuit breakers of the destination half open. @returns false when none was open */
  probeNow(name: string): boolean {
    return this.#pathsOf(name).paths.filter(({ breaker }) => breaker.probeNow()).length > 0
  }

  /** Applies a new rate limit of the operator. */
  updateRate(name: string): void {
    for (const { rateLimit } of this.#destinations.get(name)?.paths ?? [])
      rateLimit.change(rateOf(this.#options, name))
  }

  /** Whether all paths to the destination are open or half open. */
  isPaused(name: string): boolean {
    const destination = this.#destinations.get(name)
    return destination !== undefined && allBreakersOpen(destination)
  }

  /** Undefined for a destination that is not remembered. */
  pathsTo(name: string): PathState[] | undefined {
    return this.#destinations.get(name)?.paths.map(stateOf)
  }

  /** Removes and returns deliveries that match and have not started. */
  recall(isMeant: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[] {
    return [...this.#destinations.values()].flatMap(destination => {
      const recalled = destination.paths.flatMap(({ ready }) => ready.clear(isMeant))
      if (recalled.length > 0) this.#offerRoom(destination)
      return recalled
    })
  }

  /** Resolves when no delivery is in progress, or after the time has passed. */
  idle(withinMs: number): Promise<void> {
    return this.#slotRunner.idle(withinMs)
  }

  /** Starts nothing more. @returns the deliveries that had not started */
  stop(): ClaimedDelivery[] {
    this.#isStopped = true
    this.#slotRunner.stop()
    const paths = [...this.#destinations.values()].flatMap(destination => destination.paths)
    for (const path of paths) closePath(path)
    return paths.flatMap(path => this.#unclaim(path))
  }

  #pathsOf(name: string): DestinationPaths {
    return this.#destinations.get(name) ?? this.#createPaths(name)
  }

  #remembered(name: string): DestinationPaths {
    const destination = this.#pathsOf(name)
    this.#destinations.set(name, destination)
    return destination
  }

  #createPaths(name: string): DestinationPaths {
    const { clock, warmupBudgets, limitsOf, sourceIps } = this.#options
    const limits = { ...limitsOf(name), messagesPerSecond: rateOf(this.#options, name) }
    const paths = sourceIps.sources.map(source =>
      createEgressPath(name, source, limits, {
        clock,
        waiting: this.#waiting,
        warmupBudgets,
        wake: path => this.#wake(path),
      }),
    )
    return { name, paths, hadTransactionalCapacity: true }
  }

  #wake({ destination: name }: EgressPath): void {
    const destination = this.#pathsOf(name)
    this.#giveBackSpent(destination)
    for (const path of destination.paths) this.#slotRunner.start(path)
    this.#offerRoom(destination)
  }

  #onMoved({ destination: name }: EgressPath): void {
    const destination = this.#pathsOf(name)
    if (areAllIdle(destination)) keep(this.#destinations, destination)
    this.#offerRoom(destination)
  }

  /** Returned deliveries wait in the queue for another path or for the next day. */
  #giveBackSpent(destination: DestinationPaths): void {
    const spent = unclaimSpent(destination)
    if (spent.length > 0) this.#events.onSpent(destination.name, spent)
  }

  #unclaim(path: EgressPath): ClaimedDelivery[] {
    this.#slotRunner.leave(path)
    return path.ready.clear()
  }

  #capacityIn(destination: DestinationPaths): Capacity {
    return capacityIn(destination, READY_DELIVERIES_MAX - this.#waiting.count)
  }

  #offerRoom(destination: DestinationPaths): void {
    const { any, transactional } = this.#capacityIn(destination)
    const isNews = any > 0 || (transactional > 0 && !destination.hadTransactionalCapacity)
    destination.hadTransactionalCapacity = transactional > 0
    if (isNews && !this.#isStopped) this.#events.onRoom(destination.name)
  }
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
