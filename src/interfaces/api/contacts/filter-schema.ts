/** Conditions on contacts: those of a segment, and the parameter `filters` of lists. */
import * as z from 'zod'
import {
  contradictionOf,
  FILTER_FIELDS,
  FILTER_OPS,
  opsOf,
  PROPERTY_PREFIX,
  type SegmentFilter,
} from '../../../resources/contacts/filters.ts'
import {
  FILTERS_MAX,
  KEY_CHARACTERS_MAX,
  PERIOD_DAYS_MAX,
  VALUE_CHARACTERS_MAX,
} from '../../../resources/contacts/limits.ts'
import { invalidField } from '../api-error.ts'
import { DATE_OR_TIME, dateOrTime } from '../schema/read.ts'
import { timestamp } from '../schema/timestamp.ts'
import { readJson } from './import-schema.ts'

const opSchema = z.enum(FILTER_OPS)
const fieldSchema = z
  .string()
  .max(PROPERTY_PREFIX.length + KEY_CHARACTERS_MAX)
  .refine(isField, `must be one of ${FILTER_FIELDS.join(', ')} or properties.<key>`)
const valueSchema = z.union([z.string().max(VALUE_CHARACTERS_MAX), z.number(), z.boolean()], {
  error: `must be a string of at most ${VALUE_CHARACTERS_MAX} characters, a number or a boolean`,
})
const filterSchema = z.object({ field: fieldSchema, op: opSchema, value: valueSchema.nullish() })
export const filtersSchema = z.array(filterSchema).max(FILTERS_MAX)

/**
 * Reads the parameter `filters`, whose value is JSON like the filters of a segment.
 * @throws ApiError 422 naming the field at fault
 */
export function readFilters(query: URLSearchParams): SegmentFilter[] {
  return filtersOf(readJson('filters', query.get('filters') || null, filtersSchema) ?? [])
}

function isField(text: string): boolean {
  if (text.includes('\0') || !text.isWellFormed()) return false
  const isProperty = text.startsWith(PROPERTY_PREFIX) && text.length > PROPERTY_PREFIX.length
  return isProperty || FILTER_FIELDS.some(field => field === text)
}

/** @throws ApiError 422 naming the field at fault */
export function filtersOf(filters: readonly z.output<typeof filterSchema>[]): SegmentFilter[] {
  const read = filters.map(({ field, op, value = null }, i) => {
    const filter = { field, op, value }
    const ops = opsOf(field)
    if (!ops.includes(op))
      throw invalidField(
        `filters[${i}].op`,
        `\`filters[${i}].op\` must be one of ${ops.join(', ')} for ${field}.`,
      )
    return { ...filter, value: comparedBy(filter, `filters[${i}].value`) }
  })
  const contradiction = contradictionOf(read)
  if (!contradiction) return read
  const [first, second] = contradiction.map(i => `filters[${i}]`)
  throw invalidField(`${second}.value`, `\`${second}\` contradicts \`${first}\`: no contact can match both.`)
}

/** @throws ApiError 422 */
function comparedBy({ op, value }: SegmentFilter, path: string): SegmentFilter['value'] {
  if (op === 'exists' || op === 'not_exists') return null
  if (value === null) throw invalidField(path, `Missing \`${path}\` field.`, 'missing_required_field')
  if (op === 'within_days' || op === 'not_within_days') {
    if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= PERIOD_DAYS_MAX) return value
    throw invalidField(path, `\`${path}\` must be an integer from 1 to ${PERIOD_DAYS_MAX}, a number of days.`)
  }
  if (op === 'before' || op === 'after') {
    const at = typeof value === 'string' ? dateOrTime(value) : undefined
    if (at !== undefined) return timestamp(at)
    throw invalidField(path, `\`${path}\` must be ${DATE_OR_TIME}.`)
  }
  if (typeof value === 'string' && value.includes('\0'))
    throw invalidField(path, `\`${path}\` must not contain NUL.`)
  return typeof value === 'string' ? value.toWellFormed() : value
}
