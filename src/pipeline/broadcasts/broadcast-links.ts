/** How often the links of a broadcast have been followed, as stored. */
import type { Id } from '../../lib/ids.ts'
import { parseText, placeholderText } from '../../resources/templates/parse.ts'
import type { FoundPage } from '../../store/list-page.ts'
import type { BroadcastLinkRow, Db } from '../../store/schema.ts'
import { findParts } from '../tracking/find-links.ts'
import { HOLE } from '../tracking/rewrite-plan-cache.ts'
import { mayBeKey } from './unusual-names.ts'

interface LinksKey {
  accountId: Id
  broadcastId: Id
}

interface LinkRange {
  limit: number
  /** Numbers of links: those between the two. With `before` it is the last of them that are wanted. */
  after?: number | undefined
  before?: number | undefined
}

/** In the order of the page; those that nobody has followed have no row. */
export async function listBroadcastLinks(
  db: Db,
  key: LinksKey,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; rows: BroadcastLinkRow[] }> {
  const rows = await linksOf(db, key).selectAll().orderBy('link').limit(limit).offset(offset).execute()
  return { total: await countLinks(db, key), rows }
}

/**
 * The same by the links' numbers, which need not be there. @returns whether the range has more than the page
 */
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
 * Those that lead each recipient elsewhere.
 *
 * @param html with placeholders
 * @returns by their numbers
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
