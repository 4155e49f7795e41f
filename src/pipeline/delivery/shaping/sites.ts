/** Works deliveries off, site by site: a bounded number waits in memory, as many are under way as the site bears. */
import type { Clock } from '../../../lib/clock.ts'
import type { ClaimedDelivery } from '../../../store/command.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'
import type { PathState } from '../../queue/paths.ts'
import type { PipelineSlot } from '../pipeline.ts'
import type { SiteLimits } from '../providers.ts'
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
  NO_CAPACITY,
  stateOf,
} from './egress-path.ts'
import type { ReadyDelivery } from './ready-queue.ts'
import { isIdleSite, place, restsWhole, roomIn, type Site, unclaimSpent } from './site.ts'
import { createSlotRunner } from './slot-runner.ts'
import type { Slots } from './slots.ts'
import type { EgressSource } from './source-ips.ts'
import type { WarmupBudgets } from './warmup-budget.ts'

export interface Sites {
  /** How many more deliveries of the site may be claimed now. */
  roomOf(site: string): Capacity
  /** @param laneClass of all of them */
  take(site: string, laneClass: number, deliveries: readonly ClaimedDelivery[]): void
  /** A pause that began in a former life. */
  resume(name: PathName, pause: BreakerState): void
  /** The site's pauses are over before their time. False when there is none. */
  endPause(site: string): boolean
  /** How much it gets has been ordered anew. */
  slowed(site: string): void
  /** None of its mail can go anywhere now. */
  rests(site: string): boolean
  /** Undefined for a site of which nothing is remembered. */
  pathsTo(site: string): PathState[] | undefined
  /** Gives back what is meant and has not been begun. */
  recall(isMeant: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[]
  /** Resolves when nothing is under way, or after so long. */
  idle(withinMs: number): Promise<void>
  /** Begins nothing more; gives back what has not been begun. */
  stop(): ClaimedDelivery[]
}

export interface SitesOptions extends Omit<CongestionFeedbackOptions, 'siteOf' | 'unclaim'> {
  clock: Clock
  slots: Slots
  allowances: Pick<WarmupBudgets, 'of'>
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
    turn: PipelineSlot,
  ): Promise<boolean>
  /** The site has room again. */
  onRoom(site: string): void
  /** A path to the site has sent what it may today; these were claimed for it, and not begun. */
  onSpent(site: string, unbegun: readonly ClaimedDelivery[]): void
  onError(error: unknown): void
}

/** At all sites together. */
const MOST_WAITING = 2_000
/** Sites that are remembered while nothing waits for them. */
const MOST_KEPT = 10_000

export function createSites(options: SitesOptions): Sites {
  const { clock, slots, allowances, sourceIps, onError } = options
  const sites = new Map<string, Site>()
  const waiting = { count: 0 }
  let stopped = false

  const siteOf = (name: string): Site =>
    sites.get(name) ?? createSite(options, name, { clock, waiting, allowances, wake })
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
    deliver: (path, claimed, turn) => deliverOn(options, path, claimed, turn, learn),
    onMoved(path) {
      const site = siteOf(path.site)
      if (isIdleSite(site)) keep(sites, site)
      offerRoom(site)
    },
    onError,
  })

  const unclaim = (path: EgressPath): ClaimedDelivery[] => {
    runner.leave(path)
    return path.claimed.clear()
  }
  const learn = createCongestionFeedback({ ...options, siteOf, unclaim })

  const roomOf = (site: Site) => roomIn(site, MOST_WAITING - waiting.count)
  const offerRoom = (site: Site) => {
    const { any, transactional } = roomOf(site)
    const isNews = any > 0 || (transactional > 0 && !site.hadRoom)
    site.hadRoom = transactional > 0
    if (isNews && !stopped) options.onRoom(site.name)
  }

  return {
    roomOf: name => (stopped ? NO_CAPACITY : roomOf(siteOf(name))),
    take(name, laneClass, deliveries) {
      const site = siteOf(name)
      sites.set(name, site)
      place(site, laneClass, deliveries, sourceIps)
      giveBackSpent(site)
      site.hadRoom = roomOf(site).transactional > 0
      for (const path of site.paths) runner.start(path)
    },
    resume({ site: name, source: wanted }, pause) {
      const site = siteOf(name)
      sites.set(name, site)
      for (const path of site.paths)
        if (wanted === '' || path.source.name === wanted) path.pause.resume(pause)
    },
    endPause: name => siteOf(name).paths.filter(({ pause }) => pause.end()).length > 0,
    slowed(name) {
      for (const { pace } of sites.get(name)?.paths ?? []) pace.change(paceOf(options, name))
    },
    rests: name => sites.has(name) && restsWhole(siteOf(name)),
    pathsTo: name => sites.get(name)?.paths.map(stateOf),
    recall(isMeant) {
      return [...sites.values()].flatMap(site => {
        const recalled = site.paths.flatMap(({ claimed }) => claimed.clear(isMeant))
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
  const limits = { ...options.limitsOf(name), messagesPerSecond: paceOf(options, name) }
  const paths = options.sourceIps.sources.map(source => createEgressPath(name, source, limits, pathOptions))
  return { name, paths, hadRoom: true }
}

/** Of each path, a second: what is ordered for all of them is shared out evenly. */
function paceOf({ limitsOf, capOf, sourceIps }: SitesOptions, site: string): number | null {
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
  turn: PipelineSlot,
  learn: RecordFeedback,
): Promise<void> {
  const end = path.allowance.begin(isTransactional)
  let wasSent = false
  const judge: JudgeCongestion = (signal, text) => {
    wasSent = signal === 'through'
    learn(path, delivery, signal, text)
  }
  try {
    if (!(await deliver(delivery, path.source, judge, turn))) giveBack([delivery])
  } finally {
    end(wasSent)
  }
}

/** What was learnt of a site is kept for a while. */
function keep(sites: Map<string, Site>, site: Site) {
  sites.delete(site.name)
  sites.set(site.name, site)
  if (sites.size <= MOST_KEPT) return
  for (const other of sites.values())
    if (isIdleSite(other) && !other.paths.some(({ pause }) => pause.isOn))
      return void sites.delete(other.name)
}
