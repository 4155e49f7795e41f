/** Lists and searches the suppressions of an account, newest first. */
import { sql } from 'kysely'
import type { Id } from '../../lib/ids.ts'
import { containing } from '../../store/model/pattern.ts'
import type { Db, SuppressionReason, SuppressionRow } from '../../store/model/schema.ts'
import { scanInChunks } from '../../store/reading/chunked-scan.ts'
import type { ListPage } from '../../store/reading/list-page.ts'
import type { Find } from '../../store/reading/read.ts'
import { countSuppressions, findSuppression } from './suppression-rows.ts'

/** Filter of the list. */
export interface SuppressionFilter {
  reason: SuppressionReason | null
  /** Folded part of the address, without wildcards; empty for any address. */
  search: string
}

export type SuppressionPage = ListPage

interface SuppressionsFound {
  /** Number of entries that match the filter. */
  total: number
  hasMore: boolean
  /** Newest first. */
  rows: SuppressionRow[]
}

export async function listSuppressions(
  { db, find }: { db: Db; find: Find },
  accountId: Id,
  filter: SuppressionFilter,
  page: SuppressionPage,
): Promise<SuppressionsFound> {
  const isCounted = filter.search === ''
  const { keys, matched, hasMore } = await scanInChunks(listing(db, accountId, filter), page, isCounted)
  const rows = await Promise.all(keys.map(email => findSuppression(find, accountId, { email })))
  return {
    total: isCounted ? await countSuppressions(find, accountId, filter.reason) : matched,
    hasMore,
    rows: present(rows),
  }
}

/** Entries of one read of an export. */
const EXPORT_ENTRIES = 1_000

/**
 * Reads entries in the order of their addresses.
 * @param reason null for all reasons
 * @param after last address of the read before; empty at first
 */
export function suppressionsAfter(
  db: Db,
  accountId: Id,
  reason: SuppressionReason | null,
  after: string,
): Promise<Pick<SuppressionRow, 'email' | 'reason' | 'createdAt'>[]> {
  return db
    .selectFrom('suppressions')
    .select(['email', 'reason', 'createdAt'])
    .where('accountId', '=', accountId)
    .where('email', '>', after)
    .$if(reason !== null, query => query.where('reason', '=', reason!))
    .orderBy('email')
    .limit(EXPORT_ENTRIES)
    .execute()
}

function listing(db: Db, accountId: Id, { reason, search }: SuppressionFilter) {
  const entries = () => db.selectFrom('suppressions').where('accountId', '=', accountId)
  return {
    entries,
    key: 'email' as const,
    matching(those: ReturnType<typeof entries>) {
      const withReason = reason === null ? those : those.where('reason', '=', reason)
      if (search === '') return withReason
      return withReason.where(sql<boolean>`email like ${containing(search)} escape '!'`)
    },
  }
}

/** Leaves out entries that were removed after their keys were read. */
function present<T>(rows: readonly (T | undefined)[]): T[] {
  return rows.filter(row => row !== undefined)
}
