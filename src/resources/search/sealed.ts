/** Searches index blocks without reading emails. */
import type { Id } from '../../lib/ids.ts'
import type { Db } from '../../store/model/schema.ts'
import { GONE, idAt, ordinalOf, statusByte } from '../../store/model/search-index.ts'
import {
  addBits,
  type Bits,
  bitsWhere,
  clearBit,
  countBits,
  decodeOrdinals,
  hasBit,
  keepCommon,
  noBits,
  ordinalsIn,
  setBit,
} from './bits.ts'
import { RECIPIENT_DOMAINS, type Scope, type SearchQuery } from './facets.ts'
import { type BlockHead, isBefore, isWithin, type SearchSources } from './parts.ts'
import { findInTexts, type Texts, unpackTexts } from './texts.ts'
import type { SearchWord } from './words.ts'

/**
 * @param heads consecutive blocks, newest first
 * @returns matches by block
 */
export async function matchBlocks(
  reads: SearchSources,
  scope: Scope,
  { status, subject, words = [], terms, anyOf }: SearchQuery,
  heads: readonly BlockHead[],
): Promise<Map<number, Bits>> {
  const newest = heads[0]
  const oldest = heads.at(-1)
  if (!newest || !oldest) return new Map()
  const blockIds = blockIdsOf(reads.db, scope, oldest, newest)
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
  if (anyOf) await keepAny(reads.db, anyOf, blockIds, bits, sizes)
  if (subject !== undefined || words.length > 0)
    await keepTexts(reads, { subject, words }, heads, bits, sizes)
  await clearHidden(reads.db, scope, heads, bits)
  return new Map(heads.flatMap(({ id }) => [[id, bits.get(id) ?? noBits(0)]]))
}

type BlockIds = ReturnType<typeof blockIdsOf>

function blockIdsOf(db: Db, { accountId }: Scope, oldest: BlockHead, newest: BlockHead) {
  return db
    .selectFrom('emailSegments')
    .select('id')
    .where('accountId', '=', accountId)
    .where('lastId', '>=', oldest.lastId)
    .where('lastId', '<=', newest.lastId)
}

/** A few terms are looked up; more than these are found among all terms of recipients' domains. */
const LOOKED_UP_MAX = 50

/** Keeps the emails that have at least one of the terms of recipients' domains. */
async function keepAny(
  db: Db,
  terms: ReadonlySet<string>,
  blockIds: BlockIds,
  bits: Map<number, Bits>,
  sizes: ReadonlyMap<number, number>,
): Promise<void> {
  const all = db.selectFrom('emailTerms').select(['segmentId', 'term', 'ordinals'])
  const some =
    terms.size <= LOOKED_UP_MAX
      ? all.where('term', 'in', [...terms])
      : all.where('term', '>=', RECIPIENT_DOMAINS).where('term', '<', `${RECIPIENT_DOMAINS}\uffff`)
  const rows = terms.size === 0 ? [] : await some.where('segmentId', 'in', blockIds).execute()
  const having = new Map<number, Bits>()
  for (const { segmentId, term, ordinals } of rows) {
    if (!terms.has(term)) continue
    const size = sizes.get(segmentId)!
    const known = having.get(segmentId) ?? noBits(size)
    addBits(known, decodeOrdinals(ordinals, size))
    having.set(segmentId, known)
  }
  for (const [id, own] of bits) keepCommon(own, having.get(id) ?? noBits(sizes.get(id)!))
}

/** @param byte undefined for any status */
function withStatus(statuses: Uint8Array, byte: number | undefined): Bits {
  return byte === undefined ? bitsWhere(statuses, GONE, false) : bitsWhere(statuses, byte, true)
}

const BLOCKS_PER_QUERY_MAX = 64

/** Texts are unpacked only for blocks that still have candidates. */
async function keepTexts(
  reads: SearchSources,
  { subject, words }: { subject: string | undefined; words: readonly SearchWord[] },
  heads: readonly BlockHead[],
  bits: Map<number, Bits>,
  sizes: ReadonlyMap<number, number>,
): Promise<void> {
  for (const [id, own] of bits) if (countBits(own) === 0) bits.delete(id)
  const candidates = heads.filter(({ id }) => bits.has(id))
  for (let at = 0; at < candidates.length; at += BLOCKS_PER_QUERY_MAX) {
    const some = candidates.slice(at, at + BLOCKS_PER_QUERY_MAX)
    const subjects = await textsOf(reads, 'subjects', some, sizes)
    const details = words.length === 0 ? undefined : await textsOf(reads, 'details', some, sizes)
    for (const head of some) {
      let own = bits.get(head.id)!
      if (subject !== undefined) own = findInTexts(subjects.get(head.id)!, subject, own)
      for (const word of words) {
        if (countBits(own) === 0) break
        const found = findInTexts(subjects.get(head.id)!, word.part, own)
        addBits(found, findInTexts(details!.get(head.id)!, word.part, own))
        if (word.id) await addId(reads.db, head, word.id, own, found)
        own = found
      }
      bits.set(head.id, own)
    }
  }
}

/** Adds an email of the block to those found, if it is wanted. */
async function addId(db: Db, head: BlockHead, id: Id, wanted: Bits, found: Bits): Promise<void> {
  if (!isWithin(id, head)) return
  const ordinal = ordinalOf(await readIds(db, head.id), id)
  if (ordinal >= 0 && hasBit(wanted, ordinal)) setBit(found, ordinal)
}

type TextKind = 'subjects' | 'details'

const keyOf = (kind: TextKind, blockId: number) => `${kind} ${blockId}`

async function textsOf(
  reads: SearchSources,
  kind: TextKind,
  heads: readonly BlockHead[],
  sizes: ReadonlyMap<number, number>,
): Promise<Map<number, Texts>> {
  const all = new Map<number, Texts>()
  const missing: number[] = []
  for (const { id } of heads) {
    const cached = reads.texts.get(keyOf(kind, id))
    if (cached) all.set(id, cached)
    else missing.push(id)
  }
  if (missing.length === 0) return all
  const rows = await reads.db
    .selectFrom('emailSegments')
    .select(['id', `${kind} as packed`])
    .where('id', 'in', missing)
    .execute()
  for (const { id, packed } of rows) {
    const texts = unpackTexts(packed, sizes.get(id)!)
    reads.texts.put(keyOf(kind, id), texts)
    all.set(id, texts)
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
