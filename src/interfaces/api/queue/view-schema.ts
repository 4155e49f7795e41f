/** Schemas and queries of the queue view and of destinations. */
import * as z from 'zod'
import { parseWireId } from '../../../lib/ids.ts'
import { isUtcDay, utcDay } from '../../../lib/periods.ts'
import type { DestinationEntry, DestinationQuestion } from '../../../pipeline/queue/destination-report.ts'
import { type PathState, pathView } from '../../../pipeline/queue/paths.ts'
import {
  AGE_LIMITS,
  destinationOf,
  type QueueEntry,
  type QueueQuestion,
  type QueueTally,
  VIEW_BY,
} from '../../../pipeline/queue/view.ts'
import { parseDomain } from '../../../protocols/smtp/address.ts'
import { DELIVERY_CLASS, type DestinationCapRow } from '../../../store/model/schema.ts'
import { explanationSchema } from '../emails/schema.ts'
import { bodyReader, pageQuery, readChoice, readPage, readParameter } from '../schema/read.ts'
import { idSchema, listSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const CLASSES = ['transactional', 'broadcast', 'retry'] as const

export const queueQuery = {
  by: z.enum(VIEW_BY).default('domain'),
  domain: z.string().optional(),
  account_id: idSchema('acc').optional(),
  class: z.enum(CLASSES).optional(),
  ...pageQuery(),
}
export const destinationQuery = {
  day: z.iso.date().optional().meta({ description: 'UTC day; by default today.' }),
  destination: z.string().optional(),
  paused: z.enum(['true']).optional().meta({ description: 'Only destinations that are paused now.' }),
  ...pageQuery(),
}

const count = z.int().min(0)
const pathSchema = z
  .object({
    source_ips: z
      .array(z.string())
      .meta({ description: 'Empty if the operating system chooses the address.' }),
    window: count.meta({
      description: 'Limit of concurrent deliveries to the destination from these addresses.',
    }),
    under_way: count,
    claimed: count.meta({ description: 'Number of deliveries that are about to start.' }),
    messages_per_second: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: 'Null if there is no rate limit.' }),
    paused_until: timeSchema.nullable(),
    pause_reason: z.string().nullable(),
    probing: z.boolean().meta({
      description:
        'Whether a single delivery probes the destination after a pause (circuit breaker half-open).',
    }),
    warmup_spent: z.boolean().meta({
      description: 'Whether the daily warm-up limit is reached; transactional mail is still sent.',
    }),
  })
  .meta({ id: 'Path' })
const pathsSchema = z.array(pathSchema).meta({
  description: 'Current delivery state per source address; empty without recent deliveries.',
})
const tallySchema = z.object({
  never_tried: count,
  deferred: count,
  under_way: count,
  held: count,
  ages: z
    .array(z.object({ up_to_minutes: z.int().nullable(), deliveries: count }))
    .meta({ description: 'Number of deliveries by age of the email; null stands for any higher age.' }),
})
const entrySchema = tallySchema.extend({
  object: z.literal('queue_entry'),
  domain: z.string().nullable(),
  destination: z.string().nullable().meta({ description: 'Null if it is not known yet.' }),
  oldest_at: timeSchema,
  next_at: timeSchema.nullable(),
  last_reply: z.string().nullable(),
  explanation: explanationSchema.nullable().meta({
    description: 'Why the deferred delivery that is due first waits.',
  }),
  paths: pathsSchema,
})
export const queueSchema = z.object({
  ...listSchema(entrySchema).shape,
  as_of: timeSchema.meta({
    description: 'Time of the counts; a long queue is counted at most every ten seconds.',
  }),
  totals: tallySchema,
})

const counts = z.record(z.string(), count)
const destinationSchema = z.object({
  object: z.literal('destination'),
  destination: z.string(),
  day: z.iso.date(),
  paused_until: timeSchema.nullable(),
  pause_reason: z.string().nullable(),
  paths: pathsSchema,
  delivered: count,
  deferred: count,
  bounced: count,
  expired: count,
  deferred_by_class: counts,
  bounced_by_class: counts,
  replies: z.array(
    z.object({
      form: z.string().meta({
        description: 'Reply text with addresses and numbers replaced; empty for all other replies.',
      }),
      example: z.string(),
      count,
      result: z.string(),
      class: z.string(),
      last_at: timeSchema,
    }),
  ),
})
export const destinationsSchema = listSchema(destinationSchema)

export const resumeBodySchema = z.object({ destination: z.string().min(1).max(4_000) })
export const readResume = bodyReader(resumeBodySchema, { emptyMeansAbsent: ['destination'] })
export const resumeSchema = z.object({
  object: z.literal('destination_resume'),
  destination: z.string(),
  resumed: z.boolean().meta({ description: 'False if the destination was not paused.' }),
})

export const slowBodySchema = z.object({
  destination: z.string().min(1).max(4_000),
  messages_per_minute: z
    .int()
    .min(1)
    .max(60_000)
    .meta({ description: 'Limit of all source addresses together.' }),
})
export const readSlow = bodyReader(slowBodySchema, { emptyMeansAbsent: ['destination'] })
export const slowSchema = z
  .object({
    object: z.literal('destination_slow'),
    destination: z.string(),
    messages_per_minute: z.int(),
    created_at: timeSchema,
  })
  .meta({ id: 'DestinationSlow' })
export const unslowSchema = z.object({
  object: z.literal('destination_unslow'),
  destination: z.string(),
  ended: z.boolean().meta({ description: 'False if the destination had no rate limit.' }),
})
export const slowListSchema = z.object({ object: z.literal('list'), data: z.array(slowSchema) })

export function slowView({
  destination,
  perMinute,
  createdAt,
}: DestinationCapRow): z.output<typeof slowSchema> {
  return {
    object: 'destination_slow',
    destination,
    messages_per_minute: perMinute,
    created_at: timestamp(createdAt),
  }
}

/** @throws ApiError 422 */
export function readQueueQuestion(query: URLSearchParams, now: number): QueueQuestion {
  const named = readChoice(query, 'class', CLASSES)
  return {
    by: readChoice(query, 'by', VIEW_BY) ?? 'domain',
    domain: readParameter(query, 'domain', parseDomain, 'a domain name') ?? null,
    accountId:
      readParameter(query, 'account_id', text => parseWireId('acc', text), "an account's id") ?? null,
    class: named === undefined ? null : DELIVERY_CLASS[named],
    now,
    ...readPage(query),
  }
}

/** @throws ApiError 422 */
export function readDestinationQuestion(query: URLSearchParams, now: number): DestinationQuestion {
  const dayOf = (text: string) => (isUtcDay(text) ? text : undefined)
  const day = readParameter(query, 'day', dayOf, 'a date such as `2026-08-05`') ?? utcDay(now)
  const isPaused = readChoice(query, 'paused', ['true']) === 'true'
  return { day, destination: query.get('destination') || null, isPaused, now, ...readPage(query) }
}

export function entryView(
  by: QueueQuestion['by'],
  paths: ReadonlyMap<string, readonly PathState[]>,
): (entry: QueueEntry) => z.output<typeof entrySchema> {
  return entry => ({
    object: 'queue_entry',
    domain: by === 'domain' ? entry.name : null,
    destination: destinationOf(by, entry),
    ...tallyView(entry),
    oldest_at: timestamp(entry.oldestAt),
    next_at: timestamp(entry.nextAt),
    last_reply: entry.lastReply,
    explanation: entry.explanation,
    paths: (paths.get(destinationOf(by, entry) ?? '') ?? []).map(pathView),
  })
}

export function tallyView({ neverTried, deferred, underWay, held, ages }: QueueTally) {
  return {
    never_tried: neverTried,
    deferred,
    under_way: underWay,
    held,
    ages: ages.map((deliveries, i) => ({ up_to_minutes: AGE_LIMITS[i] ?? null, deliveries })),
  }
}

export function destinationView(
  day: string,
  paths: ReadonlyMap<string, readonly PathState[]>,
): (entry: DestinationEntry) => z.output<typeof destinationSchema> {
  return ({ destination, counts: by, deferredBy, bouncedBy, pause, replies }) => ({
    object: 'destination',
    destination,
    day,
    paused_until: timestamp(pause?.until ?? null),
    pause_reason: pause?.reason ?? null,
    paths: (paths.get(destination) ?? []).map(pathView),
    ...by,
    deferred_by_class: deferredBy,
    bounced_by_class: bouncedBy,
    replies: replies.map(({ form, example, count: replyCount, result, class: why, lastAt }) => ({
      ...{ form, example, count: replyCount, result },
      class: why,
      last_at: timestamp(lastAt),
    })),
  })
}
