/** State of an endpoint in the dispatcher while deliveries wait for it. */
import type { Timer } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import type { WebhookTarget } from './attempt.ts'
import type { ClaimedWebhookDelivery } from './dispatch-commands.ts'

/** A leased delivery that has not started. */
export interface Ready {
  target: WebhookTarget
  delivery: ClaimedWebhookDelivery
  leaseUntil: number
}

export interface Endpoint {
  id: Id
  /** Number of concurrent requests allowed. */
  window: number
  /** Number of failures since the last success. */
  failures: number
  /** The endpoint fails and waits for its next probe: no delivery is leased or started. */
  isSuspended: boolean
  inFlight: number
  ready: Ready[]
  /** Leased deliveries whose result has not been stored. */
  held: Set<Ready>
  isClaiming: boolean
  /** Time at which the next delivery is known to be due, in ms since the epoch. */
  nextAt: number
  timer: Timer | undefined
}

const INITIAL_CONCURRENCY = 4
const WINDOW_MAX = 32
const CONSECUTIVE_FAILURES_MAX = 5

export function newEndpoint(id: Id): Endpoint {
  return {
    id,
    window: INITIAL_CONCURRENCY,
    failures: 0,
    isSuspended: false,
    inFlight: 0,
    ready: [],
    held: new Set(),
    isClaiming: false,
    nextAt: Number.POSITIVE_INFINITY,
    timer: undefined,
  }
}

/** A success adds one to the window, a failure halves it. */
export function adjustWindow(endpoint: Endpoint, success: boolean): void {
  endpoint.failures = success ? 0 : endpoint.failures + 1
  endpoint.window = success ? Math.min(WINDOW_MAX, endpoint.window + 1) : Math.max(1, endpoint.window >> 1)
}

export function isFailing({ failures }: Endpoint): boolean {
  return failures >= CONSECUTIVE_FAILURES_MAX
}

/** Whether the endpoint fails and a probe is in progress. */
export function isProbing(endpoint: Endpoint): boolean {
  return isFailing(endpoint) && endpoint.inFlight > 0
}

/**
 * Whether a held lease has expired. Leasing now would lease the same delivery again, and count an attempt
 * that is not made.
 */
export function holdsExpiredLease({ held }: Endpoint, now: number): boolean {
  for (const { leaseUntil } of held) if (leaseUntil <= now) return true
  return false
}

export function isIdleEndpoint({ held, isClaiming, isSuspended, nextAt }: Endpoint): boolean {
  const isBusy = held.size > 0 || isClaiming || isSuspended
  return !isBusy && nextAt === Number.POSITIVE_INFINITY
}
