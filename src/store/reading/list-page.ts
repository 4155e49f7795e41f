/** Pagination of lists of rows with ids, newest first. */
import type { SelectQueryBuilder } from 'kysely'
import type { Id } from '../../lib/ids.ts'
import type { Schema } from '../model/schema.ts'

export interface ListPage {
  limit: number
  /** Number of rows to skip. A cursor takes precedence. */
  offset: number
  /** The page begins next to this row, which may have been deleted. */
  cursor: { id: Id; side: 'older' | 'newer' } | null
}

export interface FoundPage<T> {
  /** Number of rows on all pages. */
  total: number
  hasMore: boolean
  rows: T[]
}

/** Part of a query builder that cutting a page needs. */
interface IdQuery<T> {
  where(column: 'id', sign: '<' | '>', id: Id): IdQuery<T>
  orderBy(column: 'id', order: 'asc' | 'desc'): IdQuery<T>
  limit(limit: number): IdQuery<T>
  offset(offset: number): IdQuery<T>
  execute(): Promise<T[]>
}

/**
 * @param all query over all rows of the list, which are counted
 * @param shown the same query with the selected columns
 */
export async function findPage<Table extends keyof Schema, T>(
  all: SelectQueryBuilder<Schema, Table, object>,
  shown: IdQuery<T>,
  page: ListPage,
): Promise<FoundPage<T>> {
  const { total } = await all
    .select(eb => eb.fn.countAll<number>().as('total'))
    .$castTo<{ total: number }>()
    .executeTakeFirstOrThrow()
  const { order, limit, offset, beyond } = idRange(page)
  const next = beyond ? shown.where('id', beyond.sign, beyond.id) : shown
  const found = await next.orderBy('id', order).limit(limit).offset(offset).execute()
  return { total: Number(total), ...cutFound(found, page) }
}

/** Range of the query of a page. The query finds one row more than the page contains. */
function idRange({ limit, offset, cursor }: ListPage) {
  const isUpwards = cursor?.side === 'newer'
  return {
    order: isUpwards ? ('asc' as const) : ('desc' as const),
    limit: limit + 1,
    offset: cursor ? 0 : offset,
    beyond: cursor && { sign: isUpwards ? ('>' as const) : ('<' as const), id: cursor.id },
  }
}

/** Cuts the page from the rows that its query has found. */
export function cutFound<T>(
  found: readonly T[],
  { limit, cursor }: ListPage,
): { rows: T[]; hasMore: boolean } {
  const rows = found.slice(0, limit)
  return { rows: cursor?.side === 'newer' ? rows.reverse() : rows, hasMore: found.length > limit }
}
