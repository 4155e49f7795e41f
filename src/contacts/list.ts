/** Lists of contacts, searched and narrowed down, newest first; and how many contacts a segment has. */
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Id, idKey } from '../lib/ids.ts'
import { containing } from '../store/pattern.ts'
import type { AudienceRow, ContactRow, Db } from '../store/schema.ts'
import { type Condition, type Filter, type Membership, membershipOf } from './filters.ts'
import { STRETCH_CONTACTS, type Stretch, stretchesOf } from './stretches.ts'

/** Whose counts say what need not be counted. */
export type CountedAudience = Pick<AudienceRow, 'id' | 'contactCount' | 'unsubscribedCount'>

export interface ContactQuestion {
  audience: CountedAudience
  /** All must hold. */
  filters: readonly Filter[]
  /** Part of the address or of a name; empty for any. */
  search: string
  limit: number
  /** Contacts to skip; without meaning beside a cursor. */
  offset: number
  /** Shows the contacts next to this one, which need not exist any more. */
  cursor: ContactCursor | null
}

export interface ContactCursor {
  id: Id
  side: 'older' | 'newer'
}

export interface ContactsFound {
  /** Of the whole list, as narrowed down. */
  total: number
  hasMore: boolean
  /** Newest first. */
  rows: ContactRow[]
}

/** @param size of a stretch, in contacts */
export async function listContacts(
  db: Db,
  question: ContactQuestion,
  size = STRETCH_CONTACTS,
): Promise<ContactsFound> {
  const { audience, filters, search, limit, offset, cursor } = question
  const membership = await membershipOf(db, audience.id, filters, search)
  const known = await knownCount(db, audience, membership, size)
  if (known === 0 || (known !== undefined && !cursor && offset >= known))
    return { total: known, hasMore: false, rows: [] }
  const stretches = stretchesOf(db, membership, cursor?.side === 'newer' ? 'asc' : 'desc', size)
  const page = { limit: limit + 1, offset: cursor ? 0 : offset, from: cursor?.id ?? null }
  const { ids, total } = await walk(stretches, page, cursor !== null || known !== undefined)
  const rows = await contactsWith(db, audience.id, ids.slice(0, limit))
  return {
    total: known ?? (cursor ? await countAll(db, membership, size) : total),
    hasMore: ids.length > limit,
    rows: cursor?.side === 'newer' ? rows.reverse() : rows,
  }
}

export async function countMembers(
  db: Db,
  audience: CountedAudience,
  filters: readonly Filter[],
  size = STRETCH_CONTACTS,
): Promise<number> {
  const membership = await membershipOf(db, audience.id, filters)
  return (await knownCount(db, audience, membership, size)) ?? countAll(db, membership, size)
}

async function countAll(db: Db, membership: Membership, size: number): Promise<number> {
  const page = { limit: 0, offset: 0, from: null }
  return (await walk(stretchesOf(db, membership, 'desc', size), page, false)).total
}

/** Ends when the page is full, or when everybody has been looked at and counted. */
async function walk(
  stretches: ReturnType<typeof stretchesOf>,
  { limit, offset, from }: { limit: number; offset: number; from: Id | null },
  endsWithPage: boolean,
): Promise<{ ids: Id[]; total: number }> {
  const ids: Id[] = []
  let total = 0
  let stretch: Stretch | undefined = { from, to: undefined }
  while (stretch) {
    stretch.to = await stretches.endOf(stretch.from)
    const found: number = await stretches.count(stretch)
    const skipped = Math.max(0, offset - total)
    if (found > skipped && ids.length < limit)
      ids.push(...(await stretches.ids(stretch, limit - ids.length, skipped)))
    total += found
    const isDone: boolean = !stretch.to || (endsWithPage && ids.length === limit)
    stretch = isDone ? undefined : { from: stretch.to!, to: undefined }
    if (stretch) await turn()
  }
  return { ids, total }
}

/** Where it follows from counts that are kept, or from what can be counted by itself; undefined elsewhere. */
async function knownCount(
  db: Db,
  { contactCount, unsubscribedCount }: CountedAudience,
  { isEmpty, lead, conditions }: Membership,
  size: number,
): Promise<number | undefined> {
  if (isEmpty) return 0
  const [only, ...others] = conditions
  if (!only) return lead ? countValues(db, lead.propertyId, lead.value) : contactCount
  if (lead || others.length > 0) return undefined
  if (only.on === 'flag') return only.flag === 1 ? unsubscribedCount : contactCount - unsubscribedCount
  return only.on === 'property' ? countOfProperty(db, contactCount, only, size) : undefined
}

async function countOfProperty(
  db: Db,
  contactCount: number,
  { propertyId, holderCount, op, text }: Extract<Condition, { on: 'property' }>,
  size: number,
): Promise<number> {
  if (op === 'exists') return holderCount
  if (op === 'not_exists') return contactCount - holderCount
  if (op === 'neq') return contactCount - (await countValues(db, propertyId, text))
  return countContaining(db, propertyId, text, size)
}

/** By the index, in the order of which the contacts with one value follow each other. */
async function countValues(db: Db, propertyId: number, value: string): Promise<number> {
  const { count } = await db
    .selectFrom('contactValues')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('propertyId', '=', propertyId)
    .where('foldedValue', '=', value)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** By the same index, in stretches. */
async function countContaining(db: Db, propertyId: number, text: string, size: number): Promise<number> {
  let total = 0
  for (let after: { foldedValue: string; contactId: Id } | undefined; ; await turn()) {
    const values = db.selectFrom('contactValues').where('propertyId', '=', propertyId)
    const rest = after
      ? values.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('foldedValue', 'contactId'), '>', tuple(after!.foldedValue, after!.contactId)),
        )
      : values
    const end = await rest
      .select(['foldedValue', 'contactId'])
      .orderBy('foldedValue')
      .orderBy('contactId')
      .limit(1)
      .offset(size - 1)
      .executeTakeFirst()
    const stretch = end
      ? rest.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('foldedValue', 'contactId'), '<=', tuple(end.foldedValue, end.contactId)),
        )
      : rest
    const { count } = await stretch
      .select(eb => eb.fn.countAll<number>().as('count'))
      .where('foldedValue', 'like', sql<string>`${containing(text)} escape '!'`)
      .executeTakeFirstOrThrow()
    total += Number(count)
    if (!end) return total
    after = end
  }
}

/** In the order of the ids, without those that are gone in the meantime. */
async function contactsWith(db: Db, audienceId: Id, ids: readonly Id[]): Promise<ContactRow[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('contacts')
    .selectAll()
    .where('audienceId', '=', audienceId)
    .where('id', 'in', ids)
    .execute()
  const byId = new Map(rows.map(row => [idKey(row.id), row]))
  return ids.flatMap(id => byId.get(idKey(id)) ?? [])
}
