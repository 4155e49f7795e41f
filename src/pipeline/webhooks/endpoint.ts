/** What the dispatcher knows of an endpoint while something waits for it. */
import type { Timer } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import type { WebhookTarget } from './attempt.ts'
import type { ClaimedWebhookDelivery } from './dispatch-commands.ts'

/** Leased, not begun. */
export interface Ready {
  target: WebhookTarget
  delivery: ClaimedWebhookDelivery
  leaseUntil: number
}

export interface Endpoint {
  id: Id
  /** So many requests at once. */
  window: number
  /** Failures since the last success. */
  failures: number
  /** It waits for its turn among those that fail: nothing is leased for it, and nothing begun. */
  isSuspended: boolean
  inFlight: number
  ready: Ready[]
  /** What is leased for it, from the lease until the store knows what became of it. */
  held: Set<Ready>
  isClaiming: boolean
  /** When the next is due, epoch ms, as far as is known. */
  nextAt: number
  timer: Timer | undefined
}

const WINDOW_INITIAL = 4
const WINDOW_MAX = 32
const CONSECUTIVE_FAILURES_MAX = 5

export function newEndpoint(id: Id): Endpoint {
  return {
    ...{ id, window: WINDOW_INITIAL, failures: 0, isSuspended: false },
    ...{ inFlight: 0, ready: [], held: new Set<Ready>(), isClaiming: false },
    ...{ nextAt: Number.POSITIVE_INFINITY, timer: undefined },
  }
}

/** One that takes what it is sent gets more at once, and half as much when it does not. */
export function learn(endpoint: Endpoint, success: boolean): void {
  endpoint.failures = success ? 0 : endpoint.failures + 1
  endpoint.window = success ? Math.min(WINDOW_MAX, endpoint.window + 1) : Math.max(1, endpoint.window >> 1)
}

/** Nothing has been taken for some attempts. */
export function isFailing({ failures }: Endpoint): boolean {
  return failures >= CONSECUTIVE_FAILURES_MAX
}

/** One attempt is under way that says whether it takes anything again. */
export function isOnTrial(endpoint: Endpoint): boolean {
  return isFailing(endpoint) && endpoint.inFlight > 0
}

/** To lease now would be to lease again what is held already, and to count an attempt that nobody makes. */
export function holdsWhatIsDue({ held }: Endpoint, now: number): boolean {
  for (const { leaseUntil } of held) if (leaseUntil <= now) return true
  return false
}

export function isIdleEndpoint({ held, isClaiming, isSuspended, nextAt }: Endpoint): boolean {
  const isBusy = held.size > 0 || isClaiming || isSuspended
  return !isBusy && nextAt === Number.POSITIVE_INFINITY
}
