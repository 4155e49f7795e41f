/**
 * Works deliveries off, site by site: a bounded number waits in memory, as many are under way as the site
 * bears.
 */
import type { Clock } from '../../../lib/clock.ts'
import type { ClaimedDelivery } from '../../../store/command.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'
import type { PathState } from '../../queue/paths.ts'
import type { PipelineSlot } from '../pipeline.ts'
import type { SiteLimits } from '../providers.ts'
import { NO_CAPACITY } from './admission.ts'
import type { BreakerState } from './circuit-breaker.ts'
import {
  type CongestionFeedbackOptions,
  createCongestionFeedback,
  type JudgeCongestion,
  type PathName,
  type RecordFeedback,
} from './congestion-feedback.ts'
import {
  closePath,
  createEgressPath,
  type EgressPath,
  type EgressPathOptions,
  stateOf,
} from './egress-path.ts'
import type { ReadyDelivery } from './ready-queue.ts'
import { allBreakersOpen, isIdleSite, place, roomIn, type Site, unclaimSpent } from './site.ts'
import { createSlotRunner } from './slot-runner.ts'
import type { Slots } from './slots.ts'
import type { EgressSource } from './source-ips.ts'
import type { WarmupBudgets } from './warmup-budget.ts'

export interface Sites {
  /** How many more deliveries of the site may be claimed now. */
  roomOf(site: string): Capacity
  /** @param laneClass of all of them */
  take(site: string, deliveryClass: number, deliveries: readonly ClaimedDelivery[]): void
  /** A pause that began in a former life. */
  restoreBreaker(name: PathName, state: BreakerState): void
  /** The site's pauses are over before their time. False when there is none. */
  probeNow(site: string): boolean
  /** How much it gets has been ordered anew. */
  slowed(site: string): void
  /** None of its mail can go anywhere now. */
  isPaused(site: string): boolean
  /** Undefined for a site of which nothing is remembered. */
  pathsTo(site: string): PathState[] | undefined
  /** Gives back what is meant and has not been begun. */
  recall(isMeant: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[]
  /** Resolves when nothing is under way, or after so long. */
  idle(withinMs: number): Promise<void>
  /** Begins nothing more; gives back what has not been begun. */
  stop(): ClaimedDelivery[]
}

interface SitesOptions extends Omit<CongestionFeedbackOptions, 'siteOf' | 'unclaim'> {
  clock: Clock
  slots: Slots
  warmupBudgets: Pick<WarmupBudgets, 'of'>
  limitsOf(site: string): SiteLimits
  /** Messages a second by all paths together, as the operator has ordered; any number when null. */
  capOf(site: string): number | null
  /** It waits behind others, and its turn is near. */
  prepare(delivery: ClaimedDelivery): void
  /** Resolves with false where it lost its turn in the line, and is given back. */
  deliver(
    delivery: ClaimedDelivery,
    source: EgressSource,
    judge: JudgeCongestion,
    slot: PipelineSlot,
  ): Promise<boolean>
  /** The site has room again. */
  onRoom(site: string): void
  /** A path to the site has sent what it may today; these were claimed for it, and not begun. */
  onSpent(site: string, unstarted: readonly ClaimedDelivery[]): void
  onError(error: unknown): void
}

/** At all sites together. */
const READY_DELIVERIES_MAX = 2_000
/** Sites that are remembered while nothing waits for them. */
const SITES_MAX = 10_000

export function createSites(options: SitesOptions): Sites {
  const { clock, slots, warmupBudgets, sourceIps, onError } = options
  const sites = new Map<string, Site>()
  const waiting = { count: 0 }
  let stopped = false

  const siteOf = (name: string): Site =>
    sites.get(name) ?? createSite(options, name, { clock, waiting, warmupBudgets, wake })
  const wake = ({ site: name }: EgressPath) => {
    const site = siteOf(name)
    giveBackSpent(site)
    for (const path of site.paths) runner.start(path)
    offerRoom(site)
  }
  /** They wait in the queue, for another path or the next day. */
  const giveBackSpent = (site: Site) => {
    const spent = unclaimSpent(site)
    if (spent.length > 0) options.onSpent(site.name, spent)
  }
  const runner = createSlotRunner({
    clock,
    slots,
    prepare: options.prepare,
    deliver: (path, ready, slot) => deliverOn(options, path, ready, slot, recordFeedback),
    onMoved(path) {
      const site = siteOf(path.site)
      if (isIdleSite(site)) keep(sites, site)
      offerRoom(site)
    },
    onError,
  })

  const unclaim = (path: EgressPath): ClaimedDelivery[] => {
    runner.leave(path)
    return path.ready.clear()
  }
  const recordFeedback = createCongestionFeedback({ ...options, siteOf, unclaim })

  const roomOf = (site: Site) => roomIn(site, READY_DELIVERIES_MAX - waiting.count)
  const offerRoom = (site: Site) => {
    const { any, transactional } = roomOf(site)
    const isNews = any > 0 || (transactional > 0 && !site.hadRoom)
    site.hadRoom = transactional > 0
    if (isNews && !stopped) options.onRoom(site.name)
  }

  return {
    roomOf: name => (stopped ? NO_CAPACITY : roomOf(siteOf(name))),
    take(name, deliveryClass, deliveries) {
      const site = siteOf(name)
      sites.set(name, site)
      place(site, deliveryClass, deliveries, sourceIps)
      giveBackSpent(site)
      site.hadRoom = roomOf(site).transactional > 0
      for (const path of site.paths) runner.start(path)
    },
    restoreBreaker({ site: name, source: wanted }, state) {
      const site = siteOf(name)
      sites.set(name, site)
      for (const path of site.paths)
        if (wanted === '' || path.source.name === wanted) path.breaker.restore(state)
    },
    probeNow: name => siteOf(name).paths.filter(({ breaker }) => breaker.probeNow()).length > 0,
    slowed(name) {
      for (const { rateLimit } of sites.get(name)?.paths ?? []) rateLimit.change(rateOf(options, name))
    },
    isPaused: name => sites.has(name) && allBreakersOpen(siteOf(name)),
    pathsTo: name => sites.get(name)?.paths.map(stateOf),
    recall(isMeant) {
      return [...sites.values()].flatMap(site => {
        const recalled = site.paths.flatMap(({ ready }) => ready.clear(isMeant))
        if (recalled.length > 0) offerRoom(site)
        return recalled
      })
    },
    idle: runner.idle,
    stop() {
      stopped = true
      runner.stop()
      const paths = [...sites.values()].flatMap(site => site.paths)
      for (const path of paths) closePath(path)
      return paths.flatMap(unclaim)
    },
  }
}

function createSite(options: SitesOptions, name: string, pathOptions: EgressPathOptions): Site {
  const limits = { ...options.limitsOf(name), messagesPerSecond: rateOf(options, name) }
  const paths = options.sourceIps.sources.map(source => createEgressPath(name, source, limits, pathOptions))
  return { name, paths, hadRoom: true }
}

/** Of each path, a second: what is ordered for all of them is shared out evenly. */
function rateOf({ limitsOf, capOf, sourceIps }: SitesOptions, site: string): number | null {
  const { messagesPerSecond } = limitsOf(site)
  const cap = capOf(site)
  if (cap === null) return messagesPerSecond
  return Math.min(cap / sourceIps.sources.length, messagesPerSecond ?? Number.POSITIVE_INFINITY)
}

/** What was not sent is not counted. */
async function deliverOn(
  { deliver, giveBack }: SitesOptions,
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

/** What was learnt of a site is kept for a while. */
function keep(sites: Map<string, Site>, site: Site) {
  sites.delete(site.name)
  sites.set(site.name, site)
  if (sites.size <= SITES_MAX) return
  for (const other of sites.values())
    if (isIdleSite(other) && !other.paths.some(({ breaker }) => breaker.isOpen))
      return void sites.delete(other.name)
}
