/** Schemas of segments. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import {
  FILTER_FIELDS,
  FILTER_OPS,
  type FilterOp,
  PROPERTY_PREFIX,
  type SegmentFilter,
} from '../../../resources/contacts/filters.ts'
import { FILTERS_MAX, KEY_CHARACTERS_MAX, VALUE_CHARACTERS_MAX } from '../../../resources/contacts/limits.ts'
import type { SegmentRow } from '../../../store/model/schema.ts'
import { invalidField } from '../api-error.ts'
import { nameSchema } from '../audiences/schema.ts'
import { readJson } from '../contacts/import-schema.ts'
import { bodyReader } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const opSchema = z.enum(FILTER_OPS)
const fieldSchema = z
  .string()
  .max(PROPERTY_PREFIX.length + KEY_CHARACTERS_MAX)
  .refine(isField, `must be one of ${FILTER_FIELDS.join(', ')} or properties.<key>`)
const valueSchema = z.union([z.string().max(VALUE_CHARACTERS_MAX), z.number(), z.boolean()], {
  error: `must be a string of at most ${VALUE_CHARACTERS_MAX} characters, a number or a boolean`,
})
const filterSchema = z.object({ field: fieldSchema, op: opSchema, value: valueSchema.nullish() })
const filtersSchema = z.array(filterSchema).max(FILTERS_MAX)

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
        value: z.union([z.string(), z.number(), z.boolean()]).nullable(),
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

/**
 * Reads the parameter `filters`, whose value is JSON like the filters of a segment.
 * @throws ApiError 422 naming the field at fault
 */
export function readFilters(query: URLSearchParams): SegmentFilter[] {
  return filtersOf(readJson('filters', query.get('filters') || null, filtersSchema) ?? [])
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

function isField(text: string): boolean {
  if (text.includes('\0') || !text.isWellFormed()) return false
  const isProperty = text.startsWith(PROPERTY_PREFIX) && text.length > PROPERTY_PREFIX.length
  return isProperty || FILTER_FIELDS.some(field => field === text)
}

function filtersOf(filters: readonly z.output<typeof filterSchema>[]): SegmentFilter[] {
  return filters.map(({ field, op, value }, i) => ({ field, op, value: comparedBy(op, value ?? null, i) }))
}

/** @throws ApiError 422 */
function comparedBy(op: FilterOp, value: SegmentFilter['value'], i: number): SegmentFilter['value'] {
  if (op === 'exists' || op === 'not_exists') return null
  const path = `filters[${i}].value`
  if (value === null) throw invalidField(path, `Missing \`${path}\` field.`, 'missing_required_field')
  if (typeof value === 'string' && value.includes('\0'))
    throw invalidField(path, `\`${path}\` must not contain NUL.`)
  return typeof value === 'string' ? value.toWellFormed() : value
}
