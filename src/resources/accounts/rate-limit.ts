/**
 * Request rate limit per account: a token bucket that holds the requests of one second and refills
 * continuously.
 */
import type { Clock } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import { TokenBuckets } from '../../lib/token-buckets.ts'

export interface RateLimit {
  readonly requestsPerSecond: number
  /** Takes a token and returns the number of remaining tokens; undefined if the bucket is empty. */
  take(accountId: Id): number | undefined
}

/** Time after which every bucket is full again, in ms. */
export const REFILL_MS = 1_000

/** @param options.requestsPerSecond at least 1 */
export function createRateLimit({
  clock,
  requestsPerSecond,
}: {
  clock: Clock
  requestsPerSecond: number
}): RateLimit {
  const buckets = new TokenBuckets(clock, requestsPerSecond, requestsPerSecond)
  return {
    requestsPerSecond,
    take(accountId) {
      const left = buckets.take(idKey(accountId), 1)
      return left === undefined ? undefined : Math.floor(left)
    },
  }
}
