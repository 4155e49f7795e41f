/**
 * Delivery worker of one thread: claims due deliveries of its destinations, attempts them and records the
 * results.
 *
 * In: queue keys that are due (`addDue`), and changes of holds, limits and pauses. Out: messages over SMTP,
 * and commands to the writer. Called by `workers/delivery.ts`, the entry of the thread.
 *
 * Each destination is served by one thread. A queue key is announced to all threads; the thread that its
 * domain hashes to finds the route, and forwards the key to the thread that the destination hashes to.
 */
import { hashText } from '../../lib/hash.ts'
import type { ClaimedDelivery, Run } from '../../store/model/command.ts'
import type { MailSelector } from '../../store/model/schema/steering.ts'
import type { queueCommands } from '../queue/commands.ts'
import { mayBeAbout } from '../queue/hold-rows.ts'
import type { PathState } from '../queue/paths.ts'
import type { DueQueueKey } from '../queue/queue-key-rows.ts'
import { createScheduler, type Scheduler } from '../queue/scheduler.ts'
import { createDeliveryRunner, type DeliveryRunnerOptions } from './delivery-runner.ts'
import type { DestinationLimits } from './destinations/providers.ts'
import { type PreSigner, type PreSignerOptions, startPreSigner } from './message/pre-signer.ts'
import { createRecorder } from './recorder.ts'
import type { DeliveryRoute } from './route.ts'
import type { BreakerState } from './shaping/circuit-breaker.ts'
import type { PathKey } from './shaping/congestion-feedback.ts'
import { createOutages, leaseRef, type OutageCommands, type OutageOptions } from './shaping/outages.ts'
import { createShaper, type Shaper } from './shaping/shaper.ts'
import type { Slots } from './shaping/slots.ts'
import type { WarmupBudgets } from './shaping/warmup-budget.ts'
import { createSlowDeliveryTimer } from './slow-delivery-timer.ts'

interface DeliveryWorker {
  /** Adds queue keys that were announced to all threads. Only the thread of the domain acts on them. */
  addDue(queueKeys: readonly DueQueueKey[]): void
  /** Adds a queue key that another thread has forwarded, with its route. */
  addForwarded(queueKey: DueQueueKey, route: DeliveryRoute): void
  /**
   * Restores a circuit breaker that was open before a restart. Does nothing if another thread serves the
   * destination.
   */
  restoreBreaker(name: PathKey, state: BreakerState): void
  /** Returns claimed deliveries that match a hold and have not started. */
  hold(selector: MailSelector): void
  /** State of the paths to those destinations that this worker knows. */
  pathsTo(destinations: readonly string[]): Map<string, PathState[]>
  /** Tries a paused destination at once, at the operator's request. */
  probeNow(destination: string): void
  /** Applies a new rate limit of the operator. */
  updateRate(destination: string): void
  /**
   * Starts nothing more, waits for attempts in progress, and returns the leases of deliveries that have not
   * started.
   * @returns the number of results that could not be stored
   */
  stop(graceMs: number): Promise<number>
}

interface WorkerOptions extends DeliveryRunnerOptions {
  run: Run<typeof queueCommands & OutageCommands>
  deferredQueueKeysOf: OutageOptions['deferredQueueKeysOf']
  slots: Slots
  /** Closed together with the worker. */
  warmupBudgets: WarmupBudgets
  limitsOf(destination: string): DestinationLimits
  /** See `ShaperOptions`. */
  capOf(destination: string): number | null
  /** Identifies the leases of this thread since its start. */
  owner: string
  /** Duration of a lease in ms. */
  leaseMs: number
  /** Index of this delivery thread. */
  index: number
  threadCount: number
  /**
   * Passes a queue key to the thread that serves its destination, with the route, so that both threads use
   * the same one.
   */
  forward(threadIndex: number, queueKey: DueQueueKey, route: DeliveryRoute): void
  /** Called when a circuit breaker opens. */
  onBreakerOpen(name: PathKey, state: BreakerState): void
  /** Called when the operator ends a pause. */
  onResumed(destination: string): void
  /** Called when a paused path gets an answer. */
  onRecovery(name: PathKey): void
  /** Deliveries that wait in the queue key, in order. */
  waitingIn: PreSignerOptions['waitingIn']
}

/** Time in ms for results that could not be stored because the disk was full or the database unavailable. */
const DRAIN_MS_MAX = 3_000

export function createDeliveryWorker(options: WorkerOptions): DeliveryWorker {
  const { clock, run, router, owner, threadCount, index, onError } = options
  const stopping = new AbortController()
  const recorder = createRecorder(run, clock, stopping.signal)
  const slow = createSlowDeliveryTimer(run, clock, onError)
  const threadOf = (key: string) => hashText(key) % threadCount
  const leaseFromNow = () => ({ now: clock.now(), leaseUntil: clock.now() + options.leaseMs })

  const giveBack = (leases: readonly ClaimedDelivery[]) => {
    for (const lease of leases) run('release', leaseRef(lease)).catch(onError)
  }
  const shaper = createShaper({
    ...options,
    ...createDeliveryRunner(options, recorder, slow, stopping.signal),
    onRoom: destination => scheduler.reopen(destination),
    onSpent: (destination, unstarted) => void outages.spendWarmup(destination, unstarted).catch(onError),
    onBreakerOpen(opened) {
      options.onBreakerOpen(opened, opened.state)
      outages.begin(opened).catch(onError)
      preSigner.watch(opened.destination)
    },
    onRecovery(name, { domain }) {
      options.onRecovery(name)
      outages.end(name, domain).catch(onError)
    },
    giveBack,
  })
  const scheduler = createScheduler({
    clock,
    async destinationOf(queueKey) {
      const route = await router.routeOf(queueKey.domain)
      if (threadOf(route.destination) === index) return route.destination
      options.forward(threadOf(route.destination), { ...queueKey, at: clock.now() }, route)
      return null
    },
    capacityOf: shaper.capacityOf,
    claim: queueKeys => run('claim', { queueKeys: [...queueKeys], owner, ...leaseFromNow() }),
    take: shaper.take,
    onError,
  })
  const preSigner = startPreSigning(options, shaper, scheduler)
  const outages = createOutages({ ...options, queueKeysOf: scheduler.queueKeysOf })

  return {
    addDue: queueKeys => scheduler.note(queueKeys.filter(({ domain }) => threadOf(domain) === index)),
    addForwarded(queueKey, route) {
      router.prime(queueKey.domain, route)
      scheduler.note([queueKey])
    },
    restoreBreaker(name, state) {
      if (threadOf(name.destination) !== index) return
      shaper.restoreBreaker(name, state)
      preSigner.watch(name.destination)
    },
    hold(selector) {
      // claims of the same commit arrive in this turn of the event loop
      setImmediate(() => {
        giveBack(shaper.recall(delivery => mayBeAbout(selector, delivery)))
      })
    },
    pathsTo(names) {
      const found = names.map(name => [name, shaper.pathsTo(name)] as const)
      return new Map(found.filter((entry): entry is [string, PathState[]] => entry[1] !== undefined))
    },
    probeNow(destination) {
      if (shaper.probeNow(destination)) options.onResumed(destination)
    },
    updateRate: shaper.updateRate,
    async stop(graceMs) {
      await Promise.all([scheduler.stop(), preSigner.stop()])
      await Promise.all(shaper.stop().map(lease => run('release', leaseRef(lease))))
      await shaper.idle(graceMs)
      slow.close()
      const unstored = await recorder.drained(DRAIN_MS_MAX)
      stopping.abort(new Error('the delivery worker is stopping'))
      await recorder.drained()
      await options.warmupBudgets.close()
      await options.pool.close()
      return unstored
    },
  }
}

function startPreSigning(
  { clock, slots, waitingIn, maker, onError }: WorkerOptions,
  { isPaused }: Shaper,
  { queueKeysOf }: Scheduler,
): PreSigner {
  const isIdle = () => !slots.isBusy
  const { hasRoom, signAhead } = maker
  return startPreSigner({ clock, isPaused, isIdle, queueKeysOf, waitingIn, hasRoom, signAhead, onError })
}
