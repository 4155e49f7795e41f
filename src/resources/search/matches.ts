/**
 * Finds the emails that match a filter, part by part. Index blocks are searched by status, terms and texts,
 * without reading emails. Gaps, and blocks that contain a limit of the creation time, are searched row by
 * row.
 */
import { sameId } from '../../lib/ids.ts'
import type { Db } from '../../store/model/schema.ts'
import { ID_BYTES } from '../../store/model/search-index.ts'
import { visibleSince } from '../emails/visible.ts'
import { countBits } from './bits.ts'
import {
  detailsOf,
  type EmailFilter,
  FACET_COLUMNS,
  type FacetSource,
  foldSubject,
  recipientTerm,
  type Scope,
  type SearchQuery,
  termsOf,
  termsWanted,
} from './facets.ts'
import type { BlockHead, IndexPart, SearchSources } from './parts.ts'
import { idsOf, matchBlocks } from './sealed.ts'
import type { SearchWord } from './words.ts'

/** Matching emails of one part. */
export interface Found {
  part: IndexPart
  count: number
  /** Returns ids of 16 bytes each, ascending. It must be called in the same snapshot. */
  ids(): Promise<Buffer>
}

/** Returns a filter with the terms that the emails of a scope must have for it. */
export async function queryOf(db: Db, scope: Scope, filter: EmailFilter): Promise<SearchQuery> {
  const anyOf = filter.destination === undefined ? undefined : await recipientTermsOf(db, filter.destination)
  return { ...filter, terms: termsWanted(scope, filter), anyOf }
}

/**
 * @param parts consecutive parts, newest first
 * @returns matches in the order of the parts
 */
export async function findMatches(
  reads: SearchSources,
  scope: Scope,
  query: SearchQuery,
  parts: readonly IndexPart[],
): Promise<Found[]> {
  const heads = parts.flatMap(({ block }) => (block && spanOf(block, query) === 'all' ? block : []))
  const sealed = await matchBlocks(reads, scope, query, heads)
  const found: Found[] = []
  for (const part of parts) {
    const bits = part.block && sealed.get(part.block.id)
    if (bits) found.push({ part, count: countBits(bits), ids: () => idsOf(reads.db, part.block!.id, bits) })
    else if (!part.block || spanOf(part.block, query) === 'some') {
      const ids = await matchRows(reads.db, scope, query, part)
      found.push({ part, count: ids.length / ID_BYTES, ids: async () => ids })
    }
  }
  return found
}

/** Returns the terms of the domains that belong to a destination. */
async function recipientTermsOf(db: Db, destination: string): Promise<ReadonlySet<string>> {
  const domains = await db
    .selectFrom('domainDestinations')
    .select('domain')
    .where('destination', '=', destination)
    .execute()
  return new Set(domains.map(({ domain }) => recipientTerm(domain)))
}

/** Tells whether all, some or none of a block's emails were created in the requested period. */
function spanOf({ earliestAt, latestAt }: BlockHead, filter: EmailFilter): 'all' | 'some' | 'none' {
  const { createdFrom = Number.NEGATIVE_INFINITY, createdBefore = Number.POSITIVE_INFINITY } = filter
  if (latestAt < createdFrom || earliestAt >= createdBefore) return 'none'
  return earliestAt >= createdFrom && latestAt < createdBefore ? 'all' : 'some'
}

const ROWS_PER_QUERY_MAX = 2_000

/** @returns ids of the emails of a part, 16 bytes each, ascending */
async function matchRows(db: Db, scope: Scope, query: SearchQuery, part: IndexPart): Promise<Buffer> {
  const found: Buffer[] = []
  for (let afterId = part.afterId; ; ) {
    const rows = await rowsOf(db, scope, query, { ...part, afterId })
    found.push(Buffer.concat(rows.filter(row => hasFacets(row, query)).map(({ id }) => id)))
    if (rows.length < ROWS_PER_QUERY_MAX) return Buffer.concat(found)
    afterId = rows.at(-1)!.id
  }
}

function rowsOf(
  db: Db,
  { accountId, horizon }: Scope,
  { status, subject, words, createdFrom, createdBefore, terms, anyOf }: SearchQuery,
  { afterId, lastId }: IndexPart,
) {
  const isFaceted = subject !== undefined || words || anyOf || terms.length > 0
  let query = db
    .selectFrom('emails')
    .select(['id', ...(isFaceted ? FACET_COLUMNS : [])])
    .where('accountId', '=', accountId)
    .where('id', '>', afterId)
    .where(visibleSince(horizon))
    .orderBy('id')
    .limit(ROWS_PER_QUERY_MAX)
  if (lastId) query = query.where('id', '<=', lastId)
  if (status !== undefined) query = query.where('status', '=', status)
  if (createdFrom !== undefined) query = query.where('createdAt', '>=', createdFrom)
  if (createdBefore !== undefined) query = query.where('createdAt', '<', createdBefore)
  return query.execute()
}

function hasFacets(row: Partial<FacetSource>, { subject, words, terms, anyOf }: SearchQuery): boolean {
  if (subject !== undefined && !foldSubject(row.subject!).includes(subject)) return false
  if (words && !hasWords(row as FacetSource, words)) return false
  if (terms.length === 0 && !anyOf) return true
  const having = termsOf(row as FacetSource)
  return terms.every(term => having.has(term)) && (!anyOf || !having.isDisjointFrom(anyOf))
}

function hasWords(row: FacetSource, words: readonly SearchWord[]): boolean {
  const texts = [foldSubject(row.subject), detailsOf(row)]
  return words.every(
    ({ part, id }) => texts.some(text => text.includes(part)) || (id !== undefined && sameId(id, row.id)),
  )
}
