/**
 * What is known of the path from one of our sources to one destination: what it bears, whether it answers,
 * and what is on it.
 */

import type { Clock } from '../../../lib/clock.ts'
import type { PathState } from '../../queue/paths.ts'
import type { DestinationLimits } from '../providers.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
import { createReadyQueue, type ReadyQueue } from './ready-queue.ts'
import type { EgressSource } from './source-ips.ts'
import { createTokenBucket, type TokenBucket } from './token-bucket.ts'
import type { WarmupBudget, WarmupBudgets } from './warmup-budget.ts'
import { createWindow, type Window } from './window.ts'

export interface EgressPath {
  /** Its name. */
  readonly destination: string
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

export interface EgressPathOptions {
  clock: Clock
  /** Deliveries that wait on all paths. */
  waiting: { count: number }
  warmupBudgets: Pick<WarmupBudgets, 'of'>
  /** Called when a pause is over, or the next attempt may begin. */
  wake(path: EgressPath): void
}

export function createEgressPath(
  destination: string,
  source: EgressSource,
  limits: DestinationLimits,
  { clock, waiting, warmupBudgets, wake }: EgressPathOptions,
): EgressPath {
  const woken = () => wake(path)
  const path: EgressPath = {
    destination,
    source,
    window: createWindow(limits.connections),
    breaker: createCircuitBreaker(clock, woken),
    rateLimit: createTokenBucket(clock, limits.messagesPerSecond, woken),
    warmupBudget: warmupBudgets.of(source, destination, woken),
    ready: createReadyQueue(waiting),
    active: 0,
    isProven: false,
  }
  return path
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
