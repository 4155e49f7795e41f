/** Serves the source IP addresses and their warm-up to operators. */
import * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import {
  reportSources,
  type SourceEntry,
  type SourceReportOptions,
} from '../../../pipeline/delivery/shaping/source-report.ts'
import { requireOperator } from '../auth/operator.ts'
import { ok, type Route } from '../route/route.ts'
import { timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

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

const count = z.int().min(0)
const sourceSchema = z
  .object({
    object: z.literal('source'),
    source_ip: z.string(),
    ehlo_name: z.string(),
    warmup: z
      .object({
        day: z.int().min(1),
        cap: count.meta({ description: 'Limit of messages to one mailbox provider on this UTC day.' }),
        caps: z.array(count).meta({ description: 'Limits of all days of the warm-up, from the first.' }),
        sent: z.array(z.object({ provider: z.string(), count })).meta({
          description: 'Messages sent on this UTC day by provider; `other` for unknown providers.',
        }),
      })
      .nullable()
      .meta({ description: 'Null if the address is not in warm-up.' }),
    rests: z.array(z.object({ destination: z.string(), until: timeSchema, reason: z.string() })),
  })
  .meta({ id: 'Source' })

export const sourcesSchema = z.object({ object: z.literal('list'), data: z.array(sourceSchema) })

function sourceView({ address, name, warmup, rests }: SourceEntry): z.output<typeof sourceSchema> {
  return {
    object: 'source',
    source_ip: address,
    ehlo_name: name,
    warmup: warmup && { day: warmup.number, cap: warmup.cap, caps: [...warmup.caps], sent: warmup.sent },
    rests: rests.map(({ destination, until, reason }) => ({ destination, until: timestamp(until), reason })),
  }
}
