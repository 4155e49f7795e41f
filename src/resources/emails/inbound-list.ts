/** Lists and searches the received mail of an account, newest first. */
import { type RawBuilder, sql } from 'kysely'
import { firstIdAt, type Id, idKey, lastIdAt } from '../../lib/ids.ts'
import { containing } from '../../store/model/pattern.ts'
import type { InboundMessageRow } from '../../store/model/schema/inbound.ts'
import type { Db } from '../../store/model/schema.ts'
import { scanInChunks } from '../../store/reading/chunked-scan.ts'
import type { ListPage } from '../../store/reading/list-page.ts'
import type { Find } from '../../store/reading/read.ts'
import { areUnread, isUnread } from './inbound-unread.ts'
import { countThreads } from './threads.ts'

/** Filter of the list. */
export interface InboundFilter {
  /** Folded part of the subject, without wildcards; empty for any subject. */
  search: string
  /** Only mail for this domain is listed; null for all domains. */
  domain: string | null
  /** Only unread messages, or only the others; null for all. */
  unread: boolean | null
}

/** Facts about a message that are not a part of it. */
export interface InboundMarks {
  unread: boolean
  /** Number of messages in its conversation, at most `THREAD_MESSAGES_MAX`. */
  threadCount: number
}

interface InboundFound<C extends keyof InboundMessageRow> {
  /** Number of messages that match the filter. */
  total: number
  hasMore: boolean
  /** Newest first. */
  rows: (Pick<InboundMessageRow, C> & InboundMarks)[]
}

/** Kind of the counter of listed messages. */
export const INBOUND_COUNTER = 'inbound'

/** @param horizon epoch ms; messages received at or before it are not listed */
export async function listInbound<C extends keyof InboundMessageRow>(
  { db, find }: { db: Db; find: Find },
  { accountId, horizon }: { accountId: Id; horizon: number },
  filter: InboundFilter,
  page: ListPage,
  columns: readonly C[],
): Promise<InboundFound<C>> {
  const isCounted = isUnfiltered(filter)
  const oldest = lastIdAt(horizon)
  const listed = listing(db, { accountId, horizon }, filter)
  const { keys, matched, hasMore } = await scanInChunks(listed, page, isCounted)
  const rows = await find(
    'inboundMessages',
    keys.map(id => ({ accountId, id })),
    columns,
  )
  const marks = await marksOf({ db, find }, accountId, keys)
  return {
    total: isCounted ? await countInSight(db, accountId, oldest) : matched,
    hasMore,
    rows: rows.flatMap((row, i) => (row ? [{ ...row, ...marks[i]! }] : [])),
  }
}

export async function marksOf(
  { db, find }: { db: Db; find: Find },
  accountId: Id,
  ids: readonly Id[],
): Promise<InboundMarks[]> {
  const [unread, counts] = await Promise.all([
    areUnread(find, accountId, ids),
    countThreads(db, accountId, ids),
  ])
  return ids.map((_, i) => ({ unread: unread[i]!, threadCount: counts[i]! }))
}

/** Tells whether a list has all messages, so that it is read without a scan. */
export function isUnfiltered({ search, domain, unread }: InboundFilter): boolean {
  return search === '' && domain === null && unread === null
}

/** Subtracts messages before the horizon, which are few since they are about to be deleted. */
async function countInSight(db: Db, accountId: Id, oldest: Id): Promise<number> {
  const all = await db
    .selectFrom('counters')
    .select('count')
    .where('accountId', '=', accountId)
    .where('kind', '=', INBOUND_COUNTER)
    .where('period', '=', '')
    .executeTakeFirst()
  const { count } = await db
    .selectFrom('inboundSubjects')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('accountId', '=', accountId)
    .where('id', '<=', oldest)
    .executeTakeFirstOrThrow()
  return Math.max(0, (all?.count ?? 0) - Number(count))
}

function listing(
  db: Db,
  { accountId, horizon }: { accountId: Id; horizon: number },
  { search, domain, unread }: InboundFilter,
) {
  const all = () => db.selectFrom('inboundSubjects').where('accountId', '=', accountId)
  const entries = () => (unread === true ? all().where(isUnread) : all())
  const conditions = [
    ...(unread === false ? [sql<boolean>`unread = 0`] : []),
    ...(domain === null ? [] : [sql<boolean>`domains like ${containing(` ${domain} `)} escape '!'`]),
    ...(search === '' ? [] : [sql<boolean>`subject like ${containing(search)} escape '!'`]),
  ]
  return {
    entries,
    key: 'id' as const,
    range: { oldest: firstIdAt(horizon + 1) },
    matching(those: ReturnType<typeof entries>) {
      if (conditions.length === 0) return those
      const wanted = sql<boolean>`${sql.join(conditions, sql` and `)}`
      return those.where(unread === true ? whoseRow(wanted) : wanted)
    },
  }
}

/**
 * Reads the other columns of unread messages by their key. If the query itself had conditions on them, SQLite
 * would read every message instead of the index of the unread ones.
 */
function whoseRow(condition: RawBuilder<boolean>) {
  return sql<boolean>`exists (
    select 1 from inbound_subjects as whole
    where whole.account_id = inbound_subjects.account_id and whole.id = inbound_subjects.id and ${condition})`
}

/**
 * Tells whether a message is listed, after the account's horizon and, for a credential bound to a domain, for
 * this domain.
 */
export function isInSight(
  row: Pick<InboundMessageRow, 'id' | 'listedAt' | 'recipients'>,
  { horizon, domain }: { horizon: number; domain: string | null },
): boolean {
  if (row.listedAt === null || idKey(row.id) <= idKey(lastIdAt(horizon))) return false
  if (domain === null) return true
  return (JSON.parse(row.recipients) as string[]).some(address => address.endsWith(`@${domain}`))
}
