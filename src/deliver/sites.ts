/** Works deliveries off, site by site: a bounded number waits in memory, as many are under way as the site bears. */
import type { Clock } from '../lib/clock.ts'
import type { Room } from '../queue/turns.ts'
import type { ClaimedDelivery } from '../store/command.ts'
import { createLessons, type Judge, type LessonsOptions, type PathName } from './lessons.ts'
import { createPath, NO_ROOM, type Path } from './path.ts'
import type { PauseFacts } from './pause.ts'
import type { SiteLimits } from './providers.ts'
import { isIdleSite, place, roomIn, type Site } from './site.ts'
import { createSlotRunner } from './slot-runner.ts'
import type { Slots } from './slots.ts'
import type { Source } from './source-ips.ts'

export interface Sites {
  /** How many more deliveries of the site may be claimed now. */
  roomOf(site: string): Room
  /** @param laneClass of all of them */
  take(site: string, laneClass: number, deliveries: readonly ClaimedDelivery[]): void
  /** A pause that began in a former life. */
  resume(name: PathName, pause: PauseFacts): void
  /** The site's pauses are over before their time. False when there is none. */
  endPause(site: string): boolean
  /** Gives back what is meant and has not been begun. */
  recall(isMeant: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[]
  /** Resolves when nothing is under way, or after so long. */
  idle(withinMs: number): Promise<void>
  /** Begins nothing more; gives back what has not been begun. */
  stop(): ClaimedDelivery[]
}

export interface SitesOptions extends Omit<LessonsOptions, 'siteOf' | 'unclaim'> {
  clock: Clock
  slots: Slots
  limitsOf(site: string): SiteLimits
  deliver(delivery: ClaimedDelivery, source: Source, judge: Judge): Promise<void>
  /** The site has room again. */
  onRoom(site: string): void
  onError(error: unknown): void
}

/** At all sites together. */
const MOST_WAITING = 2_000
/** Sites that are remembered while nothing waits for them. */
const MOST_KEPT = 10_000

export function createSites(options: SitesOptions): Sites {
  const { clock, slots, limitsOf, sourceIps, onError } = options
  const sites = new Map<string, Site>()
  const waiting = { count: 0 }
  let stopped = false

  const siteOf = (name: string): Site => sites.get(name) ?? createSite(name)
  const createSite = (name: string): Site => {
    const limits = limitsOf(name)
    const paths = sourceIps.sources.map(source => createPath(name, source, limits, { clock, waiting, wake }))
    return { name, paths, hadRoom: true }
  }
  const wake = (path: Path) => {
    runner.start(path)
    offerRoom(siteOf(path.site))
  }
  const runner = createSlotRunner({
    clock,
    slots,
    deliver(path, delivery) {
      return options.deliver(delivery, path.source, (signal, text) => learn(path, delivery, signal, text))
    },
    onMoved(path) {
      const site = siteOf(path.site)
      if (isIdleSite(site)) keep(sites, site)
      offerRoom(site)
    },
    onError,
  })

  const unclaim = (path: Path): ClaimedDelivery[] => {
    runner.leave(path)
    return path.claimed.clear()
  }
  const learn = createLessons({ ...options, siteOf, unclaim })

  const roomOf = (site: Site) => roomIn(site, MOST_WAITING - waiting.count)
  const offerRoom = (site: Site) => {
    const { any, transactional } = roomOf(site)
    const isNews = any > 0 || (transactional > 0 && !site.hadRoom)
    site.hadRoom = transactional > 0
    if (isNews && !stopped) options.onRoom(site.name)
  }

  return {
    roomOf: name => (stopped ? NO_ROOM : roomOf(siteOf(name))),
    take(name, laneClass, deliveries) {
      const site = siteOf(name)
      sites.set(name, site)
      place(site, laneClass, deliveries, sourceIps)
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
      return [...sites.values()].flatMap(({ paths }) =>
        paths.flatMap(path => {
          path.pause.close()
          path.pace.close()
          return unclaim(path)
        }),
      )
    },
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
