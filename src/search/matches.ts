/**
 * Finds the emails that a filter asks for, part by part: segments by their statuses, terms and subjects, without
 * reading the emails themselves; gaps, and segments that creation times cut through, row by row.
 */
import type { Db } from '../store/schema.ts'
import { GONE, ID_BYTES, idAt, ordinalOf, statusByte } from '../store/segments.ts'
import { visibleSince } from '../store/visible.ts'
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
import {
  type EmailFilter,
  FACET_COLUMNS,
  type FacetSource,
  foldText,
  type Scope,
  termsOf,
  termsWanted,
} from './facets.ts'
import { isBefore, isWithin, type Part, type SegmentHead } from './parts.ts'
import { findInSubjects, type SubjectCache, type Subjects, unpackSubjects } from './subjects.ts'

/** The emails found in one part. */
export interface Found {
  part: Part
  count: number
  /** 16 bytes each, ascending; to be read in the same snapshot. */
  ids(): Promise<Buffer>
}

export interface Reads {
  db: Db
  subjects: SubjectCache
}

/** What is asked for, in the order of the parts. @param parts following each other, newest first */
export async function findMatches(
  reads: Reads,
  scope: Scope,
  filter: EmailFilter,
  parts: readonly Part[],
): Promise<Found[]> {
  const wanted = termsWanted(scope, filter)
  const heads = parts.flatMap(({ segment }) => (segment && spanOf(segment, filter) === 'all' ? segment : []))
  const sealed = await matchSegments(reads, scope, { ...filter, wanted }, heads)
  const found: Found[] = []
  for (const part of parts) {
    const bits = part.segment && sealed.get(part.segment.id)
    if (bits) found.push({ part, count: countBits(bits), ids: () => idsOf(reads.db, part.segment!.id, bits) })
    else if (!part.segment || spanOf(part.segment, filter) === 'some') {
      const ids = await matchRows(reads.db, scope, { ...filter, wanted }, part)
      found.push({ part, count: ids.length / ID_BYTES, ids: async () => ids })
    }
  }
  return found
}

type Wanted = EmailFilter & { wanted: readonly string[] }

/** How many of a segment's emails were created when the filter says. */
function spanOf({ earliestAt, latestAt }: SegmentHead, filter: EmailFilter): 'all' | 'some' | 'none' {
  const { createdFrom = Number.NEGATIVE_INFINITY, createdBefore = Number.POSITIVE_INFINITY } = filter
  if (latestAt < createdFrom || earliestAt >= createdBefore) return 'none'
  return earliestAt >= createdFrom && latestAt < createdBefore ? 'all' : 'some'
}

/** By segment. */
async function matchSegments(
  reads: Reads,
  scope: Scope,
  { status, subject, wanted }: Wanted,
  heads: readonly SegmentHead[],
): Promise<Map<number, Bits>> {
  const newest = heads[0]
  const oldest = heads.at(-1)
  if (!newest || !oldest) return new Map()
  const segmentIds = reads.db
    .selectFrom('emailSegments')
    .select('id')
    .where('accountId', '=', scope.accountId)
    .where('lastId', '>=', oldest.lastId)
    .where('lastId', '<=', newest.lastId)
  const statuses = await reads.db
    .selectFrom('emailSegmentStatuses')
    .select(['segmentId', 'statuses'])
    .where('segmentId', 'in', segmentIds)
    .execute()
  const byte = status === undefined ? undefined : statusByte(status)
  const bits = new Map(statuses.map(row => [row.segmentId, withStatus(row.statuses, byte)]))
  const sizes = new Map(statuses.map(row => [row.segmentId, row.statuses.length]))
  for (const term of wanted) {
    const rows = await reads.db
      .selectFrom('emailTerms')
      .select(['segmentId', 'ordinals'])
      .where('term', '=', term)
      .where('segmentId', 'in', segmentIds)
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

const SEGMENTS_AT_ONCE = 64

/** Unpacks subjects only of segments in which anything is left to be found. */
async function keepSubjects(
  reads: Reads,
  text: string,
  bits: Map<number, Bits>,
  sizes: ReadonlyMap<number, number>,
): Promise<void> {
  for (const [id, own] of bits) if (countBits(own) === 0) bits.delete(id)
  const ids = [...bits.keys()]
  for (let at = 0; at < ids.length; at += SEGMENTS_AT_ONCE)
    for (const [id, subjects] of await subjectsOf(reads, ids.slice(at, at + SEGMENTS_AT_ONCE), sizes))
      bits.set(id, findInSubjects(subjects, text, bits.get(id)!))
}

async function subjectsOf(
  { db, subjects }: Reads,
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

/** What is out of sight leaves the store soon: there are never many, and they are among the oldest. */
async function clearHidden(
  db: Db,
  { accountId, horizon }: Scope,
  heads: readonly SegmentHead[],
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

async function idsOf(db: Db, segmentId: number, bits: Bits): Promise<Buffer> {
  const ids = await readIds(db, segmentId)
  return Buffer.concat(ordinalsIn(bits).map(ordinal => idAt(ids, ordinal)))
}

async function readIds(db: Db, segmentId: number): Promise<Buffer> {
  const { ids } = await db
    .selectFrom('emailSegments')
    .select('ids')
    .where('id', '=', segmentId)
    .executeTakeFirstOrThrow()
  return Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength)
}

const ROWS_AT_ONCE = 2_000

/** Ids of the emails of a part. */
async function matchRows(db: Db, scope: Scope, filter: Wanted, part: Part): Promise<Buffer> {
  const found: Buffer[] = []
  for (let afterId = part.afterId; ; ) {
    const rows = await rowsOf(db, scope, filter, { ...part, afterId })
    found.push(Buffer.concat(rows.filter(row => hasFacets(row, filter)).map(({ id }) => id)))
    if (rows.length < ROWS_AT_ONCE) return Buffer.concat(found)
    afterId = rows.at(-1)!.id
  }
}

function rowsOf(
  db: Db,
  { accountId, horizon }: Scope,
  { status, subject, createdFrom, createdBefore, wanted }: Wanted,
  { afterId, lastId }: Part,
) {
  const isFaceted = subject !== undefined || wanted.length > 0
  let query = db
    .selectFrom('emails')
    .select(['id', ...(isFaceted ? FACET_COLUMNS : [])])
    .where('accountId', '=', accountId)
    .where('id', '>', afterId)
    .where(visibleSince(horizon))
    .orderBy('id')
    .limit(ROWS_AT_ONCE)
  if (lastId) query = query.where('id', '<=', lastId)
  if (status !== undefined) query = query.where('status', '=', status)
  if (createdFrom !== undefined) query = query.where('createdAt', '>=', createdFrom)
  if (createdBefore !== undefined) query = query.where('createdAt', '<', createdBefore)
  return query.execute()
}

function hasFacets(row: Partial<FacetSource>, { subject, wanted }: Wanted): boolean {
  if (subject !== undefined && !foldText(row.subject!).includes(subject)) return false
  if (wanted.length === 0) return true
  const terms = termsOf(row as FacetSource)
  return wanted.every(term => terms.has(term))
}
