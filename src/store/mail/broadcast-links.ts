/** How often the links of a broadcast have been followed, as stored. */
import type { Id } from '../../lib/ids.ts'
import type { BroadcastLinkRow, Db } from '../schema.ts'

/** In the order of the page; those that nobody has followed have no row. */
export async function listBroadcastLinks(
  db: Db,
  { accountId, broadcastId }: { accountId: Id; broadcastId: Id },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; rows: BroadcastLinkRow[] }> {
  const own = db
    .selectFrom('broadcastLinks')
    .where('broadcastId', '=', broadcastId)
    .where('accountId', '=', accountId)
  const { total } = await own.select(eb => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const rows = await own.selectAll().orderBy('link').limit(limit).offset(offset).execute()
  return { total: Number(total), rows }
}
