/** Reads one page of an account's emails, newest first, with their total. */
import type { Id } from '../../lib/ids.ts'
import { type Db, EMAIL_LIST_COLUMNS, type EmailRow } from '../../store/model/schema.ts'
import { ID_BYTES, idAt } from '../../store/model/search-index.ts'
import type { EmailFilter, Scope } from './facets.ts'
import { type Found, findMatches, queryOf } from './matches.ts'
import { isBefore, isWithin, listParts, type SearchSources } from './parts.ts'

export interface SearchPage {
  limit: number
  /** Number of emails to skip at the beginning of the page. */
  offset: number
  /** Only emails older than this one. */
  after?: Id | undefined
  /** Only the next emails newer than this one. */
  before?: Id | undefined
}

export type ListedEmail = Pick<EmailRow, (typeof EMAIL_LIST_COLUMNS)[number]>

export interface EmailPage {
  /** Number of all emails that match the filter. */
  total: number
  /** True if there are further emails in the direction of the page. */
  hasMore: boolean
  emails: ListedEmail[]
}

/** Is called in a snapshot. */
export async function listEmails(
  reads: SearchSources,
  scope: Scope,
  filter: EmailFilter,
  page: SearchPage,
): Promise<EmailPage> {
  const parts = await listParts(reads.db, scope.accountId)
  const found = await findMatches(reads, scope, await queryOf(reads.db, scope, filter), parts)
  const { ids, hasMore } = await cutPage(found, page)
  return {
    total: found.reduce((sum, { count }) => sum + count, 0),
    hasMore,
    emails: await readRows(reads.db, scope.accountId, ids),
  }
}

/** @returns the rows, newest first */
export async function readRows(db: Db, accountId: Id, ids: readonly Id[]): Promise<ListedEmail[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('emails')
    .select(EMAIL_LIST_COLUMNS)
    .where('accountId', '=', accountId)
    .where('id', 'in', ids)
    .execute()
  return rows.sort((a, b) => Buffer.compare(b.id, a.id))
}

/** @param found newest first */
async function cutPage(
  found: readonly Found[],
  { limit, offset, after, before }: SearchPage,
): Promise<{ ids: Id[]; hasMore: boolean }> {
  const isUpward = before !== undefined
  const edge = before ?? after
  const wanted = limit + 1
  const ids: Id[] = []
  let skipped = 0
  for (const { part, count, ids: read } of isUpward ? found.toReversed() : found) {
    if (count === 0 || (edge && isBehind(part, edge, isUpward))) continue
    const isWhole = !edge || !isWithin(edge, part)
    if (isWhole && skipped + count <= offset) {
      skipped += count
      continue
    }
    for (const id of inOrder(await read(), isUpward)) {
      if (edge && !(isUpward ? isBefore(edge, id) : isBefore(id, edge))) continue
      if (skipped < offset) skipped++
      else ids.push(id)
      if (ids.length === wanted) break
    }
    if (ids.length === wanted) break
  }
  const hasMore = ids.length === wanted
  if (hasMore) ids.pop()
  return { ids: isUpward ? ids.reverse() : ids, hasMore }
}

type Range = Found['part']

/** True if no email of the part is on the requested side of the edge. */
function isBehind({ afterId, lastId }: Range, edge: Id, isUpward: boolean): boolean {
  return isUpward ? lastId !== null && !isBefore(edge, lastId) : !isBefore(afterId, edge)
}

function* inOrder(ids: Buffer, isUpward: boolean): Iterable<Id> {
  const count = ids.length / ID_BYTES
  for (let i = 0; i < count; i++) yield idAt(ids, isUpward ? i : count - 1 - i)
}
