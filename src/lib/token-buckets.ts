/**
 * Token buckets by key, such as one per account. Each begins full and refills continuously. Buckets that have
 * not been used for the time of a refill are forgotten.
 */
import type { Clock } from './clock.ts'

interface Bucket {
  /** Number of tokens, with fractions. */
  tokens: number
  /** Monotonic time at which the bucket held that number of tokens, in ms. */
  at: number
}

export class TokenBuckets {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #capacity: number
  readonly #perSecond: number
  /** Time after which every bucket is full again and need not be remembered, in ms. */
  readonly #refillMs: number
  #current = new Map<string, Bucket>()
  #former = new Map<string, Bucket>()
  #turnedAt: number

  /**
   * @param capacity tokens in a full bucket
   * @param perSecond tokens that a bucket gains per second, more than 0
   */
  constructor(clock: Pick<Clock, 'monotonic'>, capacity: number, perSecond: number) {
    this.#clock = clock
    this.#capacity = capacity
    this.#perSecond = perSecond
    this.#refillMs = (capacity / perSecond) * 1_000
    this.#turnedAt = clock.monotonic()
  }

  /**
   * Takes tokens if at least `reserve` tokens are left then.
   * @returns the number of tokens left; undefined if none were taken
   */
  take(key: string, count: number, reserve = 0): number | undefined {
    const now = this.#clock.monotonic()
    if (now - this.#turnedAt >= this.#refillMs) {
      this.#former = this.#current
      this.#current = new Map()
      this.#turnedAt = now
    }
    const bucket = this.#bucketOf(key, now)
    const gained = ((now - bucket.at) * this.#perSecond) / 1_000
    bucket.tokens = Math.min(this.#capacity, bucket.tokens + gained)
    bucket.at = now
    if (bucket.tokens - count < reserve) return undefined
    bucket.tokens -= count
    return bucket.tokens
  }

  #bucketOf(key: string, now: number): Bucket {
    const known = this.#current.get(key)
    if (known) return known
    const bucket = this.#former.get(key) ?? { tokens: this.#capacity, at: now }
    this.#current.set(key, bucket)
    return bucket
  }
}
