/** Schemas of segments. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { FILTER_OPS } from '../../../resources/contacts/filter-ops.ts'
import type { SegmentFilter } from '../../../resources/contacts/filters.ts'
import type { SegmentRow } from '../../../store/model/schema.ts'
import { nameSchema } from '../audiences/schema.ts'
import { filtersOf, filtersSchema } from '../contacts/filter-schema.ts'
import { bodyReader } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const newSegmentSchema = z.object({ name: nameSchema, filters: filtersSchema })
export const segmentChangesSchema = newSegmentSchema.partial()
export const filterQuestionSchema = newSegmentSchema.pick({ filters: true }).partial()
const readNew = bodyReader(newSegmentSchema, { emptyMeansAbsent: ['name'] })
const readChanges = bodyReader(segmentChangesSchema)
const readQuestion = bodyReader(filterQuestionSchema)

export const segmentSchema = z
  .object({
    object: z.literal('segment'),
    id: idSchema('seg'),
    audience_id: idSchema('aud'),
    name: z.string(),
    filters: z.array(
      z.object({
        field: z.string(),
        op: z.enum(FILTER_OPS),
        value: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).nullable(),
      }),
    ),
    contact_count: z.int().min(0).meta({ description: 'Number of contacts that match all filters now.' }),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .meta({ id: 'Segment' })

/** A segment of one contact; how many others match is not counted. */
export const contactSegmentSchema = segmentSchema.omit({ contact_count: true }).meta({ id: 'ContactSegment' })

export const segmentCountSchema = z.object({
  object: z.literal('segment_count'),
  contact_count: z.int().min(0),
})

/** @throws ApiError 422 naming the field at fault */
export function readFilterQuestion(body: unknown): SegmentFilter[] {
  return filtersOf(readQuestion(body).filters ?? [])
}

/** @throws ApiError 422 naming the field at fault */
export function readSegment(body: unknown): { name: string; filters: SegmentFilter[] } {
  const { name, filters } = readNew(body)
  return { name: name.toWellFormed(), filters: filtersOf(filters) }
}

/**
 * Absent fields are not changed.
 * @throws ApiError 422 naming the field at fault
 */
export function readSegmentChanges(body: unknown): { name?: string; filters?: SegmentFilter[] } {
  const { name, filters } = readChanges(body)
  return {
    ...(name !== undefined && { name: name.toWellFormed() }),
    ...(filters && { filters: filtersOf(filters) }),
  }
}

export function segmentView(row: SegmentRow, contactCount: number): z.output<typeof segmentSchema> {
  return { ...contactSegmentView(row), contact_count: contactCount }
}

export function contactSegmentView(row: SegmentRow): z.output<typeof contactSegmentSchema> {
  return {
    object: 'segment',
    id: wireId('seg', row.id),
    audience_id: wireId('aud', row.audienceId),
    name: row.name,
    filters: JSON.parse(row.filters) as SegmentFilter[],
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }
}
