/** Serves the deliveries of a webhook by event, with their attempts, in the form of the SDKs. */
import * as z from 'zod'
import { sameId, wireId } from '../../../lib/ids.ts'
import { bodyOf } from '../../../pipeline/webhooks/body.ts'
import {
  attemptsOf,
  type SentAttempt,
  type SentEvent,
  sentEventsOf,
} from '../../../pipeline/webhooks/sent-events.ts'
import type { Webhooks } from '../../../pipeline/webhooks/webhooks.ts'
import { EVENT_TYPES, type EventType } from '../../../resources/events/types.ts'
import type { ListPage } from '../../../store/reading/list-page.ts'
import { invalidField, orNotFound } from '../api-error.ts'
import { type ApiRequest, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { pageQuery, readNumber } from '../schema/read.ts'
import { idSchema, listSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import { listedDelivery } from './routes.ts'

interface WebhookEventRoutesOptions {
  webhooks: Webhooks
  mailHost: string
}

const rowSchema = z
  .object({
    id: idSchema('evt'),
    type: z.enum(EVENT_TYPES),
    created_at: timeSchema,
    status: z.enum(['success', 'pending', 'failed', 'attempting']),
  })
  .meta({ id: 'WebhookEventRow' })
const eventSchema = rowSchema
  .extend({
    object: z.literal('webhook_event'),
    next_attempt_at: timeSchema.nullable(),
    payload: z.record(z.string(), z.unknown()).meta({ description: 'Body of the requests.' }),
  })
  .meta({ id: 'WebhookEvent' })
const attemptSchema = z
  .object({
    id: z.string(),
    http_status_code: z.int().meta({ description: '0 if there was no response.' }),
    response: z.string().meta({
      description: 'First 1,000 characters of the response body, or the reason why there was no response.',
    }),
    sent_at: timeSchema,
  })
  .meta({ id: 'WebhookEventAttempt' })

const FALLBACK_ROWS = 20
const ROWS_MAX = 100

export function webhookEventRoutes({ webhooks, mailHost }: WebhookEventRoutesOptions): Route[] {
  const view = (event: SentEvent) => eventView(event, mailHost)
  return [
    {
      method: 'GET',
      path: '/webhooks/:id/events',
      access: 'session',
      summary: 'List the events of the 50 most recent deliveries, newest first',
      query: cursorPageQuery('evt'),
      replies: { 200: listSchema(rowSchema) },
      async handle(request) {
        const page = readCursorPage(request.query, 'evt', 'an event')
        return pageReply(pageOf(await sentEvents(webhooks, request), page), rowView)
      },
    },
    {
      method: 'GET',
      path: '/webhooks/:id/events/:event_id',
      access: 'session',
      summary: 'Retrieve an event that was sent to a webhook',
      replies: { 200: eventSchema },
      async handle(request) {
        return ok(view(await sentEvent(webhooks, request)))
      },
    },
    {
      method: 'POST',
      path: '/webhooks/:id/events/:event_id/replay',
      access: 'session',
      summary: 'Send an event to a webhook again',
      replies: { 200: eventSchema },
      async handle(request) {
        const { deliveries } = await sentEvent(webhooks, request)
        const { accountId } = request.credential
        const replayed = await webhooks.replay(accountId, pathId(request, 'wh'), deliveries[0]!.id)
        return ok(view(sentEventsOf([listedDelivery(replayed), ...deliveries])[0]!))
      },
    },
    {
      method: 'GET',
      path: '/webhooks/:id/events/:event_id/attempts',
      access: 'session',
      summary: 'List the attempts to send an event to a webhook, newest first',
      query: { limit: pageQuery().limit, after: z.string().optional() },
      replies: { 200: listSchema(attemptSchema) },
      async handle(request) {
        const attempts = attemptsOf(await sentEvent(webhooks, request))
        return pageReply(attemptPage(attempts, request.query), attemptView)
      },
    },
  ]
}

/** @throws ApiError 404 */
async function sentEvents(webhooks: Webhooks, request: ApiRequest): Promise<SentEvent[]> {
  const deliveries = await webhooks.deliveries(request.credential.accountId, pathId(request, 'wh'))
  return sentEventsOf(orNotFound(deliveries, 'Webhook'))
}

/** @throws ApiError 404 */
async function sentEvent(webhooks: Webhooks, request: ApiRequest): Promise<SentEvent> {
  const events = await sentEvents(webhooks, request)
  const id = pathId(request, 'evt', 'event_id')
  return orNotFound(
    events.find(({ eventId }) => sameId(eventId, id)),
    'Webhook event',
  )
}

/** @param events newest first */
function pageOf(events: readonly SentEvent[], { limit, offset, cursor }: ListPage) {
  const isPast = ({ eventId }: SentEvent) => {
    const order = cursor ? Buffer.compare(eventId, cursor.id) : 0
    return cursor?.side === 'newer' ? order > 0 : order < 0
  }
  const side = cursor ? events.filter(isPast) : events.slice(offset)
  // the page of newer events is the one next to the cursor, at the end
  const rows = cursor?.side === 'newer' ? side.slice(-limit) : side.slice(0, limit)
  return { total: events.length, hasMore: side.length > rows.length, rows }
}

/** @throws ApiError 422 */
function attemptPage(attempts: readonly SentAttempt[], query: URLSearchParams) {
  const limit = readNumber(query, 'limit', { fallback: FALLBACK_ROWS, min: 1, max: ROWS_MAX })
  const after = query.get('after') ?? ''
  const at = attempts.findIndex(({ id }) => id === after)
  if (after !== '' && at < 0)
    throw invalidField('after', 'The `after` parameter must be the id of an attempt of this event.')
  const rest = attempts.slice(at + 1)
  return { total: attempts.length, hasMore: rest.length > limit, rows: rest.slice(0, limit) }
}

function rowView({ eventId, type, createdAt, status }: SentEvent): z.output<typeof rowSchema> {
  return { id: wireId('evt', eventId), type: type as EventType, created_at: createdAt, status }
}

function eventView(event: SentEvent, mailHost: string): z.output<typeof eventSchema> {
  const delivery = event.deliveries[0]!
  return {
    object: 'webhook_event',
    ...rowView(event),
    next_attempt_at: timestamp(event.nextAttemptAt),
    payload: JSON.parse(bodyOf(delivery, mailHost, delivery.dialect)) as Record<string, unknown>,
  }
}

function attemptView({ id, status, response, startedAt }: SentAttempt): z.output<typeof attemptSchema> {
  return { id, http_status_code: status ?? 0, response, sent_at: timestamp(startedAt) }
}
