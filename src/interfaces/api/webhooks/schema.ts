/** Schemas of webhooks and their deliveries. */
import * as z from 'zod'
import { type Id, parseWireId, wireId } from '../../../lib/ids.ts'
import { bodyOf } from '../../../pipeline/webhooks/body.ts'
import { type Signing, signedHeaders } from '../../../pipeline/webhooks/signature.ts'
import { domainIdsOf, type ListedDelivery } from '../../../pipeline/webhooks/webhook-rows.ts'
import {
  eventsOf,
  type NewWebhook,
  type WebhookChange,
  type Webhooks,
} from '../../../pipeline/webhooks/webhooks.ts'
import {
  ABSENT_EVENT_TYPES,
  EVENT_TYPES,
  type EventType,
  isAboutDomain,
  SUBSCRIBABLE_TYPES,
  type SubscribableType,
} from '../../../resources/events/types.ts'
import { WEBHOOK_DELIVERY_STATE, type WebhookRow } from '../../../store/model/schema.ts'
import { fieldNotFound, invalidField } from '../api-error.ts'
import { type Warning, warningsSchema } from '../route/warnings.ts'
import { bodyReader, readParameter } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

/** Number of domains that a webhook may be limited to. */
const DOMAINS_MAX = 100

const eventTypes = z.array(z.enum(SUBSCRIBABLE_TYPES)).max(100)
const domainIds = z
  .array(z.string())
  .min(1, 'must contain at least one domain. Leave it out for all')
  .max(DOMAINS_MAX)
const statusSchema = z.enum(['enabled', 'disabled'])

export const newWebhookSchema = z.object({
  url: z.string().optional(),
  endpoint: z.string().optional().meta({ description: 'Alias of `url`.' }),
  events: eventTypes,
  enabled: z.boolean().optional(),
  status: statusSchema.optional().meta({ description: 'Alias of `enabled`.' }),
  standard_webhooks: z.boolean().optional(),
  domain_ids: domainIds
    .optional()
    .meta({ description: 'Only events about these domains and their emails are sent. By default, all are.' }),
})
export const webhookChangeSchema = z.object({
  url: z.string().optional(),
  endpoint: z.string().optional(),
  events: eventTypes.min(1, 'must contain at least one event type').optional(),
  enabled: z.boolean().optional(),
  status: statusSchema.optional().meta({ description: 'Alias of `enabled`.' }),
  standard_webhooks: z.boolean().optional(),
  domain_ids: z
    .union([domainIds, z.literal('')])
    .optional()
    .meta({ description: 'An empty string removes the limit.' }),
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
    events: z.array(z.enum(SUBSCRIBABLE_TYPES)),
    domain_ids: z.array(idSchema('dom')).nullable().meta({
      description: 'Domains to whose events the webhook is limited; null for all events.',
    }),
    enabled: z.boolean(),
    status: statusSchema,
    standard_webhooks: z.boolean().meta({
      description:
        'Whether events are also signed by Standard Webhooks; by default true for webhooks that an SDK creates.',
    }),
    dialect: z.enum(['rust', 'dotnet']).nullable().meta({
      description: 'The SDK with closed types that created the webhook, and whose words its payloads have.',
    }),
    failing_since: timeSchema.nullable().meta({ description: 'Time since which no delivery has succeeded.' }),
    disabled_at: timeSchema.nullable(),
    disabled_reason: z.enum(['user', 'failing']).nullable().meta({
      description: '`failing`: disabled automatically because no delivery succeeded for five days.',
    }),
    created_at: timeSchema,
  })
  .meta({ id: 'Webhook' })
export const changedWebhookSchema = webhookSchema.extend({ warnings: warningsSchema })
export const webhookWithSecretSchema = changedWebhookSchema.extend({ signing_secret: z.string() })

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
    request: z.object({
      url: z.string().nullable(),
      body: z.string(),
      headers: z.record(z.string(), z.string()).nullable().meta({
        description: 'Signed headers of the last attempt, by the secrets that sign now; null before it.',
      }),
    }),
    created_at: timeSchema,
  })
  .meta({ id: 'WebhookDelivery' })

/** Tells what is wrong with the URL of a webhook. */
type FaultInUrl = Webhooks['faultIn']

/** @throws ApiError */
export function readNewWebhook(body: unknown, faultIn: FaultInUrl): NewWebhook {
  const { events, enabled, status, standardWebhooks: isStandard, domainIds, ...place } = readNew(body)
  const url = readUrl(place, faultIn)
  if (url === undefined)
    throw invalidField('url', 'Missing `url` (or `endpoint`) field.', 'missing_required_field')
  return {
    url,
    events: eachOnce(events),
    isEnabled: isEnabledIn(enabled, status),
    isStandard,
    domainIds: domainIds && readDomainIds(domainIds),
  }
}

/** @throws ApiError 422 if the two spellings contradict each other */
function isEnabledIn(
  enabled: boolean | undefined,
  status: z.output<typeof statusSchema> | undefined,
): boolean | undefined {
  if (status === undefined) return enabled
  if (enabled !== undefined && enabled !== (status === 'enabled'))
    throw invalidField('status', '`status` contradicts `enabled`. Send one of them.')
  return status === 'enabled'
}

/**
 * Values of the query take precedence over the body.
 * @throws ApiError
 */
export function readWebhookChange(body: unknown, query: URLSearchParams, faultIn: FaultInUrl): WebhookChange {
  const { events, enabled, status, standardWebhooks, domainIds, ...place } = readChange(body)
  const isEnabled = isEnabledIn(enabled, status)
  return {
    url: readUrl(place, faultIn),
    events: events && eachOnce(events),
    enabled: readEnabled(query) ?? isEnabled,
    isStandard: standardWebhooks,
    domainIds: domainIds === '' ? null : domainIds && readDomainIds(domainIds),
  }
}

/**
 * Reads the URL in either of its two spellings.
 * @throws ApiError 422 naming the spelling of the request
 */
function readUrl(
  { url, endpoint }: { url?: string | undefined; endpoint?: string | undefined },
  faultIn: FaultInUrl,
): string | undefined {
  if (url !== undefined && endpoint !== undefined && url !== endpoint)
    throw invalidField('endpoint', '`endpoint` contradicts `url`, which is the same setting.')
  const place = url ?? endpoint
  const key = url === undefined ? 'endpoint' : 'url'
  const fault = place === undefined ? undefined : faultIn(place)
  if (fault !== undefined) throw invalidField(key, `Invalid \`${key}\`: the URL ${fault}.`)
  return place
}

/** @throws ApiError 404 */
function readDomainIds(texts: readonly string[]): Id[] {
  return texts.map(text => {
    const id = parseWireId('dom', text)
    if (!id) throw fieldNotFound('domain_ids', 'Domain')
    return id
  })
}

/** Names the event types of a webhook for which nothing is ever sent to it. */
export function warningsOf(webhook: WebhookRow): Warning[] {
  const absent: ReadonlySet<string> = new Set(ABSENT_EVENT_TYPES)
  const reasonOf = (type: SubscribableType) => {
    if (absent.has(type))
      return `Nothing will be sent for \`${type}\`: this event does not occur in Mailhorn.`
    if (webhook.domainIds === null || isAboutDomain(type)) return undefined
    return `Nothing will be sent for \`${type}\`: it is not about a domain, and \`domain_ids\` limits this webhook to domains.`
  }
  return eventsOf(webhook).flatMap(type => {
    const message = reasonOf(type)
    return message === undefined ? [] : [{ path: 'events', message }]
  })
}

/** @throws ApiError */
export function readTestType(body: unknown): EventType | undefined {
  return readTest(body).type
}

function readEnabled(query: URLSearchParams): boolean | undefined {
  const flagOf = (text: string) => (text === 'true' || text === 'false' ? text === 'true' : undefined)
  return readParameter(query, 'enabled', flagOf, '`true` or `false`')
}

function eachOnce(events: readonly SubscribableType[]): SubscribableType[] {
  return SUBSCRIBABLE_TYPES.filter(type => events.includes(type))
}

export function webhookView(webhook: WebhookRow): z.output<typeof webhookSchema> {
  const { id, url, enabled, standard, dialect, failingSince, disabledAt, disabledReason, createdAt } = webhook
  return {
    object: 'webhook',
    id: wireId('wh', id),
    url,
    endpoint: url,
    events: eventsOf(webhook),
    domain_ids: domainIdsOf(webhook)?.map(domainId => wireId('dom', domainId)) ?? null,
    enabled: enabled === 1,
    status: enabled === 1 ? 'enabled' : 'disabled',
    standard_webhooks: standard === 1,
    dialect,
    failing_since: timestamp(failingSince),
    disabled_at: timestamp(disabledAt),
    disabled_reason: disabledReason,
    created_at: timestamp(createdAt),
  }
}

/** @param mailHost see `pipeline/webhooks/body.ts` */
export function webhookDeliveryView(
  delivery: ListedDelivery,
  mailHost: string,
  signing: Signing,
): z.output<typeof webhookDeliverySchema> {
  const { lastAttemptAt, leaseUntil, state, nextAt } = delivery
  const id = wireId('evt', delivery.eventId)
  const body = bodyOf(delivery, mailHost, delivery.dialect)
  const headers = lastAttemptAt === null ? null : signedHeaders({ id, body, at: lastAttemptAt }, signing)
  const waits = state === WEBHOOK_DELIVERY_STATE.waiting && leaseUntil === null
  return {
    object: 'webhook_delivery',
    id: wireId('whd', delivery.id),
    webhook_id: wireId('wh', delivery.webhookId),
    event_id: id,
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
    request: { url: delivery.url, body, headers },
    created_at: timestamp(delivery.createdAt),
  }
}
