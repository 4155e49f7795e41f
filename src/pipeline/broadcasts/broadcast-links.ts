/** The links of a broadcast: their click counts as stored, and their URLs as the author has written them. */
import type { Id } from '../../lib/ids.ts'
import { parseText, placeholderText } from '../../resources/templates/parse.ts'
import type { BroadcastLinkRow, Db } from '../../store/model/schema.ts'
import type { FoundPage } from '../../store/reading/list-page.ts'
import { findParts } from '../tracking/find-links.ts'
import { HOLE } from '../tracking/rewrite-plan-cache.ts'
import { mayBeKey } from './unusual-names.ts'

interface LinksKey {
  accountId: Id
  broadcastId: Id
}

interface LinkRange {
  limit: number
  /** Link numbers that bound the range. With `before`, the page is the end of the range. */
  after?: number | undefined
  before?: number | undefined
}

/** Links in the order of the HTML. A link without clicks has no row. */
export async function listBroadcastLinks(
  db: Db,
  key: LinksKey,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; rows: BroadcastLinkRow[] }> {
  const rows = await linksOf(db, key).selectAll().orderBy('link').limit(limit).offset(offset).execute()
  return { total: await countLinks(db, key), rows }
}

/** Links in a range of numbers. `hasMore` tells whether the range has more links than the page. */
export async function rangeBroadcastLinks(
  db: Db,
  key: LinksKey,
  { limit, after, before }: LinkRange,
): Promise<FoundPage<BroadcastLinkRow>> {
  let range = linksOf(db, key)
  if (after !== undefined) range = range.where('link', '>', after)
  if (before !== undefined) range = range.where('link', '<', before)
  const found = await range
    .selectAll()
    .orderBy('link', before === undefined ? 'asc' : 'desc')
    .limit(limit + 1)
    .execute()
  const rows = found.slice(0, limit)
  return {
    total: await countLinks(db, key),
    hasMore: found.length > limit,
    rows: before === undefined ? rows : rows.reverse(),
  }
}

function linksOf(db: Db, { accountId, broadcastId }: LinksKey) {
  return db
    .selectFrom('broadcastLinks')
    .where('broadcastId', '=', broadcastId)
    .where('accountId', '=', accountId)
}

async function countLinks(db: Db, key: LinksKey): Promise<number> {
  const { total } = await linksOf(db, key)
    .select(eb => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}

/**
 * Finds links that differ by recipient, because their URL contains placeholders.
 * @param html is the content with placeholders
 * @returns the URLs as written, by link number
 */
export function personalLinks(html: string): ReadonlyMap<number, string> {
  const { literals, placeholders } = parseText(html, mayBeKey)
  if (placeholders.length === 0) return new Map()
  const { hrefs } = findParts(literals.join(HOLE))
  let hole = 0
  let holeAt = literals[0]!.length
  return new Map(
    hrefs.flatMap(({ start, end, number, value }) => {
      const names: string[] = []
      for (; hole < placeholders.length && holeAt < end; hole++) {
        if (holeAt >= start) names.push(placeholderText(placeholders[hole]!))
        holeAt += HOLE.length + literals[hole + 1]!.length
      }
      let next = 0
      return names.length > 0
        ? [[number, value.replaceAll(HOLE, character => names[next++] ?? character)]]
        : []
    }),
  )
}
