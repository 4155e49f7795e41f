/**
 * Walks an account's suppressions, newest first. A million of them are no list to look through in one go: it is done
 * in stretches, between which whatever else is to be read gets its turn.
 */
import { sql } from 'kysely'
import type { Id } from '../lib/ids.ts'
import { containing } from './pattern.ts'
import type { Find } from './read.ts'
import type { Db, SuppressionReason, SuppressionRow } from './schema.ts'
import { countSuppressions, findSuppression } from './suppressions.ts'

/** What narrows the list down. */
export interface SuppressionFilter {
  reason: SuppressionReason | null
  /** Part of the address, folded, every character literal; empty for any. */
  search: string
}

export interface SuppressionPage {
  limit: number
  /** Entries to skip; without meaning beside a cursor. */
  offset: number
  /** Shows the entries next to this one, which need not exist any more. */
  cursor: { id: Id; side: 'older' | 'newer' } | null
}

export interface SuppressionsFound {
  /** Of the whole list, as narrowed down. */
  total: number
  hasMore: boolean
  /** Newest first. */
  rows: SuppressionRow[]
}

/** Entries beyond `from` up to `to`, in the direction of the walk. */
interface Stretch {
  from: Id | undefined
  to: Id | undefined
}

/** About 2 ms of searching. */
const STRETCH_ENTRIES = 10_000

export async function listSuppressions(
  { db, find }: { db: Db; find: Find },
  accountId: Id,
  filter: SuppressionFilter,
  { limit, offset, cursor }: SuppressionPage,
): Promise<SuppressionsFound> {
  const isCounted = filter.search === ''
  const walk = walkOf(db, accountId, cursor?.side === 'newer' ? 'asc' : 'desc')
  const wanted = limit + 1
  const emails: string[] = []
  let matched = 0
  let stretch: Stretch | undefined = { from: isCounted ? cursor?.id : undefined, to: undefined }
  while (stretch) {
    stretch.to = await walk.endOf(stretch)
    const found: number = await walk.count(stretch, filter)
    const skipped = cursor ? 0 : Math.max(0, offset - matched)
    if (found > skipped && emails.length < wanted)
      emails.push(...(await walk.read(stretch, filter, cursor?.id, wanted - emails.length, skipped)))
    matched += found
    stretch =
      stretch.to && !(isCounted && emails.length === wanted) ? { from: stretch.to, to: undefined } : undefined
    if (stretch) await new Promise(setImmediate)
  }
  const rows = await Promise.all(
    emails.slice(0, limit).map(email => findSuppression(find, accountId, { email })),
  )
  return {
    total: isCounted ? await countSuppressions(find, accountId, filter.reason) : matched,
    hasMore: emails.length > limit,
    rows: present(cursor?.side === 'newer' ? rows.reverse() : rows),
  }
}

function walkOf(db: Db, accountId: Id, direction: 'asc' | 'desc') {
  const beyond = direction === 'desc' ? '<' : '>'
  const upTo = direction === 'desc' ? '>=' : '<='
  const within = ({ from, to }: Stretch) => {
    let entries = db.selectFrom('suppressions').where('accountId', '=', accountId)
    if (from) entries = entries.where('id', beyond, from)
    return to ? entries.where('id', upTo, to) : entries
  }
  const matching = (stretch: Stretch, { reason, search }: SuppressionFilter) => {
    let entries = within(stretch)
    if (reason !== null) entries = entries.where('reason', '=', reason)
    return search === '' ? entries : entries.where(sql<boolean>`email like ${containing(search)} escape '!'`)
  }
  return {
    /** The last entry of a stretch, or undefined when it is shorter than others. */
    async endOf(stretch: Stretch): Promise<Id | undefined> {
      const entries = within(stretch).select('id').orderBy('id', direction)
      return (
        await entries
          .limit(1)
          .offset(STRETCH_ENTRIES - 1)
          .executeTakeFirst()
      )?.id
    },
    async count(stretch: Stretch, filter: SuppressionFilter): Promise<number> {
      const entries = matching(stretch, filter).select(eb => eb.fn.countAll<number>().as('count'))
      return Number((await entries.executeTakeFirstOrThrow()).count)
    },
    async read(
      stretch: Stretch,
      filter: SuppressionFilter,
      cursor: Id | undefined,
      limit: number,
      offset: number,
    ): Promise<string[]> {
      let entries = matching(stretch, filter).select('email').orderBy('id', direction)
      if (cursor) entries = entries.where('id', beyond, cursor)
      return (await entries.limit(limit).offset(offset).execute()).map(({ email }) => email)
    },
  }
}

/** Without those that were removed in the meantime. */
function present<T>(rows: readonly (T | undefined)[]): T[] {
  return rows.filter(row => row !== undefined)
}
