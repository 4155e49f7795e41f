/**
 * State of one egress path, which leads from one source to one destination: its window, circuit breaker, rate
 * limit, warm-up budget and ready queue. `admission.ts` decides by this state; `congestion-feedback.ts`
 * changes it.
 */

import type { Clock } from '../../../lib/clock.ts'
import type { PathState } from '../../queue/paths.ts'
import type { DestinationLimits } from '../destinations/providers.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
import { createReadyQueue, type ReadyQueue } from './ready-queue.ts'
import type { EgressSource } from './source-ips.ts'
import { createTokenBucket, type TokenBucket } from './token-bucket.ts'
import type { WarmupBudget, WarmupBudgets } from './warmup-budget.ts'
import { createWindow, type Window } from './window.ts'

export interface EgressPath {
  /** Name of the destination. */
  readonly destination: string
  readonly source: EgressSource
  readonly window: Window
  readonly breaker: CircuitBreaker
  readonly rateLimit: TokenBucket
  readonly warmupBudget: WarmupBudget
  readonly ready: ReadyQueue
  /** Number of slots in use. Deliveries that are pipelined behind another share its slot. */
  active: number
  /** Whether the destination has answered on this path since the path was created. */
  isProven: boolean
  /** Whether one delivery waits for a slow host without a slot of the thread. */
  isParked: boolean
  /** Monotonic ms: when a delivery was last parked, unless the destination has answered since. */
  parkedAt: number | undefined
}

interface EgressPathOptions {
  clock: Clock
  /** Counts the claimed deliveries that wait on all paths of the thread. */
  waiting: { count: number }
  warmupBudgets: Pick<WarmupBudgets, 'of'>
  /**
   * Called when the circuit breaker becomes half open, or when a rate limit or warm-up budget allows the next
   * delivery.
   */
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
    isParked: false,
    parkedAt: undefined,
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
