/**
 * Circuit breaker of one egress path. It opens after five consecutive failures of the destination, and
 * nothing is sent there for one minute; then it is half open and a single delivery is tried. A failure of
 * that delivery opens it again for twice as long, up to 15 minutes; an answer closes it. Deliveries to the
 * destination keep their position in the queue.
 *
 * In: failures and answers, from `congestion-feedback.ts`. Out: whether the path may be used, for
 * `admission.ts`, and the state that `outages.ts` stores. Measurements and alternatives: decision 0029.
 */
import type { Clock, Timer } from '../../../lib/clock.ts'

/** Why and until when a circuit breaker is open. */
export interface BreakerState {
  /** Time at which the breaker becomes half open, in ms since the epoch. */
  until: number
  /** Planned duration in ms. The next one is twice as long. */
  ms: number
  /** Text of the last failure, shown to operators. */
  reason: string
}

export interface CircuitBreaker {
  readonly isOpen: boolean
  /** True when the open time is over and the destination has not answered yet. */
  readonly isHalfOpen: boolean
  /** Undefined while the breaker is not open. */
  readonly state: BreakerState | undefined
  /** @returns the state when this failure opens the breaker */
  recordFailure(reason: string): BreakerState | undefined
  /** Closes the breaker. @returns whether it was open or half open */
  recordSuccess(): boolean
  /** Opens the breaker in the state it had before a restart. */
  restore(state: BreakerState): void
  /** Ends the open time early, so that the breaker is half open. @returns whether it was open */
  probeNow(): boolean
  dispose(): void
}

const CONSECUTIVE_FAILURES_MAX = 5
const OPEN_MS_MIN = 60_000
const OPEN_MS_MAX = 15 * 60_000

/** @param onHalfOpen called when the open time is over */
export function createCircuitBreaker(clock: Clock, onHalfOpen: () => void): CircuitBreaker {
  let state: BreakerState | undefined
  let failures = 0
  let timer: Timer | undefined

  /** A timer ends the open time, so that a jump of the wall clock does not prolong it. */
  const open = (next: BreakerState) => {
    state = next
    timer?.cancel()
    timer = clock.timer(Math.min(OPEN_MS_MAX, Math.max(0, next.until - clock.now())), () => {
      timer = undefined
      onHalfOpen()
    })
  }

  return {
    get isOpen() {
      return timer !== undefined
    },
    get isHalfOpen() {
      return state !== undefined && timer === undefined
    },
    get state() {
      return timer && state
    },
    recordFailure(reason) {
      failures++
      if (timer || (!state && failures < CONSECUTIVE_FAILURES_MAX)) return undefined
      const ms = state ? Math.min(OPEN_MS_MAX, state.ms * 2) : OPEN_MS_MIN
      open({ until: clock.now() + ms, ms, reason })
      return state
    },
    recordSuccess() {
      failures = 0
      const wasOpen = state !== undefined
      state = undefined
      timer?.cancel()
      timer = undefined
      return wasOpen
    },
    restore: open,
    probeNow() {
      if (!timer) return false
      timer.cancel()
      timer = undefined
      onHalfOpen()
      return true
    },
    dispose() {
      timer?.cancel()
      timer = undefined
    },
  }
}
