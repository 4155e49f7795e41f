/** Serves `/healthz` (liveness) and `/readyz` (readiness). */
import * as z from 'zod'
import { SERVICE_MODES, type ServiceMode } from '../../../pipeline/queue/service-mode.ts'
import { ApiError } from '../api-error.ts'
import { ok, type Route } from '../route/route.ts'

/** Path that tells whether the process runs. */
export const HEALTH_PATH = '/healthz'

interface HealthRoutesOptions {
  /** Names the parts that are not ready; empty if all are ready. */
  notReady(): Promise<string[]>
  serviceMode: { current: ServiceMode }
}

export function healthRoutes({ notReady, serviceMode }: HealthRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: HEALTH_PATH,
      access: 'public',
      summary: 'Liveness: the process is running',
      replies: { 200: z.object({ status: z.literal('ok') }) },
      handle: async () => ok({ status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      access: 'public',
      summary: 'Readiness: the service can accept work',
      replies: { 200: z.object({ status: z.literal('ready'), mode: z.enum(SERVICE_MODES) }) },
      async handle() {
        const missing = await notReady()
        if (missing.length > 0)
          throw new ApiError(503, 'application_error', `Not ready: ${missing.join(', ')}.`, {
            headers: { 'retry-after': '1' },
          })
        return ok({ status: 'ready', mode: serviceMode.current.mode })
      },
    },
  ]
}
