/** Reads stored broadcasts. */

import { sql } from 'kysely'
import { foldText } from '../../lib/fold-text.ts'
import type { Id } from '../../lib/ids.ts'
import { type Content, decodeContent } from '../../resources/emails/content.ts'
import { containing } from '../../store/model/pattern.ts'
import type { BroadcastRow, BroadcastStatus, Db } from '../../store/model/schema.ts'
import { type FoundPage, findPage, type ListPage } from '../../store/reading/list-page.ts'

/** Announcement topic; the message is the time of a broadcast's next step, in ms since the epoch. */
export const BROADCAST_DUE = 'broadcast'

/** A broadcast with the content that its author has written. */
export type StoredBroadcast = BroadcastRow & Content

/** Reads row and content in one query, so that both are of the same commit. */
export async function findBroadcast(db: Db, accountId: Id, id: Id): Promise<StoredBroadcast | undefined> {
  const row = await db
    .selectFrom('broadcasts')
    .innerJoin('contents', 'contents.id', 'broadcasts.contentId')
    .selectAll('broadcasts')
    .select(['encoding', 'body'])
    .where('accountId', '=', accountId)
    .where('broadcasts.id', '=', id)
    .executeTakeFirst()
  if (!row) return undefined
  const { encoding, body, ...broadcast } = row
  return { ...broadcast, ...decodeContent({ encoding, body }) }
}

export interface BroadcastPage extends ListPage {
  /** Substring of the name; empty for any. */
  search: string
  status?: BroadcastStatus | undefined
}

export async function listBroadcasts(
  db: Db,
  accountId: Id,
  { search, status, ...page }: BroadcastPage,
): Promise<FoundPage<BroadcastRow>> {
  let wanted = db.selectFrom('broadcasts').where('accountId', '=', accountId)
  if (search !== '')
    wanted = wanted.where(sql<boolean>`folded_name like ${containing(foldText(search))} escape '!'`)
  if (status !== undefined) wanted = wanted.where('status', '=', status)
  return findPage(wanted, wanted.selectAll(), page)
}

/**
 * Returns the broadcast whose next step has been due for longest, and the time of the next step of any
 * broadcast.
 */
export async function findDueBroadcast(
  db: Db,
  now: number,
): Promise<{ due: BroadcastRow | undefined; nextAt: number | null }> {
  const first = await db
    .selectFrom('broadcasts')
    .selectAll()
    .where('nextAt', 'is not', null)
    .orderBy('nextAt')
    .limit(1)
    .executeTakeFirst()
  return { due: first && first.nextAt! <= now ? first : undefined, nextAt: first?.nextAt ?? null }
}
