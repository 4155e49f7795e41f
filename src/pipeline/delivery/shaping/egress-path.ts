/** What is known of the path from one of our sources to one site: what it bears, whether it answers, and what is on it. */

import type { Clock } from '../../../lib/clock.ts'
import type { Room } from '../../queue/fair-scheduler.ts'
import type { PathState } from '../../queue/paths.ts'
import type { SiteLimits } from '../providers.ts'
import { createPause, type Pause } from './circuit-breaker.ts'
import { type ClaimedQueue, createClaimedQueue } from './ready-queue.ts'
import type { Source } from './source-ips.ts'
import { createPace, type Pace } from './token-bucket.ts'
import type { Allowance, Allowances } from './warmup-budget.ts'
import { createWindow, type Window } from './window.ts'

export interface Path {
  /** Its name. */
  readonly site: string
  readonly source: Source
  readonly window: Window
  readonly pause: Pause
  readonly pace: Pace
  readonly allowance: Allowance
  readonly claimed: ClaimedQueue
  /** Lines of deliveries under way. */
  active: number
  /** Something good has been heard over it. */
  isProven: boolean
}

/** Claimed ahead for each delivery under way, so that a slot need not wait for the next claim's commit. */
const AHEAD = 3
export const NO_ROOM: Room = { any: 0, transactional: 0 }
const ROOM_FOR_ONE: Room = { any: 1, transactional: 1 }

export interface PathOptions {
  clock: Clock
  /** Deliveries that wait on all paths. */
  waiting: { count: number }
  allowances: Pick<Allowances, 'of'>
  /** Called when a pause is over, or the next attempt may begin. */
  wake(path: Path): void
}

export function createPath(
  site: string,
  source: Source,
  limits: SiteLimits,
  { clock, waiting, allowances, wake }: PathOptions,
): Path {
  const woken = () => wake(path)
  const path: Path = {
    site,
    source,
    window: createWindow(limits.connections),
    pause: createPause(clock, woken),
    pace: createPace(clock, limits.messagesPerSecond, woken),
    allowance: allowances.of(source, site, woken),
    claimed: createClaimedQueue(waiting),
    active: 0,
    isProven: false,
  }
  return path
}

/** How many deliveries may be under way on it now, those in line behind another not counted. */
export function widthOf({ pause, window }: Path): number {
  if (pause.isOn) return 0
  return pause.isProbing ? 1 : window.size
}

/**
 * Room is offered by thirds, so that claims are few and large, and come before what waits runs short. There is always
 * room for what can begin at once, however many wait on other paths.
 * @param ahead how many more may wait on all paths together
 */
export function roomOn(path: Path, ahead: number): Room {
  const room = roomByWindow(path, ahead)
  const { isSpent } = path.allowance
  return { any: isSpent(false) ? 0 : room.any, transactional: isSpent(true) ? 0 : room.transactional }
}

function roomByWindow(path: Path, ahead: number): Room {
  const { window, pause, claimed, active } = path
  if (pause.isOn) return NO_ROOM
  if (pause.isProbing) return isIdle(path) ? ROOM_FOR_ONE : NO_ROOM
  const most = window.size * AHEAD
  const atOnce = Math.max(0, window.size - active - claimed.length)
  const offer = (room: number) => (room * 3 < most ? 0 : Math.min(room, Math.max(atOnce, ahead)))
  const { any, transactional } = claimed.room(most)
  return { any: offer(any), transactional: offer(transactional) }
}

/** Something that waits on it may begin now. When not, it is woken. */
export function mayBegin({ pace, claimed, allowance }: Path): boolean {
  return pace.allows() && claimed.has(allowance.allows)
}

/** As much waits as is under way, and nothing tells it to go slowly: what would wait anyway may do so behind another. */
export function isCrowded({ active, claimed, isProven, pace, pause }: Path): boolean {
  const isCareful = !isProven || pause.isProbing || pace.perSecond !== null
  return !isCareful && claimed.length >= active
}

/** It is closed for the class: it rests, or has sent all it may today. */
export function isClosed({ pause, allowance }: Path, isTransactional: boolean): boolean {
  return pause.isOn || allowance.isSpent(isTransactional)
}

/** One more delivery of its class would be no more than it may be ahead. */
export function bearsMore(path: Path, isTransactional: boolean): boolean {
  if (path.pause.isOn) return false
  if (path.pause.isProbing) return isIdle(path)
  const { any, transactional } = path.claimed.room(path.window.size * AHEAD)
  return (isTransactional ? transactional : any) > 0
}

export function isIdle({ active, claimed }: Path): boolean {
  return active + claimed.length === 0
}

export function stateOf({ source, window, pause, pace, claimed, active, allowance }: Path): PathState {
  return {
    sourceIps: source.ips.map(({ address }) => address),
    window: window.size,
    underWay: active,
    claimed: claimed.length,
    perSecond: pace.perSecond,
    rest: pause.facts ? { until: pause.facts.until, reason: pause.facts.reason } : null,
    isProbing: pause.isProbing,
    isSpent: allowance.isSpent(false),
  }
}

export function closePath({ pause, pace }: Path): void {
  pause.close()
  pace.close()
}
