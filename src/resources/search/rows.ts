/** Finds emails row by row, where no segment tells of them. */

import type { Db } from '../../store/schema.ts'
import { visibleSince } from '../emails/visible.ts'
import { type Asked, FACET_COLUMNS, type FacetSource, foldSubject, type Scope, termsOf } from './facets.ts'
import type { IndexPart } from './parts.ts'

const ROWS_AT_ONCE = 2_000

/** Ids of the emails of a part, 16 bytes each, ascending. */
export async function matchRows(db: Db, scope: Scope, asked: Asked, part: IndexPart): Promise<Buffer> {
  const found: Buffer[] = []
  for (let afterId = part.afterId; ; ) {
    const rows = await rowsOf(db, scope, asked, { ...part, afterId })
    found.push(Buffer.concat(rows.filter(row => hasFacets(row, asked)).map(({ id }) => id)))
    if (rows.length < ROWS_AT_ONCE) return Buffer.concat(found)
    afterId = rows.at(-1)!.id
  }
}

function rowsOf(
  db: Db,
  { accountId, horizon }: Scope,
  { status, subject, createdFrom, createdBefore, terms }: Asked,
  { afterId, lastId }: IndexPart,
) {
  const isFaceted = subject !== undefined || terms.length > 0
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

function hasFacets(row: Partial<FacetSource>, { subject, terms }: Asked): boolean {
  if (subject !== undefined && !foldSubject(row.subject!).includes(subject)) return false
  if (terms.length === 0) return true
  const having = termsOf(row as FacetSource)
  return terms.every(term => having.has(term))
}
