/** Lists and searches the received mail of an account, newest first. */
import { sql } from 'kysely'
import { firstIdAt, type Id, idKey, lastIdAt } from '../../lib/ids.ts'
import { containing } from '../../store/model/pattern.ts'
import type { InboundMessageRow } from '../../store/model/schema/inbound.ts'
import type { Db } from '../../store/model/schema.ts'
import { scanInChunks } from '../../store/reading/chunked-scan.ts'
import type { ListPage } from '../../store/reading/list-page.ts'
import type { Find } from '../../store/reading/read.ts'

/** Filter of the list. */
interface InboundFilter {
  /** Folded part of the subject, without wildcards; empty for any subject. */
  search: string
  /** Only mail for this domain is listed; null for all domains. */
  domain: string | null
}

interface InboundFound<C extends keyof InboundMessageRow> {
  /** Number of messages that match the filter. */
  total: number
  hasMore: boolean
  /** Newest first. */
  rows: Pick<InboundMessageRow, C>[]
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
  const isCounted = filter.search === '' && filter.domain === null
  const oldest = lastIdAt(horizon)
  const listed = listing(db, { accountId, horizon }, filter)
  const { keys, matched, hasMore } = await scanInChunks(listed, page, isCounted)
  const rows = await find(
    'inboundMessages',
    keys.map(id => ({ accountId, id })),
    columns,
  )
  return {
    total: isCounted ? await countInSight(db, accountId, oldest) : matched,
    hasMore,
    rows: rows.filter(row => row !== undefined),
  }
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
  { search, domain }: InboundFilter,
) {
  const entries = () => db.selectFrom('inboundSubjects').where('accountId', '=', accountId)
  return {
    entries,
    key: 'id' as const,
    range: { oldest: firstIdAt(horizon + 1) },
    matching(those: ReturnType<typeof entries>) {
      const ofDomain =
        domain === null
          ? those
          : those.where(sql<boolean>`domains like ${containing(` ${domain} `)} escape '!'`)
      if (search === '') return ofDomain
      return ofDomain.where(sql<boolean>`subject like ${containing(search)} escape '!'`)
    },
  }
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
