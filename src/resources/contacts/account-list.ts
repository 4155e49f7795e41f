/**
 * Pages through all contacts of an account, for SDKs that have no audiences. Each address is listed once, as
 * the contact of the oldest audience that has it. The contacts of the oldest audience come first; within an
 * audience, the newest come first.
 *
 * In: account, search text and cursor. Out: a page of contacts and the total. Called by the API's
 * `account-contact-routes.ts`.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { type Id, sameId } from '../../lib/ids.ts'
import type { AudienceRow, Db } from '../../store/model/schema.ts'
import { type Membership, membershipOf } from './filters.ts'
import { type ContactQuery, type ContactsFound, contactsWith, listContacts, walk } from './list.ts'
import { CHUNK_CONTACTS, memberChunks } from './member-chunks.ts'

export interface AccountContactsQuery extends Omit<ContactQuery, 'audience' | 'filters'> {
  accountId: Id
}

/** Part of a page from one audience, in the order of the scan. */
interface Part {
  audienceId: Id
  ids: Id[]
}

/**
 * Returns undefined if the contact of the cursor does not exist any more.
 *
 * @param now in ms since the epoch
 * @param size number of contacts per chunk
 */
export async function listAccountContacts(
  db: Db,
  now: number,
  query: AccountContactsQuery,
  size = CHUNK_CONTACTS,
): Promise<ContactsFound | undefined> {
  const { accountId, search, limit, cursor } = query
  const audiences = await db
    .selectFrom('audiences')
    .selectAll()
    .where('accountId', '=', accountId)
    .orderBy('id')
    .execute()
  const [oldest, ...others] = audiences
  if (!oldest) return { total: 0, hasMore: false, rows: [] }
  if (others.length === 0) return listContacts(db, now, { ...query, audience: oldest, filters: [] }, size)
  const begin = cursor ? await audienceOf(db, audiences, cursor.id) : 0
  if (begin === undefined) return undefined
  const parts = await pageOf(db, audiences, begin, { ...query, now }, size)
  const rows = await Promise.all(parts.map(({ audienceId, ids }) => contactsWith(db, audienceId, ids)))
  const found = rows.flat()
  const page = found.slice(0, limit)
  return {
    total:
      search === ''
        ? await countAddresses(db, accountId, size)
        : await countFound(db, audiences, { search, now }, size),
    hasMore: found.length > limit,
    rows: cursor?.side === 'newer' ? page.reverse() : page,
  }
}

/**
 * Returns one contact more than the page has.
 * @param begin index of the audience in which the scan starts
 */
async function pageOf(
  db: Db,
  audiences: readonly AudienceRow[],
  begin: number,
  { search, now, limit, offset, cursor }: AccountContactsQuery & { now: number },
  size: number,
): Promise<Part[]> {
  const isNewer = cursor?.side === 'newer'
  const order = isNewer ? audiences.slice(0, begin + 1).reverse() : audiences.slice(begin)
  const parts: Part[] = []
  let wanted = limit + 1
  let skip = cursor ? 0 : offset
  let from = cursor?.id ?? null
  for (const { id: audienceId } of order) {
    const membership = await firstsOf(db, audiences, audienceId, { search, now })
    const chunks = memberChunks(db, membership, isNewer ? 'asc' : 'desc', size)
    const { ids, total } = await walk(chunks, { limit: wanted, offset: skip, from }, true)
    parts.push({ audienceId, ids })
    wanted -= ids.length
    if (wanted === 0) return parts
    skip = Math.max(0, skip - total)
    from = null
  }
  return parts
}

/** Returns the contacts of an audience whose addresses are in no older audience. */
async function firstsOf(
  db: Db,
  [oldest]: readonly AudienceRow[],
  audienceId: Id,
  { search, now }: { search: string; now: number },
): Promise<Membership> {
  const membership = await membershipOf(db, audienceId, [], now, { search })
  if (sameId(audienceId, oldest!.id)) return membership
  return { ...membership, conditions: [...membership.conditions, { on: 'first' }] }
}

/** Returns the index of the audience that a contact is in. */
async function audienceOf(
  db: Db,
  audiences: readonly AudienceRow[],
  contactId: Id,
): Promise<number | undefined> {
  const contact = await db
    .selectFrom('contacts')
    .select('audienceId')
    .where(
      'audienceId',
      'in',
      audiences.map(({ id }) => id),
    )
    .where('id', '=', contactId)
    .executeTakeFirst()
  return contact && audiences.findIndex(({ id }) => sameId(id, contact.audienceId))
}

async function countFound(
  db: Db,
  audiences: readonly AudienceRow[],
  by: { search: string; now: number },
  size: number,
): Promise<number> {
  let all = 0
  for (const { id } of audiences) {
    const chunks = memberChunks(db, await firstsOf(db, audiences, id, by), 'desc', size)
    all += (await walk(chunks, { limit: 0, offset: 0, from: null }, false)).total
  }
  return all
}

/** Counts distinct addresses by their index. */
async function countAddresses(db: Db, accountId: Id, size: number): Promise<number> {
  const audiences = db.selectFrom('audiences').select('id').where('accountId', '=', accountId)
  let all = 0
  for (let after = ''; ; await turn()) {
    const rest = db.selectFrom('contacts').where('accountId', '=', accountId).where('email', '>', after)
    const end = await rest
      .select('email')
      .orderBy('email')
      .limit(1)
      .offset(size - 1)
      .executeTakeFirst()
    const addresses = (end ? rest.where('email', '<=', end.email) : rest)
      .where('audienceId', 'in', audiences)
      .select('email')
      .distinct()
      .as('addresses')
    const { count } = await db
      .selectFrom(addresses)
      .select(eb => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    all += Number(count)
    if (!end) return all
    after = end.email
  }
}
