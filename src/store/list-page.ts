/** Pagination of lists of rows with ids, newest first. */
import type { SelectQueryBuilder } from 'kysely'
import type { Id } from '../lib/ids.ts'
import type { Schema } from './schema.ts'

export interface ListPage {
  limit: number
  /** Rows to skip; without meaning beside a cursor. */
  offset: number
  /** Shows the rows next to this one, which need not exist any more. */
  cursor: { id: Id; side: 'older' | 'newer' } | null
}

export interface FoundPage<T> {
  /** On all pages. */
  total: number
  hasMore: boolean
  rows: T[]
}

/** A query of rows that have ids, as far as it is needed to cut a page from them. */
interface IdQuery<T> {
  where(column: 'id', sign: '<' | '>', id: Id): IdQuery<T>
  orderBy(column: 'id', order: 'asc' | 'desc'): IdQuery<T>
  limit(limit: number): IdQuery<T>
  offset(offset: number): IdQuery<T>
  execute(): Promise<T[]>
}

/** @param all the rows of the list, which are counted @param shown the same, with what is selected of each */
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

/** What the query of a page says beside whose rows they are; it finds one row more than the page has. */
function idRange({ limit, offset, cursor }: ListPage) {
  const isUpwards = cursor?.side === 'newer'
  return {
    order: isUpwards ? ('asc' as const) : ('desc' as const),
    limit: limit + 1,
    offset: cursor ? 0 : offset,
    beyond: cursor && { sign: isUpwards ? ('>' as const) : ('<' as const), id: cursor.id },
  }
}

/** The page, of what its query has found. */
export function cutFound<T>(
  found: readonly T[],
  { limit, cursor }: ListPage,
): { rows: T[]; hasMore: boolean } {
  const rows = found.slice(0, limit)
  return { rows: cursor?.side === 'newer' ? rows.reverse() : rows, hasMore: found.length > limit }
}
