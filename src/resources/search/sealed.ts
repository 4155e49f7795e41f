/** Searches index blocks without reading emails. */
import type { Db } from '../../store/model/schema.ts'
import { GONE, idAt, ordinalOf, statusByte } from '../../store/model/search-index.ts'
import {
  type Bits,
  bitsWhere,
  clearBit,
  countBits,
  decodeOrdinals,
  keepCommon,
  noBits,
  ordinalsIn,
} from './bits.ts'
import type { Scope, SearchQuery } from './facets.ts'
import { type BlockHead, isBefore, isWithin, type SearchSources } from './parts.ts'
import { findInSubjects, type Subjects, unpackSubjects } from './subjects.ts'

/**
 * @param heads consecutive blocks, newest first
 * @returns matches by block
 */
export async function matchBlocks(
  reads: SearchSources,
  scope: Scope,
  { status, subject, terms }: SearchQuery,
  heads: readonly BlockHead[],
): Promise<Map<number, Bits>> {
  const newest = heads[0]
  const oldest = heads.at(-1)
  if (!newest || !oldest) return new Map()
  const blockIds = reads.db
    .selectFrom('emailSegments')
    .select('id')
    .where('accountId', '=', scope.accountId)
    .where('lastId', '>=', oldest.lastId)
    .where('lastId', '<=', newest.lastId)
  const statuses = await reads.db
    .selectFrom('emailSegmentStatuses')
    .select(['segmentId', 'statuses'])
    .where('segmentId', 'in', blockIds)
    .execute()
  const byte = status === undefined ? undefined : statusByte(status)
  const bits = new Map(statuses.map(row => [row.segmentId, withStatus(row.statuses, byte)]))
  const sizes = new Map(statuses.map(row => [row.segmentId, row.statuses.length]))
  for (const term of terms) {
    const rows = await reads.db
      .selectFrom('emailTerms')
      .select(['segmentId', 'ordinals'])
      .where('term', '=', term)
      .where('segmentId', 'in', blockIds)
      .execute()
    const having = new Map(rows.map(({ segmentId, ordinals }) => [segmentId, ordinals]))
    for (const [id, own] of bits) {
      const ordinals = having.get(id)
      if (ordinals) keepCommon(own, decodeOrdinals(ordinals, sizes.get(id)!))
      else bits.delete(id)
    }
  }
  if (subject !== undefined) await keepSubjects(reads, subject, bits, sizes)
  await clearHidden(reads.db, scope, heads, bits)
  return new Map(heads.flatMap(({ id }) => [[id, bits.get(id) ?? noBits(0)]]))
}

/** @param byte undefined for any status */
function withStatus(statuses: Uint8Array, byte: number | undefined): Bits {
  return byte === undefined ? bitsWhere(statuses, GONE, false) : bitsWhere(statuses, byte, true)
}

const BLOCKS_PER_QUERY_MAX = 64

/** Subjects are unpacked only for blocks that still have candidates. */
async function keepSubjects(
  reads: SearchSources,
  text: string,
  bits: Map<number, Bits>,
  sizes: ReadonlyMap<number, number>,
): Promise<void> {
  for (const [id, own] of bits) if (countBits(own) === 0) bits.delete(id)
  const ids = [...bits.keys()]
  for (let at = 0; at < ids.length; at += BLOCKS_PER_QUERY_MAX)
    for (const [id, subjects] of await subjectsOf(reads, ids.slice(at, at + BLOCKS_PER_QUERY_MAX), sizes))
      bits.set(id, findInSubjects(subjects, text, bits.get(id)!))
}

async function subjectsOf(
  { db, subjects }: SearchSources,
  ids: readonly number[],
  sizes: ReadonlyMap<number, number>,
): Promise<Map<number, Subjects>> {
  const all = new Map<number, Subjects>()
  const missing: number[] = []
  for (const id of ids) {
    const kept = subjects.get(id)
    if (kept) all.set(id, kept)
    else missing.push(id)
  }
  if (missing.length === 0) return all
  const rows = await db
    .selectFrom('emailSegments')
    .select(['id', 'subjects'])
    .where('id', 'in', missing)
    .execute()
  for (const row of rows) {
    const unpacked = unpackSubjects(row.subjects, sizes.get(row.id)!)
    subjects.put(row.id, unpacked)
    all.set(row.id, unpacked)
  }
  return all
}

/**
 * Removes emails that are no longer visible. These are few and among the oldest, since they are deleted soon.
 */
async function clearHidden(
  db: Db,
  { accountId, horizon }: Scope,
  heads: readonly BlockHead[],
  bits: ReadonlyMap<number, Bits>,
): Promise<void> {
  const hidden = await db
    .selectFrom('emails')
    .select('id')
    .where('accountId', '=', accountId)
    .where('endedAt', '<=', horizon)
    .execute()
  const ascending = hidden.map(({ id }) => id).sort(Buffer.compare)
  let at = 0
  for (const head of heads.toReversed()) {
    while (at < ascending.length && !isBefore(head.afterId, ascending[at]!)) at++
    const own = bits.get(head.id)
    if (!own || at === ascending.length || !isWithin(ascending[at]!, head)) continue
    const ids = await readIds(db, head.id)
    for (; at < ascending.length && isWithin(ascending[at]!, head); at++)
      clearBit(own, ordinalOf(ids, ascending[at]!))
  }
}

/** @returns the ids of the emails with these ordinals */
export async function idsOf(db: Db, blockId: number, bits: Bits): Promise<Buffer> {
  const ids = await readIds(db, blockId)
  return Buffer.concat(ordinalsIn(bits).map(ordinal => idAt(ids, ordinal)))
}

async function readIds(db: Db, blockId: number): Promise<Buffer> {
  const { ids } = await db
    .selectFrom('emailSegments')
    .select('ids')
    .where('id', '=', blockId)
    .executeTakeFirstOrThrow()
  return Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength)
}
