/** Conditions on contacts: those of a segment, and the parameter `filters` of lists. */
import * as z from 'zod'
import {
  FILTER_FIELDS,
  FILTER_OPS,
  isPropertyField,
  opsOf,
  PROPERTY_PREFIX,
} from '../../../resources/contacts/filter-ops.ts'
import { contradictionOf, type SegmentFilter } from '../../../resources/contacts/filters.ts'
import {
  FILTERS_MAX,
  KEY_CHARACTERS_MAX,
  LIST_VALUES_MAX,
  PERIOD_DAYS_MAX,
  VALUE_CHARACTERS_MAX,
} from '../../../resources/contacts/limits.ts'
import { invalidField } from '../api-error.ts'
import { DATE_OR_TIME, dateOrTime } from '../schema/read.ts'
import { timestamp } from '../schema/timestamp.ts'
import { readJson } from './import-schema.ts'

const SCALAR = `a string of at most ${VALUE_CHARACTERS_MAX} characters, a number or a boolean`
/** Characters of `YYYY-MM-DD`. */
const DATE_CHARACTERS = 10
const opSchema = z.enum(FILTER_OPS)
const fieldSchema = z
  .string()
  .max(PROPERTY_PREFIX.length + KEY_CHARACTERS_MAX)
  .refine(isField, `must be one of ${FILTER_FIELDS.join(', ')} or properties.<key>`)
const textSchema = z.string().max(VALUE_CHARACTERS_MAX)
const valueSchema = z.union(
  [textSchema, z.number(), z.boolean(), z.array(textSchema).min(1).max(LIST_VALUES_MAX)],
  { error: `must be ${SCALAR}, or a list of 1 to ${LIST_VALUES_MAX} such strings` },
)
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
  const isProperty = isPropertyField(text) && text.length > PROPERTY_PREFIX.length
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
function comparedBy({ field, op, value }: SegmentFilter, path: string): SegmentFilter['value'] {
  if (op === 'exists' || op === 'not_exists') return null
  if (value === null) throw invalidField(path, `Missing \`${path}\` field.`, 'missing_required_field')
  if (op === 'in') {
    if (!isList(value))
      throw invalidField(path, `\`${path}\` must be a list of 1 to ${LIST_VALUES_MAX} strings.`)
    return value.map(text => textOf(text, path))
  }
  if (isList(value)) throw invalidField(path, `\`${path}\` must be ${SCALAR}.`)
  if (op === 'within_days' || op === 'not_within_days') {
    if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= PERIOD_DAYS_MAX) return value
    throw invalidField(path, `\`${path}\` must be an integer from 1 to ${PERIOD_DAYS_MAX}, a number of days.`)
  }
  if (op === 'before' || op === 'after') {
    const at = typeof value === 'string' ? dateOrTime(value) : undefined
    // a property has no time zone: its date counts as it is written
    if (at !== undefined)
      return isPropertyField(field) ? String(value).slice(0, DATE_CHARACTERS) : timestamp(at)
    throw invalidField(path, `\`${path}\` must be ${DATE_OR_TIME}.`)
  }
  return typeof value === 'string' ? textOf(value, path) : value
}

function isList(value: SegmentFilter['value']): value is string[] {
  return Array.isArray(value)
}

/** @throws ApiError 422 */
function textOf(value: string, path: string): string {
  if (value.includes('\0')) throw invalidField(path, `\`${path}\` must not contain NUL.`)
  return value.toWellFormed()
}
