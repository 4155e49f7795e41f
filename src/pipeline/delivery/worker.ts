/**
 * The delivery worker of one thread: claims what is due at its destinations, attempts it, and has the end
 * recorded.
 */
import { hashText } from '../../lib/hash.ts'
import type { ClaimedDelivery, Run } from '../../store/command.ts'
import type { MailSelector } from '../../store/schema/steering.ts'
import type { queueCommands } from '../queue/commands.ts'
import { mayBeAbout } from '../queue/hold-rows.ts'
import type { PathState } from '../queue/paths.ts'
import type { DueQueueKey } from '../queue/queue-key-rows.ts'
import { createScheduler, type Scheduler } from '../queue/scheduler.ts'
import { createDeliveryRunner, type DeliveryRunnerOptions } from './delivery-runner.ts'
import { type PreSigner, type PreSignerOptions, startPreSigner } from './pre-signer.ts'
import type { DestinationLimits } from './providers.ts'
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
  /** Queue keys addDue to all threads; the one at home in a domain finds out whose its destination is. */
  addDue(queueKeys: readonly DueQueueKey[]): void
  /** A queue key another thread found to belong here, by this route. */
  addForwarded(queueKey: DueQueueKey, route: DeliveryRoute): void
  /** A pause that began in a former life; of a destination that belongs here, or else nothing happens. */
  restoreBreaker(name: PathKey, state: BreakerState): void
  /** The operator holds this mail: what has been claimed of it and not begun goes back. */
  hold(selector: MailSelector): void
  /** Of those destinations that this worker knows. */
  pathsTo(destinations: readonly string[]): Map<string, PathState[]>
  /** The operator has the destination tried before its pause is over. */
  probeNow(destination: string): void
  /** How much the destination gets has been ordered anew. */
  updateRate(destination: string): void
  /**
   * Begins nothing more, lets attempts under way end for so long, gives unbegun leases back.
   *
   * @returns how many ended and could not be recorded
   */
  stop(graceMs: number): Promise<number>
}

interface WorkerOptions extends DeliveryRunnerOptions {
  run: Run<typeof queueCommands & OutageCommands>
  deferredQueueKeysOf: OutageOptions['deferredQueueKeysOf']
  slots: Slots
  /** Closed with the worker. */
  warmupBudgets: WarmupBudgets
  limitsOf(destination: string): DestinationLimits
  /** See `ShaperOptions`. */
  capOf(destination: string): number | null
  /** Marks the leases of this thread's life. */
  owner: string
  /** How long its leases are good. */
  leaseMs: number
  /** Which of the delivery threads this is. */
  index: number
  threadCount: number
  /**
   * Passes a queue key to the thread that serves its destination; with the route, so that both agree on it.
   */
  forward(threadIndex: number, queueKey: DueQueueKey, route: DeliveryRoute): void
  /** A destination is left alone for a while, by one of our sources. */
  onBreakerOpen(name: PathKey, state: BreakerState): void
  /** The operator has it tried before its time. */
  onResumed(destination: string): void
  /** It answers again. */
  onRecovery(name: PathKey): void
  /** Deliveries that wait in the queue key, in its order. */
  waitingIn: PreSignerOptions['waitingIn']
}

/** For what could not be stored while the disk was full, or the database away. */
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
    onRoom: destination => scheduler.freed(destination),
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
    async siteOf(queueKey) {
      const route = await router.routeOf(queueKey.domain)
      if (threadOf(route.destination) === index) return route.destination
      options.forward(threadOf(route.destination), { ...queueKey, at: clock.now() }, route)
      return null
    },
    roomOf: shaper.capacityOf,
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
      // claims of the same commit arrive in this turn
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
