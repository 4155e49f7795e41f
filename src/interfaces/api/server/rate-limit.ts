/** Applies the request rate limit of the account and sets the `ratelimit-*` headers on every reply. */
import type { Context } from 'koa'
import type { Id } from '../../../lib/ids.ts'
import { type RateLimit, REFILL_MS } from '../../../resources/accounts/rate-limit.ts'
import { ApiError } from '../api-error.ts'

export type SpendRequest = (ctx: Context, accountId: Id) => void

/** SDKs parse the values as integers. */
const RESET_SECONDS = String(REFILL_MS / 1_000)

/** @returns a function that throws ApiError 429 when the limit is exceeded */
export function createSpendRequest(rateLimit: RateLimit): SpendRequest {
  const { requestsPerSecond } = rateLimit
  const limit = String(requestsPerSecond)
  const message = `Rate limit exceeded: an account may make ${limit} requests per second. Retry after ${RESET_SECONDS} s.`
  return ({ res }, accountId) => {
    const left = rateLimit.take(accountId)
    res.setHeader('ratelimit-limit', limit)
    res.setHeader('ratelimit-remaining', String(left ?? 0))
    res.setHeader('ratelimit-reset', RESET_SECONDS)
    if (left === undefined)
      throw new ApiError(429, 'rate_limit_exceeded', message, { headers: { 'retry-after': RESET_SECONDS } })
  }
}
