/** Works deliveries off, site by site: a bounded number waits in memory, a window's worth is under way. */
import { once } from 'node:events'
import type { Clock } from '../lib/clock.ts'
import type { ClaimedDelivery } from '../store/command.ts'
import { createWindow, type Window } from './window.ts'

/** What an attempt told about its site. */
export type SiteSignal = 'through' | 'trouble' | 'nothing'

export interface Sites {
  /** How many more deliveries of the site may be claimed now. */
  roomOf(site: string): number
  take(site: string, deliveries: readonly ClaimedDelivery[]): void
  /** Resolves when nothing is under way, or after so long. */
  idle(withinMs: number): Promise<void>
  /** Begins nothing more; gives back what has not been begun. */
  stop(): ClaimedDelivery[]
}

interface SitesOptions {
  clock: Clock
  deliver(delivery: ClaimedDelivery): Promise<SiteSignal>
  /** The site has room again. */
  onRoom(site: string): void
  onError(error: unknown): void
}

interface SiteState {
  name: string
  window: Window
  waiting: ClaimedDelivery[]
  active: number
}

/** Claimed ahead for each delivery under way, so that a slot need not wait for the next claim's commit. */
const AHEAD = 3
/** At all sites together. */
const MOST_WAITING = 2_000

export function createSites({ clock, deliver, onRoom, onError }: SitesOptions): Sites {
  const sites = new Map<string, SiteState>()
  const slots = new Set<Promise<void>>()
  let waitingCount = 0
  let stopped = false

  const stateOf = (name: string): SiteState =>
    sites.get(name) ?? { name, window: createWindow(), waiting: [], active: 0 }

  const startSlots = (site: SiteState) => {
    while (!stopped && site.active < site.window.size && site.waiting.length > 0) {
      site.active++
      const slot = runSlot(site)
        .catch(onError)
        .finally(() => slots.delete(slot))
      slots.add(slot)
    }
  }

  const runSlot = async (site: SiteState) => {
    try {
      while (!stopped && site.active <= site.window.size) {
        const delivery = site.waiting.shift()
        if (!delivery) break
        waitingCount--
        if (roomIn(site) > 0) onRoom(site.name)
        const signal = await deliver(delivery)
        if (signal === 'through') site.window.grow()
        if (signal === 'trouble') site.window.shrink()
        startSlots(site)
      }
    } finally {
      site.active--
      if (site.waiting.length > 0) startSlots(site)
      else if (site.active === 0) forget(site)
      if (!stopped && roomIn(site) > 0) onRoom(site.name)
    }
  }

  /**
   * Room is offered by the half-full, so that claims are few and large. There is always room for what can begin
   * at once, however many wait at other sites.
   */
  const roomIn = ({ window, waiting, active }: SiteState): number => {
    const most = window.size * AHEAD
    if (waiting.length * 2 > most) return 0
    const atOnce = Math.max(0, window.size - active - waiting.length)
    return Math.min(most - waiting.length, Math.max(atOnce, MOST_WAITING - waitingCount))
  }

  const forget = (site: SiteState) => {
    if (site.window.isFresh) sites.delete(site.name)
  }

  return {
    roomOf: name => (stopped ? 0 : roomIn(stateOf(name))),
    take(name, deliveries) {
      const site = stateOf(name)
      sites.set(name, site)
      site.waiting.push(...deliveries)
      waitingCount += deliveries.length
      startSlots(site)
    },
    async idle(withinMs) {
      const deadline = new AbortController()
      const timer = clock.timer(withinMs, () => deadline.abort())
      while (slots.size > 0 && !deadline.signal.aborted)
        await Promise.race([...slots, once(deadline.signal, 'abort')])
      timer.cancel()
    },
    stop() {
      stopped = true
      return [...sites.values()].flatMap(({ waiting }) => waiting.splice(0))
    },
  }
}
