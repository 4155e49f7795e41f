/** Schemas of events. */
import * as z from 'zod'
import { type Id, type IdPrefix, parseWireId, wireId } from '../../../lib/ids.ts'
import type { EventPage } from '../../../resources/emails/event-rows.ts'
import { EVENT_TYPES, type EventType } from '../../../resources/events/types.ts'
import type { EventRow } from '../../../store/model/schema.ts'
import { invalidField } from '../api-error.ts'
import { readNumber, readParameter } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const ROWS_MAX = 100
const FALLBACK_ROWS = 20

export const eventPageQuery = {
  limit: z.int().min(1).max(ROWS_MAX).default(FALLBACK_ROWS),
  after: idSchema('evt').optional().meta({ description: 'Only events older than this event.' }),
  before: idSchema('evt')
    .optional()
    .meta({ description: 'The page of newer events that directly precedes this event in the list.' }),
}

export const eventSchema = z
  .object({
    object: z.literal('event'),
    id: idSchema('evt'),
    type: z.enum(EVENT_TYPES),
    created_at: timeSchema,
    subject_id: z.string().meta({ description: 'Id of the email, inbound message, contact or domain.' }),
    recipient: z.string().nullable(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event' })

export const listedEventSchema = eventSchema
  .extend({ subject: z.string().nullable().meta({ description: 'Subject of the email.' }) })
  .meta({ id: 'ListedEvent' })

/** @throws ApiError 422 */
export function readEventPage(query: URLSearchParams): EventPage {
  const after = readEventId(query, 'after')
  const before = readEventId(query, 'before')
  if (after && before) throw invalidField('before', 'The `before` parameter cannot be used with `after`.')
  const limit = readNumber(query, 'limit', { fallback: FALLBACK_ROWS, min: 1, max: ROWS_MAX })
  return { limit, after, before }
}

/**
 * Returns undefined for an empty parameter.
 * @throws ApiError 422
 */
export function readEventId(query: URLSearchParams, name: string): Id | undefined {
  return readParameter(query, name, text => parseWireId('evt', text), "an event's id")
}

export function eventView(event: EventRow): z.output<typeof eventSchema> {
  const type = event.type as EventType
  return {
    object: 'event',
    id: wireId('evt', event.id),
    type,
    created_at: timestamp(event.createdAt),
    subject_id: wireId(subjectPrefix(type), event.subjectId),
    recipient: event.recipient,
    data: JSON.parse(event.data) as Record<string, unknown>,
  }
}

function subjectPrefix(type: EventType): IdPrefix {
  if (type === 'email.received') return 'inb'
  if (type.startsWith('email.')) return 'eml'
  return type.startsWith('contact.') ? 'con' : 'dom'
}
