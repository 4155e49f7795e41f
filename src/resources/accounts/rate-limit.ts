/**
 * Request rate limit per account: a token bucket that holds the requests of one second and refills
 * continuously.
 */
import type { Clock } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'

export interface RateLimit {
  readonly requestsPerSecond: number
  /** Takes a token and returns the number of remaining tokens; undefined if the bucket is empty. */
  take(accountId: Id): number | undefined
}

interface Bucket {
  /** Number of tokens, with fractions. */
  tokens: number
  /** Monotonic time at which the bucket held that number of tokens, in ms. */
  at: number
}

/** Time after which every bucket is full again and need not be remembered, in ms. */
export const REFILL_MS = 1_000

/** @param options.requestsPerSecond at least 1 */
export function createRateLimit({
  clock,
  requestsPerSecond,
}: {
  clock: Clock
  requestsPerSecond: number
}): RateLimit {
  let current = new Map<string, Bucket>()
  let former = new Map<string, Bucket>()
  let turnedAt = clock.monotonic()

  const bucketOf = (key: string, now: number): Bucket => {
    const known = current.get(key)
    if (known) return known
    const bucket = former.get(key) ?? { tokens: requestsPerSecond, at: now }
    current.set(key, bucket)
    return bucket
  }

  return {
    requestsPerSecond,
    take(accountId) {
      const now = clock.monotonic()
      if (now - turnedAt >= REFILL_MS) {
        former = current
        current = new Map()
        turnedAt = now
      }
      const bucket = bucketOf(idKey(accountId), now)
      const gained = ((now - bucket.at) * requestsPerSecond) / REFILL_MS
      bucket.tokens = Math.min(requestsPerSecond, bucket.tokens + gained)
      bucket.at = now
      if (bucket.tokens < 1) return undefined
      return Math.floor(--bucket.tokens)
    },
  }
}
