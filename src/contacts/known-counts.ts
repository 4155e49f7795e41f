/** How many contacts a segment has, where that need not be asked of one contact after the other. */
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Id } from '../lib/ids.ts'
import { containing } from '../store/pattern.ts'
import type { AudienceRow, Db } from '../store/schema.ts'
import type { Condition, Membership } from './filters.ts'

/** Whose counts say what need not be counted. */
export type CountedAudience = Pick<AudienceRow, 'id' | 'contactCount' | 'unsubscribedCount'>

type PropertyCondition = Extract<Condition, { on: 'property' }>
type PropertyValue = Pick<PropertyCondition, 'propertyId' | 'text'>

/**
 * Where it follows from counts that are kept, or from the index of values alone; undefined elsewhere.
 *
 * @param size entries that one statement looks at
 */
export async function knownCount(
  db: Db,
  { contactCount, unsubscribedCount }: CountedAudience,
  { isEmpty, lead, conditions }: Membership,
  size: number,
): Promise<number | undefined> {
  if (isEmpty) return 0
  const [only, ...others] = conditions
  if (!only) return lead ? countValues(db, { propertyId: lead.propertyId, text: lead.value }) : contactCount
  if (lead) return undefined
  const unequal = conditions.filter(one => one.on === 'property' && one.op === 'neq') as PropertyCondition[]
  if (others.length > 0)
    return unequal.length === conditions.length
      ? contactCount - (await countAnyOf(db, unequal, size))
      : undefined
  if (only.on === 'flag') return only.flag === 1 ? unsubscribedCount : contactCount - unsubscribedCount
  return only.on === 'property' ? countOfProperty(db, contactCount, only, size) : undefined
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

/** By the index, in the order of which the contacts with one value follow each other. */
async function countValues(db: Db, value: PropertyValue): Promise<number> {
  const { count } = await valuesEqual(db, value)
    .select(eb => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** How many have at least one of these: the contacts of each come in the order of their ids, and are merged. */
async function countAnyOf(db: Db, wanted: readonly PropertyValue[], size: number): Promise<number> {
  let total = 0
  for (let after: Id | undefined; ; await turn()) {
    const beyond = (value: PropertyValue) => {
      const values = valuesEqual(db, value).select('contactId')
      return after ? values.where('contactId', '>', after) : values
    }
    const [first, ...others] = wanted.map(beyond)
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

/** In stretches of values; one that many contacts have is looked at once, whatever their number. */
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
