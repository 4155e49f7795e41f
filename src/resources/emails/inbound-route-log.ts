/**
 * Log of the routes of received mail: one entry for each recipient that a route matched. Entries are written
 * in the transaction that lists or drops the message, and deleted after the retention of their account.
 */
import { firstIdAt, type Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { InboundRouteLogRow } from '../../store/model/schema/inbound.ts'
import type { Db } from '../../store/model/schema.ts'
import { scanInChunks } from '../../store/reading/chunked-scan.ts'
import type { FoundPage, ListPage } from '../../store/reading/list-page.ts'
import type { Find } from '../../store/reading/read.ts'

/** What a route did with a message for one recipient. */
export type RouteLogEntry = Pick<
  InboundRouteLogRow,
  'routeId' | 'recipient' | 'outcome' | 'reason' | 'emailId'
>

const COLUMNS = [
  'accountId',
  'id',
  'routeId',
  'createdAt',
  'messageId',
  'sender',
  'recipient',
  'subject',
  'outcome',
  'reason',
  'emailId',
] as const

/** Is called in a transaction. */
export async function logRoutes(
  tx: Tx,
  message: Pick<InboundRouteLogRow, 'accountId' | 'messageId' | 'sender' | 'subject'> & { at: number },
  entries: readonly RouteLogEntry[],
): Promise<void> {
  const { at, ...common } = message
  const rows = entries.map(entry => ({ ...common, id: tx.newId(at), createdAt: at, ...entry }))
  if (rows.length > 0) await tx.rows.insert('inboundRouteLog', rows)
}

/**
 * Lists the log of a route, newest first.
 * @param horizon epoch ms; entries of that time or before are not listed
 */
export async function listRouteLog(
  { db, find }: { db: Db; find: Find },
  { accountId, routeId, horizon }: { accountId: Id; routeId: Id; horizon: number },
  page: ListPage,
): Promise<FoundPage<InboundRouteLogRow>> {
  const entries = () =>
    db.selectFrom('inboundRouteLog').where('accountId', '=', accountId).where('routeId', '=', routeId)
  const { keys, matched, hasMore } = await scanInChunks(
    {
      entries,
      matching: those => those,
      key: 'id' as const,
      range: { oldest: firstIdAt(horizon + 1) },
    },
    page,
    false,
  )
  const rows = await find(
    'inboundRouteLog',
    keys.map(id => ({ accountId, id })),
    COLUMNS,
  )
  return { total: matched, hasMore, rows: rows.filter(row => row !== undefined) }
}

export const inboundRouteLogCommands = {
  /**
   * Deletes entries with lower ids than `before`, oldest first, at most `limit`.
   * @returns the number of deleted entries
   */
  forgetRouteLog: command<{ accountId: Id; before: Id; limit: number }, number>(
    async ({ db }, { accountId, before, limit }) => {
      const old = await db
        .selectFrom('inboundRouteLog')
        .select('id')
        .where('accountId', '=', accountId)
        .where('id', '<', before)
        .orderBy('id')
        .limit(limit)
        .execute()
      const last = old.at(-1)
      if (!last) return 0
      await db
        .deleteFrom('inboundRouteLog')
        .where('accountId', '=', accountId)
        .where('id', '<=', last.id)
        .execute()
      return old.length
    },
  ),
}
