/** Serves Prometheus metrics to clients that know the token. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Metrics } from '../../../lib/metrics.ts'
import { ApiError } from '../api-error.ts'
import type { Route } from '../route/route.ts'

interface MetricsRoutesOptions {
  metrics: Metrics
  /** Token of the configuration; null disables the metrics. */
  token: string | null
  /** Reads what the next report needs and is not in memory. */
  refresh(): Promise<void>
}

/** Content type of the Prometheus text format. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function metricsRoutes({ metrics, token, refresh }: MetricsRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      access: 'public',
      summary: 'Prometheus metrics of the process',
      replies: { 200: 'text/plain' },
      async handle({ headers }) {
        if (token === null)
          throw new ApiError(404, 'not_found', 'Metrics are disabled: the setting `metrics.token` is empty.')
        const isKnown = timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`))
        if (!isKnown)
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

/** Hashes a text to a fixed length for the comparison in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
