/**
 * Delivery worker of one thread: claims due deliveries of its destinations, attempts them and records the
 * results.
 *
 * In: queue keys that are due (`addDue`), and changes of holds, limits and pauses. Out: messages over SMTP,
 * and commands to the writer. Called by `workers/delivery.ts`, the entry of the thread.
 *
 * A delivery takes these steps:
 * 1. A queue key becomes due (`addDue`). The thread that its domain hashes to finds the route, and forwards
 *    the key to the thread of the destination (`addForwarded`).
 * 2. The scheduler claims deliveries as far as the destination has capacity.
 * 3. The shaper holds them until their egress path and the thread admit them.
 * 4. The runner builds the message, finds the route and attempts the delivery (`attempt.ts`).
 * 5. The result is judged for the path, and recorded.
 * 6. When a circuit breaker opens or closes, outages store it and return or wake deliveries.
 *
 * Each destination is served by one thread. A queue key is announced to all threads.
 */
import { hashText } from '../../lib/hash.ts'
import type { Claim, ClaimedDelivery, QueueKey, Run } from '../../store/model/command.ts'
import type { MailSelector } from '../../store/model/schema/steering.ts'
import type { DestinationStateRow } from '../../store/model/schema.ts'
import type { queueCommands } from '../queue/commands.ts'
import { mayBeAbout } from '../queue/hold-rows.ts'
import type { PathState } from '../queue/paths.ts'
import type { DueQueueKey } from '../queue/queue-key-rows.ts'
import { createScheduler, type Scheduler } from '../queue/scheduler.ts'
import { DeliveryRunner, type DeliveryRunnerOptions } from './delivery-runner.ts'
import type { DestinationLimits } from './destinations/providers.ts'
import { type PreSigner, type PreSignerOptions, startPreSigner } from './message/pre-signer.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import type { DeliveryRoute } from './route.ts'
import type { BreakerState } from './shaping/circuit-breaker.ts'
import type { OpenBreaker, PathKey } from './shaping/congestion-feedback.ts'
import {
  createOutages,
  leaseRef,
  type OutageCommands,
  type OutageOptions,
  type Outages,
} from './shaping/outages.ts'
import { Shaper } from './shaping/shaper.ts'
import type { Slots } from './shaping/slots.ts'
import type { WarmupBudgets } from './shaping/warmup-budget.ts'
import { createSlowDeliveryTimer, type SlowDeliveryTimer } from './slow-delivery-timer.ts'

interface WorkerOptions
  extends Pick<DeliveryRunnerOptions, 'clock' | 'transport' | 'router' | 'maker' | 'largeMessages'> {
  run: Run<typeof queueCommands & OutageCommands>
  slots: Slots
  /** Closed together with the worker. */
  warmupBudgets: WarmupBudgets
  limitsOf(destination: string): DestinationLimits
  /** See `ShaperOptions`. */
  capOf(destination: string): number | null
  thread: ThreadPlace
  queries: QueueQueries
  /**
   * Passes a queue key to the thread that serves its destination, with the route, so that both threads use
   * the same one.
   */
  forward(threadIndex: number, queueKey: DueQueueKey, route: DeliveryRoute): void
  events: WorkerEvents
}

interface ThreadPlace {
  /** Identifies the leases of this thread since its start. */
  owner: string
  /** Duration of a lease in ms. */
  leaseMs: number
  /** Index of this delivery thread. */
  index: number
  threadCount: number
}

interface QueueQueries {
  deferredQueueKeysOf: OutageOptions['deferredQueueKeysOf']
  /** Deliveries that wait in the queue key, in order. */
  waitingIn: PreSignerOptions['waitingIn']
}

interface WorkerEvents extends Pick<DeliveryRunnerOptions, 'onStored' | 'onError'> {
  /** Called when a circuit breaker opens. */
  onBreakerOpen(name: PathKey, state: BreakerState): void
  /** Called when the operator ends a pause. */
  onResumed(destination: string): void
  /** Called when a paused path gets an answer. */
  onRecovery(name: PathKey): void
}

/** Time in ms for results that could not be stored because the disk was full or the database unavailable. */
const DRAIN_MS_MAX = 3_000

export class DeliveryWorker {
  readonly #options: WorkerOptions
  readonly #stopping = new AbortController()
  readonly #recorder: Recorder
  readonly #slow: SlowDeliveryTimer
  readonly #runner: DeliveryRunner
  readonly #shaper: Shaper
  readonly #scheduler: Scheduler
  readonly #outages: Outages
  readonly #preSigner: PreSigner

  constructor(options: WorkerOptions) {
    const { clock, run, transport, router, maker, largeMessages, events, queries } = options
    const { onStored, onError } = events
    this.#options = options
    this.#recorder = createRecorder(run, clock, this.#stopping.signal)
    this.#slow = createSlowDeliveryTimer(run, clock, onError)
    this.#runner = new DeliveryRunner({
      clock,
      transport,
      router,
      maker,
      largeMessages,
      recorder: this.#recorder,
      slow: this.#slow,
      stopping: this.#stopping.signal,
      onStored,
      onError,
    })
    this.#shaper = new Shaper({
      clock,
      slots: options.slots,
      warmupBudgets: options.warmupBudgets,
      sourceIps: transport.sourceIps,
      limitsOf: options.limitsOf,
      capOf: options.capOf,
      runner: this.#runner,
      onError,
    })
    this.#scheduler = createScheduler({
      clock,
      destinationOf: queueKey => this.#destinationOf(queueKey),
      capacityOf: destination => this.#shaper.capacityOf(destination),
      claim: queueKeys => this.#claim(queueKeys),
      take: (destination, deliveries) => this.#shaper.take(destination, deliveries),
      onError,
    })
    const { queueKeysOf } = this.#scheduler
    const { deferredQueueKeysOf, waitingIn } = queries
    this.#outages = createOutages({ clock, run, queueKeysOf, deferredQueueKeysOf })
    this.#preSigner = startPreSigner({
      clock,
      isPaused: destination => this.#shaper.isPaused(destination),
      isIdle: () => !options.slots.isBusy,
      queueKeysOf,
      waitingIn,
      hasRoom: maker.hasRoom,
      signAhead: maker.signAhead,
      onError,
    })
    this.#connect()
  }

  /** Connects the shaper, which is built first, to the parts behind it. */
  #connect(): void {
    this.#shaper.connect({
      onRoom: this.#scheduler.reopen,
      onSpent: (destination, unstarted) =>
        void this.#outages.spendWarmup(destination, unstarted).catch(this.#options.events.onError),
      onBreakerOpen: opened => this.#beginOutage(opened),
      onRecovery: (name, { domain }) => this.#endOutage(name, domain),
      giveBack: leases => this.#giveBack(leases),
    })
  }

  /** Adds queue keys that were announced to all threads. Only the thread of the domain acts on them. */
  addDue(queueKeys: readonly DueQueueKey[]): void {
    this.#scheduler.note(queueKeys.filter(({ domain }) => this.#isOurs(domain)))
  }

  /** Adds a queue key that another thread has forwarded, with its route. */
  addForwarded(queueKey: DueQueueKey, route: DeliveryRoute): void {
    this.#options.router.prime(queueKey.domain, route)
    this.#scheduler.note([queueKey])
  }

  /** Restores the circuit breakers that were open before a restart, of destinations that this thread serves. */
  restoreBreakers(states: readonly DestinationStateRow[]): void {
    for (const { destination, source, pausedUntil: until, pauseMs: ms, reason } of states) {
      if (!this.#isOurs(destination)) continue
      this.#shaper.restoreBreaker({ destination, source }, { until, ms, reason })
      this.#preSigner.watch(destination)
    }
  }

  /** Returns claimed deliveries that match a hold and have not started. */
  hold(selector: MailSelector): void {
    // claims of the same commit arrive in this turn of the event loop
    setImmediate(() => {
      this.#giveBack(this.#shaper.recall(delivery => mayBeAbout(selector, delivery)))
    })
  }

  /** State of the paths to those destinations that this worker knows. */
  pathsTo(destinations: readonly string[]): Map<string, PathState[]> {
    const found = destinations.map(name => [name, this.#shaper.pathsTo(name)] as const)
    return new Map(found.filter((entry): entry is [string, PathState[]] => entry[1] !== undefined))
  }

  /** Tries a paused destination at once, at the operator's request. */
  probeNow(destination: string): void {
    if (this.#shaper.probeNow(destination)) this.#options.events.onResumed(destination)
  }

  /** Applies a new rate limit of the operator. */
  updateRate(destination: string): void {
    this.#shaper.updateRate(destination)
  }

  /**
   * Starts nothing more, waits for attempts in progress, and returns the leases of deliveries that have not
   * started.
   * @returns the number of results that could not be stored
   */
  async stop(graceMs: number): Promise<number> {
    const { run, warmupBudgets, transport } = this.#options
    await Promise.all([this.#scheduler.stop(), this.#preSigner.stop()])
    await Promise.all(this.#shaper.stop().map(lease => run('release', leaseRef(lease))))
    await this.#shaper.idle(graceMs)
    this.#slow.close()
    const unstored = await this.#recorder.drained(DRAIN_MS_MAX)
    this.#stopping.abort(new Error('the delivery worker is stopping'))
    await this.#recorder.drained()
    await warmupBudgets.close()
    await transport.pool.close()
    return unstored
  }

  #beginOutage(opened: OpenBreaker): void {
    const { onBreakerOpen, onError } = this.#options.events
    onBreakerOpen(opened, opened.state)
    this.#outages.begin(opened).catch(onError)
    this.#preSigner.watch(opened.destination)
  }

  #endOutage(name: PathKey, domain: string): void {
    const { onRecovery, onError } = this.#options.events
    onRecovery(name)
    this.#outages.end(name, domain).catch(onError)
  }

  #giveBack(leases: readonly ClaimedDelivery[]): void {
    const { run, events } = this.#options
    for (const lease of leases) run('release', leaseRef(lease)).catch(events.onError)
  }

  /** Returns the destination of the queue key; null when it was forwarded to another thread. */
  async #destinationOf(queueKey: QueueKey): Promise<string | null> {
    const { clock, router, forward } = this.#options
    const route = await router.routeOf(queueKey.domain)
    if (this.#isOurs(route.destination)) return route.destination
    forward(this.#threadOf(route.destination), { ...queueKey, at: clock.now() }, route)
    return null
  }

  #claim(queueKeys: readonly (QueueKey & { limit: number })[]): Promise<Claim[]> {
    const { clock, run, thread } = this.#options
    const now = clock.now()
    const leaseUntil = now + thread.leaseMs
    return run('claim', { queueKeys: [...queueKeys], owner: thread.owner, now, leaseUntil })
  }

  #threadOf(key: string): number {
    return hashText(key) % this.#options.thread.threadCount
  }

  #isOurs(key: string): boolean {
    return this.#threadOf(key) === this.#options.thread.index
  }
}
