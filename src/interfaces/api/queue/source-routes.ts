/** Serves the source IP addresses to operators. */

import type { Clock } from '../../../lib/clock.ts'
import { reportSources, type SourceReportOptions } from '../../../pipeline/delivery/shaping/source-report.ts'
import { requireOperator } from '../auth/operator.ts'
import { ok, type Route } from '../route/route.ts'
import { sourcesSchema, sourceView } from './source-schema.ts'

export function sourceRoutes({ clock, ...options }: SourceReportOptions & { clock: Clock }): Route[] {
  return [
    {
      method: 'GET',
      path: '/sources',
      access: 'session',
      summary: 'List source IP addresses with their warm-up and paused destinations (operator)',
      replies: { 200: sourcesSchema },
      async handle(request) {
        requireOperator(request)
        const entries = await reportSources(options, clock.now())
        return ok({ object: 'list', data: entries.map(sourceView) })
      },
    },
  ]
}
