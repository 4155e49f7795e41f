/**
 * Splits the emails of an account into consecutive parts, newest first: index blocks, and the gaps between
 * and beyond them.
 */
import type { Id } from '../../lib/ids.ts'
import type { Db, EmailSegmentRow } from '../../store/model/schema.ts'
import type { TextCache } from './texts.ts'

/** The sources of a search. */
export interface SearchSources {
  /** In a snapshot. */
  db: Db
  texts: TextCache
}

export type BlockHead = Pick<EmailSegmentRow, 'id' | 'afterId' | 'lastId' | 'earliestAt' | 'latestAt'>

/** Emails with ids greater than `afterId`, up to and including `lastId`. */
export interface IndexPart {
  afterId: Id
  /** Null for emails newer than all blocks. */
  lastId: Id | null
  /** Undefined for a gap, which may be empty. */
  block?: BlockHead
}

const FIRST_ID: Id = new Uint8Array(16)

export async function listParts(db: Db, accountId: Id): Promise<IndexPart[]> {
  const blocks = await db
    .selectFrom('emailSegments')
    .select(['id', 'afterId', 'lastId', 'earliestAt', 'latestAt'])
    .where('accountId', '=', accountId)
    .orderBy('lastId')
    .execute()
  const parts: IndexPart[] = []
  let edge = FIRST_ID
  for (const block of blocks) {
    const { afterId, lastId } = block
    if (isBefore(edge, afterId)) parts.push({ afterId: edge, lastId: afterId })
    parts.push({ afterId, lastId, block })
    edge = lastId
  }
  parts.push({ afterId: edge, lastId: null })
  return parts.reverse()
}

/** Tells whether an id is in a part. */
export function isWithin(id: Id, { afterId, lastId }: Pick<IndexPart, 'afterId' | 'lastId'>): boolean {
  return isBefore(afterId, id) && (lastId === null || !isBefore(lastId, id))
}

/** Ids sort by creation time. */
export function isBefore(a: Id, b: Id): boolean {
  return Buffer.compare(a, b) < 0
}
