/**
 * Lists contacts with search and filters, newest first, and counts the contacts of a segment.
 *
 * In: an audience, filters and a page. Out: rows and the total. Called by the contact and segment routes of
 * the API.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { type Id, idKey } from '../../lib/ids.ts'
import type { ContactRow, Db } from '../../store/model/schema.ts'
import { type ContactSearch, type Membership, membershipOf, type SegmentFilter } from './filters.ts'
import { type CountedAudience, knownCount } from './known-counts.ts'
import { CHUNK_CONTACTS, type MemberChunk, memberChunks } from './member-chunks.ts'

export interface ContactQuery extends ContactSearch {
  audience: CountedAudience
  /** A contact must match all filters. */
  filters: readonly SegmentFilter[]
  limit: number
  /** Number of contacts to skip; ignored when a cursor is given. */
  offset: number
  /** Returns the contacts next to this one, which may have been deleted. */
  cursor: ContactCursor | null
}

interface ContactCursor {
  id: Id
  side: 'older' | 'newer'
}

export interface ContactsFound {
  /** Number of contacts that match search and filters. */
  total: number
  hasMore: boolean
  /** Page of contacts, newest first. */
  rows: ContactRow[]
}

/**
 * @param now end of the periods in filters, in ms since the epoch
 * @param size number of contacts per chunk
 */
export async function listContacts(
  db: Db,
  now: number,
  query: ContactQuery,
  size = CHUNK_CONTACTS,
): Promise<ContactsFound> {
  const { audience, filters, limit, offset, cursor } = query
  const membership = await membershipOf(db, audience.id, filters, now, query)
  const known = await knownCount(db, audience, membership, size)
  if (known === 0 || (known !== undefined && !cursor && offset >= known))
    return { total: known, hasMore: false, rows: [] }
  const chunks = memberChunks(db, membership, cursor?.side === 'newer' ? 'asc' : 'desc', size)
  const page = { limit: limit + 1, offset: cursor ? 0 : offset, from: cursor?.id ?? null }
  const { ids, total } = await walk(chunks, page, cursor !== null || known !== undefined)
  const rows = await contactsWith(db, audience.id, ids.slice(0, limit))
  return {
    total: known ?? (cursor ? await countAll(db, membership, size) : total),
    hasMore: ids.length > limit,
    rows: cursor?.side === 'newer' ? rows.reverse() : rows,
  }
}

export async function countMembers(
  db: Db,
  now: number,
  audience: CountedAudience,
  filters: readonly SegmentFilter[],
  size = CHUNK_CONTACTS,
): Promise<number> {
  const membership = await membershipOf(db, audience.id, filters, now)
  return (await knownCount(db, audience, membership, size)) ?? countAll(db, membership, size)
}

async function countAll(db: Db, membership: Membership, size: number): Promise<number> {
  const page = { limit: 0, offset: 0, from: null }
  return (await walk(memberChunks(db, membership, 'desc', size), page, false)).total
}

/** Scans until the page is full, or until all contacts have been counted. */
export async function walk(
  chunks: ReturnType<typeof memberChunks>,
  { limit, offset, from }: { limit: number; offset: number; from: Id | null },
  endsWithPage: boolean,
): Promise<{ ids: Id[]; total: number }> {
  const ids: Id[] = []
  let total = 0
  let chunk: MemberChunk | undefined = { from, to: undefined }
  while (chunk) {
    chunk.to = await chunks.endOf(chunk.from)
    const found: number = await chunks.count(chunk)
    const skipped = Math.max(0, offset - total)
    if (found > skipped && ids.length < limit)
      ids.push(...(await chunks.ids(chunk, limit - ids.length, skipped)))
    total += found
    const isDone: boolean = !chunk.to || (endsWithPage && ids.length === limit)
    chunk = isDone ? undefined : { from: chunk.to!, to: undefined }
    if (chunk) await turn()
  }
  return { ids, total }
}

/** Reads contacts in the order of the ids; contacts deleted in the meantime are left out. */
export async function contactsWith(db: Db, audienceId: Id, ids: readonly Id[]): Promise<ContactRow[]> {
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
