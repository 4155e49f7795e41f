/** Schemas of webhooks and their deliveries. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { bodyOf } from '../../../pipeline/webhooks/body.ts'
import { eventsOf, type NewWebhook, type WebhookChange } from '../../../pipeline/webhooks/webhooks.ts'
import { EVENT_TYPES, type EventType } from '../../../resources/events/types.ts'
import { WEBHOOK_DELIVERY_STATE, type WebhookDeliveryRow, type WebhookRow } from '../../../store/schema.ts'
import { invalidField } from '../api-error.ts'
import { bodyReader } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const eventTypes = z.array(z.enum(EVENT_TYPES)).max(100)
const statusSchema = z.enum(['enabled', 'disabled'])

export const newWebhookSchema = z.object({
  url: z.string().optional(),
  endpoint: z.string().optional().meta({ description: 'Alias of `url`.' }),
  events: eventTypes,
  standard_webhooks: z.boolean().optional(),
})
export const webhookChangeSchema = z.object({
  url: z.string().optional(),
  endpoint: z.string().optional(),
  events: eventTypes.optional(),
  enabled: z.boolean().optional(),
  status: statusSchema.optional().meta({ description: 'Alias of `enabled`.' }),
})
export const webhookChangeQuery = { enabled: z.enum(['true', 'false']).optional() }
export const webhookTestSchema = z.object({ type: z.enum(EVENT_TYPES).optional() })

const readNew = bodyReader(newWebhookSchema, { emptyMeansAbsent: ['url', 'endpoint'] })
const readChange = bodyReader(webhookChangeSchema)
const readTest = bodyReader(webhookTestSchema)

export const webhookSchema = z
  .object({
    object: z.literal('webhook'),
    id: idSchema('wh'),
    url: z.string(),
    endpoint: z.string(),
    events: z.array(z.enum(EVENT_TYPES)),
    enabled: z.boolean(),
    status: statusSchema,
    standard_webhooks: z.boolean(),
    failing_since: timeSchema.nullable().meta({ description: 'Time since which no delivery has succeeded.' }),
    disabled_at: timeSchema.nullable(),
    disabled_reason: z.enum(['user', 'failing']).nullable().meta({
      description: '`failing`: disabled automatically because no delivery succeeded for five days.',
    }),
    created_at: timeSchema,
  })
  .meta({ id: 'Webhook' })
export const webhookWithSecretSchema = webhookSchema.extend({ signing_secret: z.string() })

export const webhookDeliverySchema = z
  .object({
    object: z.literal('webhook_delivery'),
    id: idSchema('whd'),
    webhook_id: idSchema('wh'),
    event_id: idSchema('evt'),
    event_type: z.enum(EVENT_TYPES),
    test: z.boolean(),
    success: z.boolean(),
    attempts: z.int().min(0),
    last_attempt_at: timeSchema.nullable(),
    next_attempt_at: timeSchema.nullable(),
    duration_ms: z.int().min(0).nullable(),
    response_status: z.int().nullable(),
    response_body: z.string().nullable().meta({ description: 'First 4 KB of the response body.' }),
    error: z.string().nullable().meta({ description: 'Reason if there was no response.' }),
    request: z.object({ url: z.string().nullable(), body: z.string() }),
    created_at: timeSchema,
  })
  .meta({ id: 'WebhookDelivery' })

/** @throws ApiError */
export function readNewWebhook(body: unknown): NewWebhook {
  const { url, endpoint, events, standardWebhooks = false } = readNew(body)
  const place = url ?? endpoint
  if (place === undefined) throw invalidField('url', 'Missing `url` field.', 'missing_required_field')
  return { url: place, events: eachOnce(events), isStandard: standardWebhooks }
}

/**
 * Values of the query take precedence over the body.
 * @throws ApiError
 */
export function readWebhookChange(body: unknown, query: URLSearchParams): WebhookChange {
  const { url, endpoint, events, enabled, status } = readChange(body)
  const isEnabled = enabled ?? (status === undefined ? undefined : status === 'enabled')
  return {
    url: url ?? endpoint,
    events: events && eachOnce(events),
    enabled: readEnabled(query) ?? isEnabled,
  }
}

/** @throws ApiError */
export function readTestType(body: unknown): EventType | undefined {
  return readTest(body).type
}

function readEnabled(query: URLSearchParams): boolean | undefined {
  const text = query.get('enabled') ?? ''
  if (text === '') return undefined
  if (text === 'true' || text === 'false') return text === 'true'
  throw invalidField('enabled', 'The `enabled` parameter must be `true` or `false`.')
}

function eachOnce(events: readonly EventType[]): EventType[] {
  return EVENT_TYPES.filter(type => events.includes(type))
}

export function webhookView(webhook: WebhookRow): z.output<typeof webhookSchema> {
  const { id, url, enabled, standard, failingSince, disabledAt, disabledReason, createdAt } = webhook
  return {
    object: 'webhook',
    id: wireId('wh', id),
    url,
    endpoint: url,
    events: eventsOf(webhook),
    enabled: enabled === 1,
    status: enabled === 1 ? 'enabled' : 'disabled',
    standard_webhooks: standard === 1,
    failing_since: timestamp(failingSince),
    disabled_at: timestamp(disabledAt),
    disabled_reason: disabledReason,
    created_at: timestamp(createdAt),
  }
}

/** @param mailHost see `pipeline/webhooks/body.ts` */
export function webhookDeliveryView(
  delivery: WebhookDeliveryRow,
  mailHost: string,
): z.output<typeof webhookDeliverySchema> {
  const { lastAttemptAt, leaseUntil, state, nextAt } = delivery
  const waits = state === WEBHOOK_DELIVERY_STATE.waiting && leaseUntil === null
  return {
    object: 'webhook_delivery',
    id: wireId('whd', delivery.id),
    webhook_id: wireId('wh', delivery.webhookId),
    event_id: wireId('evt', delivery.eventId),
    event_type: delivery.eventType as EventType,
    test: delivery.isTest === 1,
    success: delivery.success === 1,
    attempts: delivery.attempts,
    last_attempt_at: timestamp(lastAttemptAt),
    next_attempt_at: waits ? timestamp(nextAt) : null,
    duration_ms: delivery.durationMs,
    response_status: delivery.responseStatus,
    response_body: delivery.responseBody,
    error: delivery.error,
    request: { url: delivery.url, body: bodyOf(delivery, mailHost) },
    created_at: timestamp(delivery.createdAt),
  }
}
