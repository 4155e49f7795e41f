/** Serves Prometheus metrics to clients that know the token, or to all of an open listener. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Metrics } from '../../../lib/metrics.ts'
import { ApiError } from '../api-error.ts'
import type { Route } from '../route/route.ts'

interface MetricsRoutesOptions {
  metrics: Metrics
  /** Token of the configuration; null if there is none. */
  token: string | null
  /** Whether the metrics are served without a token if there is none; otherwise they are disabled then. */
  isOpen: boolean
  /** Reads what the next report needs and is not in memory. */
  refresh(): Promise<void>
}

/** Content type of the Prometheus text format. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function metricsRoutes({ metrics, token, isOpen, refresh }: MetricsRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      access: 'public',
      summary: 'Prometheus metrics of the process',
      replies: { 200: 'text/plain' },
      async handle({ headers }) {
        if (token === null && !isOpen)
          throw new ApiError(404, 'not_found', 'Metrics are disabled: the setting `metrics.token` is empty.')
        if (token !== null && !isToken(headers.authorization ?? '', token))
          throw new ApiError(
            401,
            'invalid_access',
            'Metrics require the value of the setting `metrics.token` as a bearer token.',
          )
        await refresh()
        return {
          status: 200,
          headers: { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' },
          content: Buffer.from(metrics.text()),
        }
      },
    },
  ]
}

function isToken(authorization: string, token: string): boolean {
  return timingSafeEqual(digest(authorization), digest(`Bearer ${token}`))
}

/** Hashes a text to a fixed length for the comparison in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
