/**
 * Limits the bodies that the request log stores, so that a busy account does not fill the disk with them:
 * a bucket of bytes per account that refills continuously. Bodies of failed requests may empty the bucket,
 * those of successful ones only its upper half.
 */
import type { Clock } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import { TokenBuckets } from '../../lib/token-buckets.ts'

interface BodyBudget {
  /** Takes the bytes, and returns whether the bodies may be stored. */
  take(accountId: Id, bytes: number, isFailure: boolean): boolean
}

const BUCKET_BYTES = 1024 * 1024
const BYTES_PER_SECOND = 4 * 1024
const RESERVED_FOR_FAILURES_BYTES = BUCKET_BYTES / 2

export function createBodyBudget(clock: Clock): BodyBudget {
  const buckets = new TokenBuckets(clock, BUCKET_BYTES, BYTES_PER_SECOND)
  return {
    take: (accountId, bytes, isFailure) =>
      buckets.take(idKey(accountId), bytes, isFailure ? 0 : RESERVED_FOR_FAILURES_BYTES) !== undefined,
  }
}
