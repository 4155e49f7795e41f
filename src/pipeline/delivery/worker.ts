/** The delivery worker of one thread: claims what is due at its sites, attempts it, and has the end recorded. */
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
import type { SiteLimits } from './providers.ts'
import { createRecorder } from './recorder.ts'
import type { DeliveryRoute } from './route.ts'
import type { BreakerState } from './shaping/circuit-breaker.ts'
import type { PathName } from './shaping/congestion-feedback.ts'
import { createOutages, leaseRef, type OutageCommands, type OutageOptions } from './shaping/outages.ts'
import { createSites, type Sites } from './shaping/sites.ts'
import type { Slots } from './shaping/slots.ts'
import type { WarmupBudgets } from './shaping/warmup-budget.ts'
import { createSlowDeliveryTimer } from './slow-delivery-timer.ts'

export interface DeliveryWorker {
  /** Lanes announced to all threads; the one at home in a domain finds out whose its site is. */
  announced(lanes: readonly DueQueueKey[]): void
  /** A lane another thread found to belong here, by this route. */
  forwarded(lane: DueQueueKey, route: DeliveryRoute): void
  /** A pause that began in a former life; of a site that belongs here, or else nothing happens. */
  resume(name: PathName, pause: BreakerState): void
  /** The operator holds this mail: what has been claimed of it and not begun goes back. */
  held(selector: MailSelector): void
  /** Of those sites that this worker knows. */
  pathsTo(sites: readonly string[]): Map<string, PathState[]>
  /** The operator has the site tried before its pause is over. */
  endPause(site: string): void
  /** How much the site gets has been ordered anew. */
  slowed(site: string): void
  /**
   * Begins nothing more, lets attempts under way end for so long, gives unbegun leases back.
   *
   * @returns how many ended and could not be recorded
   */
  stop(graceMs: number): Promise<number>
}

export interface WorkerOptions extends DeliveryRunnerOptions {
  run: Run<typeof queueCommands & OutageCommands>
  deferredLanesOf: OutageOptions['deferredLanesOf']
  slots: Slots
  /** Closed with the worker. */
  allowances: WarmupBudgets
  limitsOf(site: string): SiteLimits
  /** See `SitesOptions`. */
  capOf(site: string): number | null
  /** Marks the leases of this thread's life. */
  owner: string
  /** How long its leases are good. */
  leaseMs: number
  /** Which of the delivery threads this is. */
  index: number
  threadCount: number
  /** Passes a lane to the thread that serves its site; with the route, so that both agree on it. */
  forward(threadIndex: number, lane: DueQueueKey, route: DeliveryRoute): void
  /** A site is left alone for a while, by one of our sources. */
  onPause(name: PathName, pause: BreakerState): void
  /** The operator has it tried before its time. */
  onResumed(site: string): void
  /** It answers again. */
  onRecovery(name: PathName): void
  /** Deliveries that wait in the lane, in its order. */
  waitingIn: PreSignerOptions['waitingIn']
}

/** For what could not be stored while the disk was full, or the database away. */
const STORED_WITHIN_MS = 3_000

export function createDeliveryWorker(options: WorkerOptions): DeliveryWorker {
  const { clock, run, router, owner, threadCount, index, onError } = options
  const stopping = new AbortController()
  const recorder = createRecorder(run, clock, stopping.signal)
  const slow = createSlowDeliveryTimer(run, clock, onError)
  const threadOf = (key: string) => hashText(key) % threadCount

  const giveBack = (leases: readonly ClaimedDelivery[]) => {
    for (const lease of leases) run('release', leaseRef(lease)).catch(onError)
  }
  const sites = createSites({
    ...options,
    ...createDeliveryRunner(options, recorder, slow, stopping.signal),
    onRoom: site => scheduler.freed(site),
    onSpent: (site, unbegun) => void outages.spent(site, unbegun).catch(onError),
    onPause(rest) {
      options.onPause(rest, rest.pause)
      outages.began(rest).catch(onError)
      foresight.note(rest.site)
    },
    onRecovery(name, { domain }) {
      options.onRecovery(name)
      outages.ended(name, domain).catch(onError)
    },
    giveBack,
  })
  const scheduler = createScheduler({
    clock,
    async siteOf(lane) {
      const route = await router.routeOf(lane.domain)
      if (threadOf(route.site) === index) return route.site
      options.forward(threadOf(route.site), { ...lane, at: clock.now() }, route)
      return null
    },
    roomOf: sites.roomOf,
    claim: lanes =>
      run('claim', { lanes: [...lanes], owner, now: clock.now(), leaseUntil: clock.now() + options.leaseMs }),
    take: sites.take,
    onError,
  })
  const foresight = foresightOf(options, sites, scheduler)
  const outages = createOutages({
    run,
    clock,
    lanesOf: scheduler.lanesOf,
    deferredLanesOf: options.deferredLanesOf,
  })

  return {
    announced: lanes => scheduler.note(lanes.filter(({ domain }) => threadOf(domain) === index)),
    forwarded(lane, route) {
      router.prime(lane.domain, route)
      scheduler.note([lane])
    },
    resume(name, pause) {
      if (threadOf(name.site) !== index) return
      sites.resume(name, pause)
      foresight.note(name.site)
    },
    held(selector) {
      // claims of the same commit arrive in this turn
      setImmediate(() => {
        giveBack(sites.recall(delivery => mayBeAbout(selector, delivery)))
      })
    },
    pathsTo(names) {
      const found = names.map(name => [name, sites.pathsTo(name)] as const)
      return new Map(found.filter((entry): entry is [string, PathState[]] => entry[1] !== undefined))
    },
    endPause(site) {
      if (sites.endPause(site)) options.onResumed(site)
    },
    slowed: sites.slowed,
    async stop(graceMs) {
      await Promise.all([scheduler.stop(), foresight.stop()])
      await Promise.all(sites.stop().map(lease => run('release', leaseRef(lease))))
      await sites.idle(graceMs)
      slow.close()
      const unstored = await recorder.drained(STORED_WITHIN_MS)
      stopping.abort(new Error('the delivery worker is stopping'))
      await recorder.drained()
      await options.allowances.close()
      await options.pool.close()
      return unstored
    },
  }
}

function foresightOf(
  { clock, slots, waitingIn, maker, onError }: WorkerOptions,
  { rests }: Sites,
  { lanesOf }: Scheduler,
): PreSigner {
  const isIdle = () => !slots.isBusy
  const { hasRoom, signAhead } = maker
  return startPreSigner({ clock, rests, isIdle, lanesOf, waitingIn, hasRoom, signAhead, onError })
}
