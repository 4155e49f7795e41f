/** What is known of one site: what it bears, whether it answers, and what waits and is under way there. */
import type { Clock } from '../lib/clock.ts'
import type { Room } from '../queue/turns.ts'
import { type ClaimedQueue, createClaimedQueue } from './claimed.ts'
import { createPace, type Pace } from './pace.ts'
import { createPause, type Pause } from './pause.ts'
import type { SiteLimits } from './providers.ts'
import { createWindow, type Window } from './window.ts'

export interface Site {
  readonly name: string
  readonly window: Window
  readonly pause: Pause
  readonly pace: Pace
  readonly claimed: ClaimedQueue
  active: number
  /** Something good has been heard from it. */
  isProven: boolean
  /** There was room for transactional mail when it was last looked at. */
  hadRoom: boolean
}

/** Claimed ahead for each delivery under way, so that a slot need not wait for the next claim's commit. */
const AHEAD = 3
export const NO_ROOM: Room = { any: 0, transactional: 0 }
const ROOM_FOR_ONE: Room = { any: 1, transactional: 1 }

interface SiteOptions {
  clock: Clock
  /** Deliveries that wait at all sites. */
  waiting: { count: number }
  /** Called when a pause is over, or the next attempt may begin. */
  wake(site: Site): void
}

export function createSite(name: string, limits: SiteLimits, { clock, waiting, wake }: SiteOptions): Site {
  const woken = () => wake(site)
  const site: Site = {
    name,
    window: createWindow(limits.connections),
    pause: createPause(clock, woken),
    pace: createPace(clock, limits.messagesPerSecond, woken),
    claimed: createClaimedQueue(waiting),
    active: 0,
    isProven: false,
    hadRoom: true,
  }
  return site
}

/** How many deliveries may be under way there now. */
export function widthOf({ pause, window }: Site): number {
  if (pause.isOn) return 0
  return pause.isProbing ? 1 : window.size
}

/**
 * Room is offered by the half-full, so that claims are few and large. There is always room for what can begin
 * at once, however many wait at other sites.
 * @param ahead how many more may wait at all sites together
 */
export function roomIn(site: Site, ahead: number): Room {
  const { window, pause, claimed, active } = site
  if (pause.isOn) return NO_ROOM
  if (pause.isProbing) return active + claimed.length === 0 ? ROOM_FOR_ONE : NO_ROOM
  const most = window.size * AHEAD
  const atOnce = Math.max(0, window.size - active - claimed.length)
  const offer = (room: number) => (room * 2 < most ? 0 : Math.min(room, Math.max(atOnce, ahead)))
  const { any, transactional } = claimed.room(most)
  return { any: offer(any), transactional: offer(transactional) }
}

export function isIdle({ active, claimed }: Site): boolean {
  return active + claimed.length === 0
}
