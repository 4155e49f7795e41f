/** Words the conditions of a segment, and offers operators and first values for each field. */
import { type FilterOp, isPropertyField, opsOf } from '../../../../resources/contacts/filter-ops.ts'
import type { SegmentFilter } from '../api/types.ts'
import { plainWords } from './faults.ts'
import { counted } from './numbers.ts'
import { dayText } from './ranges.ts'
import { LOCALE } from './time.ts'

export const OPS: Readonly<Record<FilterOp, string>> = {
  eq: 'is',
  neq: 'is not',
  contains: 'contains',
  in: 'is one of',
  exists: 'exists',
  not_exists: 'does not exist',
  within_days: 'within the last',
  not_within_days: 'not within the last',
  before: 'before',
  after: 'on or after',
}
export const CONTACT_FIELDS: Readonly<Record<string, string>> = {
  email: 'Email address',
  first_name: 'First name',
  last_name: 'Last name',
  unsubscribed: 'Unsubscribed',
  created_at: 'Added',
}
export const ACTIVITY_FIELDS: Readonly<Record<string, string>> = {
  last_sent_at: 'Was sent an email',
  last_opened_at: 'Opened an email',
  last_clicked_at: 'Clicked a link',
}
const NAMES: Readonly<Record<string, string>> = { ...CONTACT_FIELDS, ...ACTIVITY_FIELDS }
/** What is entered beside an operator. */
export type ValueKind = 'none' | 'days' | 'date' | 'flag' | 'list' | 'text'

const DAYS = 30
const day = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' })

export function isActivity({ field }: Pick<SegmentFilter, 'field'>): boolean {
  return field in ACTIVITY_FIELDS
}

export function valueKind({ field, op }: Pick<SegmentFilter, 'field' | 'op'>): ValueKind {
  if (op === 'exists' || op === 'not_exists') return 'none'
  if (op === 'within_days' || op === 'not_within_days') return 'days'
  if (op === 'before' || op === 'after') return 'date'
  if (op === 'in') return 'list'
  return field === 'unsubscribed' && op !== 'contains' ? 'flag' : 'text'
}

/** The condition that a new row begins with for a field. */
export function firstFilter(field: string): SegmentFilter {
  if (field === 'unsubscribed') return { field, op: 'eq', value: 'false' }
  const [first] = opsOf(field)
  if (first === 'within_days') return { field, op: first, value: DAYS }
  return { field, op: isPropertyField(field) ? 'eq' : 'contains', value: '' }
}

/** The condition after another field was chosen; what was entered is kept where it fits. */
export function withField(filter: SegmentFilter, field: string): SegmentFilter {
  const moved = { ...filter, field }
  const fits = opsOf(field).includes(filter.op) && valueKind(moved) === valueKind(filter)
  return fits && filter.value !== '' ? moved : firstFilter(field)
}

/** The condition after another operator was chosen. */
export function withOp(filter: SegmentFilter, op: FilterOp): SegmentFilter {
  const changed = { ...filter, op }
  const kind = valueKind(changed)
  if (kind === valueKind(filter) || kind === 'none') return changed
  return { ...changed, value: firstValue(kind, filter.value) }
}

/** What an operator of this kind begins with; texts that were entered are kept. */
function firstValue(kind: ValueKind, entered: SegmentFilter['value']): SegmentFilter['value'] {
  if (kind === 'days') return DAYS
  if (kind === 'flag') return 'false'
  if (kind === 'list') return typeof entered === 'string' && entered !== '' ? [entered] : []
  return kind === 'text' && Array.isArray(entered) ? (entered[0] ?? '') : ''
}

/** Reads the values of a list that are written with commas between them. */
export function listOf(text: string): string[] {
  return text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
}

/** Formats a condition, such as `city is “Graz”` or `Opened an email within the last 30 days`. */
export function filterWords(filter: SegmentFilter): string {
  const { field, op, value } = filter
  const begin = `${NAMES[field] ?? field.replace(/^properties\./, '')} ${OPS[op]}`
  const kind = valueKind(filter)
  if (kind === 'none') return begin
  if (kind === 'days') return `${begin} ${counted(Number(value), 'day', 'days')}`
  if (kind === 'list') return `${begin} ${(value as string[]).map(text => `“${text}”`).join(', ')}`
  if (kind === 'text') return `${begin} “${value}”`
  // a date of a property is the same day everywhere
  const at = isPropertyField(field) ? new Date(`${value}T00:00`) : new Date(String(value))
  return `${begin} ${day.format(at)}`
}

/** Words a message of the API about a condition, which it names by its place. */
export function conditionFault(message: string): string {
  return plainWords(
    message.replaceAll(/`filters\[(\d+)\](?:\.\w+)?`/g, (_, i) => `condition ${Number(i) + 1}`),
  )
}

/** The day of a time, for an input; empty if there is none. */
export function dayOf(value: SegmentFilter['value']): string {
  const at = new Date(String(value ?? ''))
  return Number.isNaN(at.getTime()) ? '' : dayText(at)
}

/** The time at which a day begins here; empty for no day. */
export function startOf(dayOfInput: string): string {
  return dayOfInput === '' ? '' : new Date(`${dayOfInput}T00:00`).toISOString()
}
