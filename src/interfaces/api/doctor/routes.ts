/** Serves the diagnostics of the installation to operators. */
import * as z from 'zod'
import type { DoctorReport } from '../../doctor/finding.ts'
import { requireOperator } from '../auth/operator.ts'
import { ok, type Route } from '../route/route.ts'
import { timeSchema } from '../schema/reply-schemas.ts'

const statusSchema = z.enum(['ok', 'unknown', 'warning', 'failed'])
export const reportSchema = z
  .object({
    object: z.literal('doctor'),
    status: statusSchema,
    checked_at: timeSchema,
    took_ms: z.int(),
    findings: z.array(
      z.object({
        check: z.string(),
        subject: z.string().nullable(),
        status: statusSchema,
        message: z.string(),
        advice: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Doctor' })

export function doctorRoutes({ examine }: { examine(): Promise<DoctorReport> }): Route[] {
  return [
    {
      method: 'GET',
      path: '/doctor',
      access: 'session',
      summary:
        'Run diagnostics: port 25, reverse DNS, DNS, blocklists, certificate, clock and disk (operator)',
      replies: { 200: reportSchema },
      async handle(request) {
        requireOperator(request)
        return ok({ object: 'doctor', ...(await examine()) })
      },
    },
  ]
}
