/** Counts the contacts of a segment without reading them, where stored counts suffice. */
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Id } from '../../lib/ids.ts'
import { containing } from '../../store/model/pattern.ts'
import type { AudienceRow, Db } from '../../store/model/schema.ts'
import type { Condition, Membership } from './filters.ts'

/** Audience with the counts that can replace a scan. */
export type CountedAudience = Pick<AudienceRow, 'id' | 'contactCount' | 'unsubscribedCount'>

type PropertyCondition = Extract<Condition, { on: 'property' }>
type PropertyValue = Pick<PropertyCondition, 'propertyId' | 'text'>

/**
 * The indexes of several values are merged only if at least one in this many contacts has the first value.
 * For a rarer value, looking up the other values of each contact is faster.
 */
const CONTACTS_PER_VALUE_MAX = 10

/**
 * Returns the count if stored counts or the value index alone determine it, otherwise undefined.
 *
 * @param size entries per statement
 */
export async function knownCount(
  db: Db,
  { contactCount, unsubscribedCount }: CountedAudience,
  membership: Membership,
  size: number,
): Promise<number | undefined> {
  const { isEmpty, lead, conditions } = membership
  if (isEmpty) return 0
  if (lead) return countOfLed(db, contactCount, { lead, conditions }, size)
  const [only, ...others] = conditions
  if (!only) return contactCount
  if (others.length > 0) {
    const unequal = comparing(conditions, 'neq')
    const isByValues = unequal.length === conditions.length
    return isByValues ? contactCount - (await countAnyOf(db, unequal, size)) : undefined
  }
  if (only.on === 'flag') return only.flag === 1 ? unsubscribedCount : contactCount - unsubscribedCount
  return only.on === 'property' ? countOfProperty(db, contactCount, only, size) : undefined
}

async function countOfLed(
  db: Db,
  contactCount: number,
  { lead, conditions }: { lead: NonNullable<Membership['lead']>; conditions: readonly Condition[] },
  size: number,
): Promise<number | undefined> {
  const all = { propertyId: lead.propertyId, text: lead.value }
  if (conditions.length === 0) return countValues(db, all)
  const [equal, unequal] = [comparing(conditions, 'eq'), comparing(conditions, 'neq')]
  if (equal.length + unequal.length < conditions.length) return undefined
  if ((await countValues(db, all)) * CONTACTS_PER_VALUE_MAX < contactCount) return undefined
  return countBut(db, { all, equal, unequal }, size)
}

/** Returns the conditions that compare a property with this operator. */
function comparing(conditions: readonly Condition[], op: PropertyCondition['op']): PropertyCondition[] {
  return conditions.flatMap(one => (one.on === 'property' && one.op === op ? [one] : []))
}

async function countOfProperty(
  db: Db,
  contactCount: number,
  condition: PropertyCondition,
  size: number,
): Promise<number> {
  const { op, holderCount } = condition
  if (op === 'exists') return holderCount
  if (op === 'not_exists') return contactCount - holderCount
  if (op === 'neq') return contactCount - (await countValues(db, condition))
  return countContaining(db, condition, size)
}

function valuesEqual(db: Db, { propertyId, text }: PropertyValue) {
  return db.selectFrom('contactValues').where('propertyId', '=', propertyId).where('foldedValue', '=', text)
}

/** Counts by the index, in which the contacts with one value are adjacent. */
async function countValues(db: Db, value: PropertyValue): Promise<number> {
  const { count } = await valuesEqual(db, value)
    .select(eb => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function holders(db: Db, value: PropertyValue, after: Id | undefined) {
  const all = valuesEqual(db, value).select('contactId')
  return after ? all.where('contactId', '>', after) : all
}

/**
 * Counts the contacts that have at least one of the values. The contacts of each value are sorted by id and
 * merged.
 */
async function countAnyOf(db: Db, wanted: readonly PropertyValue[], size: number): Promise<number> {
  let total = 0
  for (let after: Id | undefined; ; await turn()) {
    const [first, ...others] = wanted.map(value => holders(db, value, after))
    const merged = others.reduce((all, one) => all.union(one), first!).orderBy('contactId')
    const end = await merged
      .limit(1)
      .offset(size - 1)
      .executeTakeFirst()
    if (end) {
      total += size
      after = end.contactId
      continue
    }
    const { count } = await db
      .selectFrom(merged.as('merged'))
      .select(eb => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return total + Number(count)
  }
}

/**
 * Counts the contacts with one value that also have other required values and none of the excluded values, by
 * the same merge.
 */
async function countBut(
  db: Db,
  { all, equal, unequal }: { all: PropertyValue; equal: PropertyValue[]; unequal: PropertyValue[] },
  size: number,
): Promise<number> {
  let total = 0
  for (let after: Id | undefined; ; await turn()) {
    const beyond = (value: PropertyValue) => holders(db, value, after)
    const end = await beyond(all)
      .orderBy('contactId')
      .limit(1)
      .offset(size - 1)
      .executeTakeFirst()
    const within = (value: PropertyValue) =>
      end ? beyond(value).where('contactId', '<=', end.contactId) : beyond(value)
    // in this order, because PostgreSQL evaluates intersections first wherever they are written
    const both = equal.reduce((some, one) => some.intersect(within(one)), within(all))
    const merged = unequal.reduce((some, one) => some.except(within(one)), both).orderBy('contactId')
    const { count } = await db
      .selectFrom(merged.as('merged'))
      .select(eb => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    total += Number(count)
    if (!end) return total
    after = end.contactId
  }
}

/** Scans values in chunks. A value is matched once, no matter how many contacts have it. */
async function countContaining(db: Db, { propertyId, text }: PropertyValue, size: number): Promise<number> {
  let total = 0
  for (let after: string | undefined; ; await turn()) {
    const values = db.selectFrom('contactValues').where('propertyId', '=', propertyId)
    const rest = after === undefined ? values : values.where('foldedValue', '>', after)
    const end = await rest
      .select('foldedValue')
      .orderBy('foldedValue')
      .limit(1)
      .offset(size - 1)
      .executeTakeFirst()
    const { count } = await (end ? rest.where('foldedValue', '<', end.foldedValue) : rest)
      .select(eb => eb.fn.countAll<number>().as('count'))
      .where('foldedValue', 'like', sql<string>`${containing(text)} escape '!'`)
      .executeTakeFirstOrThrow()
    total += Number(count)
    if (!end) return total
    if (end.foldedValue.includes(text)) total += await countValues(db, { propertyId, text: end.foldedValue })
    after = end.foldedValue
  }
}
