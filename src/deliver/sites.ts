/** Works deliveries off, site by site: a bounded number waits in memory, as many are under way as the site bears. */
import type { Clock } from '../lib/clock.ts'
import type { Room } from '../queue/turns.ts'
import type { ClaimedDelivery } from '../store/command.ts'
import type { PauseFacts } from './pause.ts'
import type { SiteLimits } from './providers.ts'
import { createSite, isIdle, NO_ROOM, roomIn, type Site } from './site.ts'
import { createSlotRunner } from './slot-runner.ts'
import type { Slots } from './slots.ts'

/** What an attempt told about its site. */
export type SiteSignal = 'through' | 'trouble' | 'nothing'

/** Takes note of what an attempt told. @param text its last word, for people */
export type Judge = (signal: SiteSignal, text: string) => void

export interface Sites {
  /** How many more deliveries of the site may be claimed now. */
  roomOf(site: string): Room
  /** @param laneClass of all of them */
  take(site: string, laneClass: number, deliveries: readonly ClaimedDelivery[]): void
  /** A pause that began in a former life. */
  resume(site: string, pause: PauseFacts): void
  /** The pause is over before its time. False when there is none. */
  endPause(site: string): boolean
  /** Gives back what is meant and has not been begun. */
  recall(isMeant: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[]
  /** Resolves when nothing is under way, or after so long. */
  idle(withinMs: number): Promise<void>
  /** Begins nothing more; gives back what has not been begun. */
  stop(): ClaimedDelivery[]
}

export interface SitesOptions {
  clock: Clock
  slots: Slots
  limitsOf(site: string): SiteLimits
  deliver(delivery: ClaimedDelivery, judge: Judge): Promise<void>
  /** The site has room again. */
  onRoom(site: string): void
  /** The site rests; what was claimed for it and not begun is given back. */
  onPause(site: string, pause: PauseFacts, givenBack: ClaimedDelivery[]): void
  /** A paused site answers again; the delivery showed it. */
  onRecovery(site: string, delivery: ClaimedDelivery): void
  onError(error: unknown): void
}

/** At all sites together. */
const MOST_WAITING = 2_000
/** Sites that are remembered while nothing waits for them. */
const MOST_KEPT = 10_000

export function createSites(options: SitesOptions): Sites {
  const { clock, slots, limitsOf, onError } = options
  const sites = new Map<string, Site>()
  const waiting = { count: 0 }
  let stopped = false

  const siteOf = (name: string): Site =>
    sites.get(name) ?? createSite(name, limitsOf(name), { clock, waiting, wake })
  const wake = (site: Site) => {
    runner.start(site)
    offerRoom(site)
  }
  const runner = createSlotRunner({
    clock,
    slots,
    deliver(site, delivery) {
      return options.deliver(delivery, (signal, text) => learn(site, delivery, signal, text))
    },
    onMoved(site) {
      if (isIdle(site)) keep(sites, site)
      offerRoom(site)
    },
    onError,
  })

  const learn = (site: Site, delivery: ClaimedDelivery, signal: SiteSignal, text: string) => {
    if (signal === 'through') {
      site.isProven = true
      site.window.grow()
      if (site.pause.clear()) options.onRecovery(site.name, delivery)
    } else if (signal === 'trouble') {
      site.window.shrink()
      const begun = site.pause.trouble(text)
      if (begun) options.onPause(site.name, begun, unclaim(site))
    }
  }
  const unclaim = (site: Site): ClaimedDelivery[] => {
    runner.leave(site)
    return site.claimed.clear()
  }

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
      site.claimed.put(laneClass, deliveries)
      site.hadRoom = roomOf(site).transactional > 0
      runner.start(site)
    },
    resume(name, pause) {
      const site = siteOf(name)
      sites.set(name, site)
      site.pause.resume(pause)
    },
    endPause: name => sites.get(name)?.pause.end() ?? false,
    recall(isMeant) {
      return [...sites.values()].flatMap(site => {
        const recalled = site.claimed.clear(isMeant)
        if (recalled.length > 0) offerRoom(site)
        return recalled
      })
    },
    idle: runner.idle,
    stop() {
      stopped = true
      runner.stop()
      return [...sites.values()].flatMap(site => {
        site.pause.close()
        site.pace.close()
        return unclaim(site)
      })
    },
  }
}

/** What was learnt of a site is kept for a while. */
function keep(sites: Map<string, Site>, site: Site) {
  sites.delete(site.name)
  sites.set(site.name, site)
  if (sites.size <= MOST_KEPT) return
  for (const other of sites.values())
    if (isIdle(other) && !other.pause.isOn) return void sites.delete(other.name)
}
