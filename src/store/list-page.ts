/** Lists of rows with ids, newest first, a page at a time. */
import type { Id } from '../lib/ids.ts'

export interface ListPage {
  limit: number
  /** Rows to skip; without meaning beside a cursor. */
  offset: number
  /** Shows the rows next to this one, which need not exist any more. */
  cursor: { id: Id; side: 'older' | 'newer' } | null
}

/** What the query of a page says beside whose rows they are; it finds one row more than the page has. */
export function idRange({ limit, offset, cursor }: ListPage) {
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
