/** An account's suppressions, listed and searched newest first. */
import { sql } from 'kysely'
import type { Id } from '../../lib/ids.ts'
import type { ListPage } from '../list-page.ts'
import { containing } from '../pattern.ts'
import type { Find } from '../read.ts'
import type { Db, SuppressionReason, SuppressionRow } from '../schema.ts'
import { type Direction, type Stretch, type Walk, walkList } from '../stretches.ts'
import { countSuppressions, findSuppression } from './suppressions.ts'

/** What narrows the list down. */
export interface SuppressionFilter {
  reason: SuppressionReason | null
  /** Part of the address, folded, every character literal; empty for any. */
  search: string
}

export type SuppressionPage = ListPage

export interface SuppressionsFound {
  /** Of the whole list, as narrowed down. */
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
  const walkOf = (direction: Direction) => walkOver(db, accountId, filter, direction)
  const { keys, matched, hasMore } = await walkList(walkOf, page, isCounted)
  const rows = await Promise.all(keys.map(email => findSuppression(find, accountId, { email })))
  return {
    total: isCounted ? await countSuppressions(find, accountId, filter.reason) : matched,
    hasMore,
    rows: present(rows),
  }
}

function walkOver(
  db: Db,
  accountId: Id,
  { reason, search }: SuppressionFilter,
  direction: Direction,
): Walk<string> {
  const beyond = direction === 'desc' ? '<' : '>'
  const upTo = direction === 'desc' ? '>=' : '<='
  const within = ({ from, to }: Stretch) => {
    let entries = db.selectFrom('suppressions').where('accountId', '=', accountId)
    if (from) entries = entries.where('id', beyond, from)
    return to ? entries.where('id', upTo, to) : entries
  }
  const matching = (stretch: Stretch) => {
    let entries = within(stretch)
    if (reason !== null) entries = entries.where('reason', '=', reason)
    return search === '' ? entries : entries.where(sql<boolean>`email like ${containing(search)} escape '!'`)
  }
  return {
    async endOf(stretch, length) {
      const entries = within(stretch).select('id').orderBy('id', direction)
      return (
        await entries
          .limit(1)
          .offset(length - 1)
          .executeTakeFirst()
      )?.id
    },
    async count(stretch) {
      const entries = matching(stretch).select(eb => eb.fn.countAll<number>().as('count'))
      return Number((await entries.executeTakeFirstOrThrow()).count)
    },
    async read(stretch, cursor, limit, offset) {
      let entries = matching(stretch).select('email').orderBy('id', direction)
      if (cursor) entries = entries.where('id', beyond, cursor)
      return (await entries.limit(limit).offset(offset).execute()).map(({ email }) => email)
    },
  }
}

/** Without those that were removed in the meantime. */
function present<T>(rows: readonly (T | undefined)[]): T[] {
  return rows.filter(row => row !== undefined)
}
