/**
 * Compiles the filters of a segment into conditions for the database. A contact must match all filters.
 *
 * In: filters as stored and on the wire. Out: a `Membership`. Called by the files of this folder that list,
 * count and page through contacts.
 */
import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely'
import { foldText } from '../../lib/fold-text.ts'
import type { Id } from '../../lib/ids.ts'
import { containing, endingIn } from '../../store/model/pattern.ts'
import type { Db, Flag, Schema } from '../../store/model/schema.ts'
import type { ActivityTime } from '../events/contact-activity.ts'
import { type FilterOp, isPropertyField, PROPERTY_PREFIX, type TEXT_OPS, TIME_FIELDS } from './filter-ops.ts'

type TextOp = (typeof TEXT_OPS)[number]
type TimeField = (typeof TIME_FIELDS)[number]

/** Filter in its stored form, which is also the form on the wire. */
export interface SegmentFilter {
  /** One of `FILTER_FIELDS`, or a property key after `PROPERTY_PREFIX`. */
  field: string
  op: FilterOp
  /**
   * Compared as text, ignoring case; null for operators without a value. A list for `LIST_OPS`, a number of
   * days for `PERIOD_OPS`, and for `DATE_OPS` an ISO 8601 time, or a date when the field is a property.
   */
  value: string | number | boolean | string[] | null
}

/** Conditions of membership in an audience or a segment, for a query. */
export interface Membership {
  audienceId: Id
  /** Whether no contact can match. */
  isEmpty: boolean
  /** Property value that every member has. Its index finds the members without scanning other contacts. */
  lead: { propertyId: number; value: string } | undefined
  /** All other conditions. */
  conditions: readonly Condition[]
}

type FoldedColumn = 'foldedEmail' | 'foldedFirstName' | 'foldedLastName'

export type Condition =
  | { on: 'column'; column: FoldedColumn; op: TextOp; text: string }
  | { on: 'flag'; flag: Flag }
  | { on: 'property'; propertyId: number; holderCount: number; op: TextOp; text: string }
  | { on: 'column-list'; column: FoldedColumn; texts: readonly string[] }
  | { on: 'property-list'; propertyId: number; texts: readonly string[] }
  /** Whether a property begins with a date from `from` on and before `before`, as `YYYY-MM-DD`. */
  | { on: 'property-date'; propertyId: number; from?: string; before?: string; isNegated: boolean }
  /** Whether the contact has a time of activity from `from` on, in ms since the epoch. */
  | { on: 'activity'; time: ActivityTime; from: number; isNegated: boolean }
  /** Time of creation, in ms since the epoch: from the first on, and before the second. */
  | { on: 'created'; from: number; before: number }
  /** Substring of the address or of a name. */
  | { on: 'search'; text: string }
  /** Matches addresses outside this domain. */
  | { on: 'elsewhere'; domain: string }
  /** Matches if no older audience of the account has the address. */
  | { on: 'first' }

const COLUMNS = new Map<string, FoldedColumn>([
  ['email', 'foldedEmail'],
  ['first_name', 'foldedFirstName'],
  ['last_name', 'foldedLastName'],
])

/** What a property value that is an ISO 8601 date or time begins with. */
const DATE_PATTERN = '____-__-__%'

/** Counting stops at this number, because a value with more contacts is a poor index anyway. */
const COMPARED_CONTACTS_MAX = 2_000

/** Matches all contacts of an audience. */
export function everybodyOf(audienceId: Id): Membership {
  return { audienceId, isEmpty: false, lead: undefined, conditions: [] }
}

const ACTIVITY_TIMES = new Map<string, ActivityTime>([
  ['last_sent_at', 'lastSentAt'],
  ['last_opened_at', 'lastOpenedAt'],
  ['last_clicked_at', 'lastClickedAt'],
])

const DAY_MS = 24 * 60 * 60 * 1000
/** Operators that match contacts without the property. */
const MISSING_MATCHES: ReadonlySet<FilterOp> = new Set(['neq', 'not_exists', 'not_within_days'])

/** What contacts are looked for by, beside filters. */
export interface ContactSearch {
  /** Substring of the address or of a name; empty for all contacts. */
  search: string
  /** Start and end of the time of their creation, in ms since the epoch. */
  createdFrom?: number | undefined
  createdBefore?: number | undefined
}

/** @param now end of the periods in filters, in ms since the epoch */
export async function membershipOf(
  db: Db,
  audienceId: Id,
  filters: readonly SegmentFilter[],
  now: number,
  { search, createdFrom = 0, createdBefore = Number.MAX_SAFE_INTEGER }: ContactSearch = { search: '' },
): Promise<Membership> {
  const properties = await propertiesOf(db, audienceId, filters)
  const conditions: Condition[] = search === '' ? [] : [{ on: 'search', text: foldText(search) }]
  if (createdFrom > 0 || createdBefore < Number.MAX_SAFE_INTEGER)
    conditions.push({ on: 'created', from: createdFrom, before: createdBefore })
  let isEmpty = false
  for (const filter of filters) {
    if (isTimeFilter(filter)) {
      conditions.push(timeCondition(filter, now))
      continue
    }
    const { field, op } = filter
    const column = COLUMNS.get(field)
    if (column) conditions.push(columnCondition(column, filter))
    else if (field === 'unsubscribed') {
      const text = foldedValue(filter)
      const flags = ([0, 1] as const).filter(flag => holds(op, flag === 1 ? 'true' : 'false', text))
      if (flags.length === 0) isEmpty = true
      if (flags.length === 1) conditions.push({ on: 'flag', flag: flags[0]! })
    } else {
      const property = properties.get(field.slice(PROPERTY_PREFIX.length))
      if (property) conditions.push(propertyCondition(property, filter, now))
      // no contact of the audience has ever had the key
      else if (!MISSING_MATCHES.has(op)) isEmpty = true
    }
  }
  return { audienceId, isEmpty, ...(await withLead(db, conditions)) }
}

/**
 * Returns the conditions except the indexed value, for `where(meeting(membership))` in a query over contacts.
 */
export function meeting({ conditions }: Membership) {
  return (eb: ExpressionBuilder<Schema, 'contacts'>): ExpressionWrapper<Schema, 'contacts', SqlBool> =>
    eb.and(conditions.map(condition => expressionOf(eb, condition)))
}

function isTimeFilter(filter: SegmentFilter): filter is SegmentFilter & { field: TimeField } {
  return (TIME_FIELDS as readonly string[]).includes(filter.field)
}

function foldedValue({ value }: SegmentFilter): string {
  return foldText(String(value ?? ''))
}

function foldedList({ value }: SegmentFilter): string[] {
  return [...new Set((value as readonly string[]).map(foldText))]
}

function columnCondition(column: FoldedColumn, filter: SegmentFilter): Condition {
  if (filter.op === 'in') return { on: 'column-list', column, texts: foldedList(filter) }
  return { on: 'column', column, op: filter.op as TextOp, text: foldedValue(filter) }
}

function propertyCondition(
  property: { propertyId: number; holderCount: number },
  filter: SegmentFilter,
  now: number,
): Condition {
  const { propertyId } = property
  const { op } = filter
  const text = foldedValue(filter)
  if (op === 'in') return { on: 'property-list', propertyId, texts: foldedList(filter) }
  if (op === 'before') return { on: 'property-date', propertyId, before: text, isNegated: false }
  if (op === 'after') return { on: 'property-date', propertyId, from: text, isNegated: false }
  if (op !== 'within_days' && op !== 'not_within_days') return { on: 'property', ...property, op, text }
  const from = isoDate(now - Number(filter.value) * DAY_MS)
  // a date to come, such as a renewal, is not within the last days
  const before = isoDate(now + DAY_MS)
  return { on: 'property-date', propertyId, from, before, isNegated: op === 'not_within_days' }
}

function isoDate(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

function timeCondition({ field, op, value }: SegmentFilter & { field: TimeField }, now: number): Condition {
  const at = op === 'before' || op === 'after' ? Date.parse(String(value)) : now - Number(value) * DAY_MS
  const isFrom = op === 'after' || op === 'within_days'
  const time = ACTIVITY_TIMES.get(field)
  if (time) return { on: 'activity', time, from: at, isNegated: !isFrom }
  return { on: 'created', from: isFrom ? at : 0, before: isFrom ? Number.MAX_SAFE_INTEGER : at }
}

/**
 * Returns the indexes of two conditions on one time that no contact can meet together, such as an open within
 * the last 7 days and none within the last 30.
 */
export function contradictionOf(filters: readonly SegmentFilter[]): [number, number] | undefined {
  for (const [i, one] of filters.entries())
    for (const [j, other] of filters.entries()) {
      if (one.field !== other.field) continue
      const isPeriod = one.op === 'within_days' && other.op === 'not_within_days'
      const isEmptyPeriod = isPeriod && Number(one.value) <= Number(other.value)
      const isRange = one.op === 'after' && other.op === 'before'
      const isEmptyRange = isRange && Date.parse(String(one.value)) >= Date.parse(String(other.value))
      if (isEmptyPeriod || isEmptyRange) return i < j ? [i, j] : [j, i]
    }
  return undefined
}

/** Tells whether a filter matches a value. Both texts are folded. */
function holds(op: FilterOp, value: string, text: string): boolean {
  if (op === 'eq') return value === text
  if (op === 'neq') return value !== text
  if (op === 'contains') return value.includes(text)
  return op === 'exists'
}

async function propertiesOf(db: Db, audienceId: Id, filters: readonly SegmentFilter[]) {
  const keys = filters.flatMap(({ field }) =>
    isPropertyField(field) ? [field.slice(PROPERTY_PREFIX.length)] : [],
  )
  if (keys.length === 0) return new Map<string, { propertyId: number; holderCount: number }>()
  const rows = await db
    .selectFrom('contactProperties')
    .select(['id as propertyId', 'key', 'contactCount as holderCount'])
    .where('audienceId', '=', audienceId)
    .where('key', 'in', keys)
    .execute()
  return new Map(rows.map(({ key, ...row }) => [key, row]))
}

/** Chooses the indexed value with the fewest contacts among several required values. */
async function withLead(db: Db, conditions: readonly Condition[]) {
  const equal = conditions.flatMap(one => (one.on === 'property' && one.op === 'eq' ? [one] : []))
  let first = equal[0]
  if (equal.length > 1) {
    const holders = await Promise.all(equal.map(one => countSome(db, one.propertyId, one.text)))
    first = equal[holders.indexOf(Math.min(...holders))]
  }
  return {
    lead: first && { propertyId: first.propertyId, value: first.text },
    conditions: conditions.filter(condition => condition !== first),
  }
}

/** Counts the contacts with a value, up to the number that matters. */
async function countSome(db: Db, propertyId: number, value: string): Promise<number> {
  const some = db
    .selectFrom('contactValues')
    .select('contactId')
    .where('propertyId', '=', propertyId)
    .where('foldedValue', '=', value)
    .limit(COMPARED_CONTACTS_MAX)
    .as('some')
  const { count } = await db
    .selectFrom(some)
    .select(eb => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function expressionOf(eb: ExpressionBuilder<Schema, 'contacts'>, condition: Condition) {
  if (condition.on === 'flag') return eb('contacts.unsubscribed', '=', condition.flag)
  if (condition.on === 'created')
    return eb.and([
      eb('contacts.createdAt', '>=', condition.from),
      eb('contacts.createdAt', '<', condition.before),
    ])
  if (condition.on === 'activity') return activityExpression(eb, condition)
  if (condition.on === 'first') return eb.not(eb.exists(inOlderAudience(eb)))
  if (condition.on === 'elsewhere')
    return eb(
      eb.ref('contacts.foldedEmail'),
      'not like',
      sql<string>`${endingIn(`@${condition.domain}`)} escape '!'`,
    )
  if (condition.on === 'column-list') return eb(`contacts.${condition.column}`, 'in', condition.texts)
  if (condition.on === 'property-list')
    return eb.exists(valuesOf(eb, condition).where('contactValues.foldedValue', 'in', condition.texts))
  if (condition.on === 'property-date') return dateExpression(eb, condition)
  if (condition.on === 'search')
    return eb.or([...COLUMNS.values()].map(column => columnContains(eb, column, condition.text)))
  return condition.on === 'column' ? columnExpression(eb, condition) : propertyExpression(eb, condition)
}

function activityExpression(
  eb: ExpressionBuilder<Schema, 'contacts'>,
  { time, from, isNegated }: Extract<Condition, { on: 'activity' }>,
) {
  // a value and no `exists`, from which PostgreSQL would make a join with all rows for each chunk of contacts
  const last = eb
    .selectFrom('contactActivity')
    .select(`contactActivity.${time}`)
    .whereRef('contactActivity.contactId', '=', 'contacts.id')
  return eb(eb.fn.coalesce(last, sql<number>`0`), isNegated ? '<' : '>=', from)
}

function inOlderAudience(eb: ExpressionBuilder<Schema, 'contacts'>) {
  return eb
    .selectFrom('contacts as other')
    .innerJoin('audiences', join =>
      join
        .onRef('audiences.accountId', '=', 'other.accountId')
        .onRef('audiences.id', '=', 'other.audienceId'),
    )
    .select(sql.lit(1).as('one'))
    .whereRef('other.accountId', '=', 'contacts.accountId')
    .whereRef('other.email', '=', 'contacts.email')
    .whereRef('other.audienceId', '<', 'contacts.audienceId')
}

function columnExpression(
  eb: ExpressionBuilder<Schema, 'contacts'>,
  { column, op, text }: Extract<Condition, { on: 'column' }>,
) {
  const ref = `contacts.${column}` as const
  if (op === 'exists') return eb(ref, 'is not', null)
  if (op === 'not_exists') return eb(ref, 'is', null)
  if (op === 'neq') return eb.or([eb(ref, 'is', null), eb(ref, '!=', text)])
  return op === 'eq' ? eb(ref, '=', text) : columnContains(eb, column, text)
}

function columnContains(
  eb: ExpressionBuilder<Schema, 'contacts'>,
  column: FoldedColumn,
  text: string,
): ExpressionWrapper<Schema, 'contacts', SqlBool> {
  return eb(eb.ref(`contacts.${column}`), 'like', sql<string>`${containing(text)} escape '!'`)
}

/** Values of a property of the contact. */
function valuesOf(eb: ExpressionBuilder<Schema, 'contacts'>, { propertyId }: { propertyId: number }) {
  return eb
    .selectFrom('contactValues')
    .select(sql.lit(1).as('one'))
    .whereRef('contactValues.contactId', '=', 'contacts.id')
    .where('contactValues.propertyId', '=', propertyId)
}

function dateExpression(
  eb: ExpressionBuilder<Schema, 'contacts'>,
  condition: Extract<Condition, { on: 'property-date' }>,
) {
  const { from, before, isNegated } = condition
  let dated = valuesOf(eb, condition).where('contactValues.foldedValue', 'like', DATE_PATTERN)
  if (from !== undefined) dated = dated.where('contactValues.foldedValue', '>=', from)
  if (before !== undefined) dated = dated.where('contactValues.foldedValue', '<', before)
  return isNegated ? eb.not(eb.exists(dated)) : eb.exists(dated)
}

function propertyExpression(
  eb: ExpressionBuilder<Schema, 'contacts'>,
  { propertyId, op, text }: Extract<Condition, { on: 'property' }>,
) {
  const own = valuesOf(eb, { propertyId })
  if (op === 'exists') return eb.exists(own)
  if (op === 'not_exists') return eb.not(eb.exists(own))
  const same = own.where('contactValues.foldedValue', '=', text)
  if (op === 'eq') return eb.exists(same)
  if (op === 'neq') return eb.not(eb.exists(same))
  return eb.exists(
    own.where('contactValues.foldedValue', 'like', sql<string>`${containing(text)} escape '!'`),
  )
}
