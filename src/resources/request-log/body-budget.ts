/**
 * Limits the bodies that the request log stores, so that a busy account does not fill the disk with them:
 * a bucket of bytes per account that refills continuously. Bodies of failed requests may empty the bucket,
 * those of successful ones only its upper half.
 */
import type { Clock } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'

export interface BodyBudget {
  /** Takes the bytes, and returns whether the bodies may be stored. */
  take(accountId: Id, bytes: number, isFailure: boolean): boolean
}

interface Bucket {
  bytes: number
  /** Monotonic time at which the bucket held that number of bytes, in ms. */
  at: number
}

const BUCKET_BYTES = 1024 * 1024
const BYTES_PER_SECOND = 4 * 1024
const RESERVED_FOR_FAILURES_BYTES = BUCKET_BYTES / 2
/** Time after which every bucket is full again and need not be remembered, in ms. */
const REFILL_MS = (BUCKET_BYTES / BYTES_PER_SECOND) * 1_000

export function createBodyBudget(clock: Clock): BodyBudget {
  let current = new Map<string, Bucket>()
  let former = new Map<string, Bucket>()
  let turnedAt = clock.monotonic()

  const bucketOf = (key: string, now: number): Bucket => {
    const known = current.get(key)
    if (known) return known
    const bucket = former.get(key) ?? { bytes: BUCKET_BYTES, at: now }
    current.set(key, bucket)
    return bucket
  }

  return {
    take(accountId, bytes, isFailure) {
      const now = clock.monotonic()
      if (now - turnedAt >= REFILL_MS) {
        former = current
        current = new Map()
        turnedAt = now
      }
      const bucket = bucketOf(idKey(accountId), now)
      const gained = ((now - bucket.at) * BYTES_PER_SECOND) / 1_000
      bucket.bytes = Math.min(BUCKET_BYTES, bucket.bytes + gained)
      bucket.at = now
      if (bucket.bytes - bytes < (isFailure ? 0 : RESERVED_FOR_FAILURES_BYTES)) return false
      bucket.bytes -= bytes
      return true
    },
  }
}
