/** Schemas of audiences. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { lineText } from '../../../lib/line-text.ts'
import { NAME_CHARACTERS_MAX } from '../../../resources/contacts/limits.ts'
import type { AudienceRow } from '../../../store/model/schema.ts'
import { invalidField } from '../api-error.ts'
import { bodyReader } from '../schema/read.ts'
import { deletedSchema, idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

/** Name of an audience, a segment or a topic. */
export const nameSchema = lineText(NAME_CHARACTERS_MAX).min(1, 'must not be empty')

export const audienceBodySchema = z.object({ name: nameSchema })

const readBody = bodyReader(audienceBodySchema, { emptyMeansAbsent: ['name'] })

export const audienceSchema = z
  .object({
    object: z.literal('audience'),
    id: idSchema('aud'),
    name: z.string(),
    contact_count: z.int().min(0),
    unsubscribed_count: z.int().min(0),
    created_at: timeSchema,
  })
  .meta({ id: 'Audience' })

/** @throws ApiError */
function readAudience(body: unknown): { name: string } {
  return { name: readBody(body).name.toWellFormed() }
}

/** Fields that audiences do not have. Without them, a segment would have more contacts than was meant. */
const FOREIGN_FIELDS = ['audience_id', 'filter']

/**
 * Reads an audience that is created as a segment.
 * @throws ApiError
 */
function readAccountSegment(body: unknown): { name: string } {
  const read = readAudience(body)
  for (const field of FOREIGN_FIELDS)
    if (((body as Record<string, unknown>)[field] ?? null) !== null)
      throw invalidField(
        field,
        `\`${field}\` is not supported: a segment of the SDKs is an audience here. Filter contacts with \`POST /audiences/:id/segments\`.`,
      )
  return read
}

function audienceView(row: AudienceRow): z.output<typeof audienceSchema> {
  return {
    object: 'audience',
    id: wireId('aud', row.id),
    name: row.name,
    contact_count: row.contactCount,
    unsubscribed_count: row.unsubscribedCount,
    created_at: timestamp(row.createdAt),
  }
}

/** An audience under the name that newer SDKs have for it. */
export const accountSegmentSchema = audienceSchema
  .extend({ object: z.literal('segment') })
  .meta({ id: 'AccountSegment' })

export function accountSegmentView(row: AudienceRow): z.output<typeof accountSegmentSchema> {
  return { ...audienceView(row), object: 'segment' }
}

/** What replies call an audience: its own name under `/audiences`, that of newer SDKs under `/segments`. */
export const AS_AUDIENCE = {
  object: 'audience',
  schema: audienceSchema,
  read: readAudience,
  deleted: deletedSchema('audience', 'aud'),
  view: audienceView,
} as const
export const AS_SEGMENT = {
  object: 'segment',
  schema: accountSegmentSchema,
  read: readAccountSegment,
  deleted: deletedSchema('segment', 'aud'),
  view: accountSegmentView,
} as const
export type AudienceName = typeof AS_AUDIENCE | typeof AS_SEGMENT
