/**
 * What is known of the path from one of our sources to one site: what it bears, whether it answers, and what
 * is on it.
 */

import type { Clock } from '../../../lib/clock.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'
import type { PathState } from '../../queue/paths.ts'
import type { SiteLimits } from '../providers.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
import { createReadyQueue, type ReadyQueue } from './ready-queue.ts'
import type { EgressSource } from './source-ips.ts'
import { createTokenBucket, type TokenBucket } from './token-bucket.ts'
import type { WarmupBudget, WarmupBudgets } from './warmup-budget.ts'
import { createWindow, type Window } from './window.ts'

export interface EgressPath {
  /** Its name. */
  readonly site: string
  readonly source: EgressSource
  readonly window: Window
  readonly breaker: CircuitBreaker
  readonly rateLimit: TokenBucket
  readonly warmupBudget: WarmupBudget
  readonly ready: ReadyQueue
  /** Lines of deliveries under way. */
  active: number
  /** Something good has been heard over it. */
  isProven: boolean
}

/** Claimed ahead for each delivery under way, so that a slot need not wait for the next claim's commit. */
const CLAIMED_PER_ACTIVE_MAX = 3
export const NO_CAPACITY: Capacity = { any: 0, transactional: 0 }
const CAPACITY_FOR_ONE: Capacity = { any: 1, transactional: 1 }

export interface EgressPathOptions {
  clock: Clock
  /** Deliveries that wait on all paths. */
  waiting: { count: number }
  warmupBudgets: Pick<WarmupBudgets, 'of'>
  /** Called when a pause is over, or the next attempt may begin. */
  wake(path: EgressPath): void
}

export function createEgressPath(
  site: string,
  source: EgressSource,
  limits: SiteLimits,
  { clock, waiting, warmupBudgets, wake }: EgressPathOptions,
): EgressPath {
  const woken = () => wake(path)
  const path: EgressPath = {
    site,
    source,
    window: createWindow(limits.connections),
    breaker: createCircuitBreaker(clock, woken),
    rateLimit: createTokenBucket(clock, limits.messagesPerSecond, woken),
    warmupBudget: warmupBudgets.of(source, site, woken),
    ready: createReadyQueue(waiting),
    active: 0,
    isProven: false,
  }
  return path
}

/** How many deliveries may be under way on it now, those in line behind another not counted. */
export function widthOf({ breaker, window }: EgressPath): number {
  if (breaker.isOpen) return 0
  return breaker.isHalfOpen ? 1 : window.size
}

/**
 * Room is offered by thirds, so that claims are few and large, and come before what waits runs short. There
 * is always room for what can begin at once, however many wait on other paths.
 * @param ahead how many more may wait on all paths together
 */
export function capacityOf(path: EgressPath, ahead: number): Capacity {
  const room = capacityByWindow(path, ahead)
  const { isSpent } = path.warmupBudget
  return { any: isSpent(false) ? 0 : room.any, transactional: isSpent(true) ? 0 : room.transactional }
}

function capacityByWindow(path: EgressPath, ahead: number): Capacity {
  const { window, breaker, ready, active } = path
  if (breaker.isOpen) return NO_CAPACITY
  if (breaker.isHalfOpen) return isIdlePath(path) ? CAPACITY_FOR_ONE : NO_CAPACITY
  const most = window.size * CLAIMED_PER_ACTIVE_MAX
  const atOnce = Math.max(0, window.size - active - ready.length)
  const offer = (room: number) => (room * 3 < most ? 0 : Math.min(room, Math.max(atOnce, ahead)))
  const { any, transactional } = ready.room(most)
  return { any: offer(any), transactional: offer(transactional) }
}

/** Something that waits on it may begin now. When not, it is woken. */
export function mayBegin({ rateLimit, ready, warmupBudget }: EgressPath): boolean {
  return rateLimit.allows() && ready.has(warmupBudget.allows)
}

/**
 * As much waits as is under way, and nothing tells it to go slowly: what would wait anyway may do so behind
 * another.
 */
export function isCrowded({ active, ready, isProven, rateLimit, breaker }: EgressPath): boolean {
  const isCareful = !isProven || breaker.isHalfOpen || rateLimit.perSecond !== null
  return !isCareful && ready.length >= active
}

/** It is closed for the class: it rests, or has sent all it may today. */
export function isClosed({ breaker, warmupBudget }: EgressPath, isTransactional: boolean): boolean {
  return breaker.isOpen || warmupBudget.isSpent(isTransactional)
}

/** One more delivery of its class would be no more than it may be ahead. */
export function bearsMore(path: EgressPath, isTransactional: boolean): boolean {
  if (path.breaker.isOpen) return false
  if (path.breaker.isHalfOpen) return isIdlePath(path)
  const { any, transactional } = path.ready.room(path.window.size * CLAIMED_PER_ACTIVE_MAX)
  return (isTransactional ? transactional : any) > 0
}

export function isIdlePath({ active, ready }: EgressPath): boolean {
  return active + ready.length === 0
}

export function stateOf({
  source,
  window,
  breaker,
  rateLimit,
  ready,
  active,
  warmupBudget,
}: EgressPath): PathState {
  return {
    sourceIps: source.ips.map(({ address }) => address),
    window: window.size,
    underWay: active,
    claimed: ready.length,
    perSecond: rateLimit.perSecond,
    openBreaker: breaker.state ? { until: breaker.state.until, reason: breaker.state.reason } : null,
    isHalfOpen: breaker.isHalfOpen,
    isSpent: warmupBudget.isSpent(false),
  }
}

export function closePath({ breaker, rateLimit }: EgressPath): void {
  breaker.dispose()
  rateLimit.close()
}
