/**
 * An account's emails as a row of parts, newest first: sealed segments, and the gaps between and beyond them.
 */
import type { Id } from '../../lib/ids.ts'
import type { Db, EmailSegmentRow } from '../../store/schema.ts'
import type { SubjectCache } from './subjects.ts'

/** What questions are answered from. */
export interface Reads {
  /** In a snapshot. */
  db: Db
  subjects: SubjectCache
}

export type SegmentHead = Pick<EmailSegmentRow, 'id' | 'afterId' | 'lastId' | 'earliestAt' | 'latestAt'>

/** The emails whose ids are greater than `afterId`, up to and with `lastId`. */
export interface IndexPart {
  afterId: Id
  /** Null for what is newer than all segments. */
  lastId: Id | null
  /** Undefined for a gap, in which there may be emails, or none. */
  segment?: SegmentHead
}

const FIRST_ID: Id = new Uint8Array(16)

export async function listParts(db: Db, accountId: Id): Promise<IndexPart[]> {
  const segments = await db
    .selectFrom('emailSegments')
    .select(['id', 'afterId', 'lastId', 'earliestAt', 'latestAt'])
    .where('accountId', '=', accountId)
    .orderBy('lastId')
    .execute()
  const parts: IndexPart[] = []
  let edge = FIRST_ID
  for (const segment of segments) {
    const { afterId, lastId } = segment
    if (isBefore(edge, afterId)) parts.push({ afterId: edge, lastId: afterId })
    parts.push({ afterId, lastId, segment })
    edge = lastId
  }
  parts.push({ afterId: edge, lastId: null })
  return parts.reverse()
}

/** Whether an id is one of those a part stands for. */
export function isWithin(id: Id, { afterId, lastId }: Pick<IndexPart, 'afterId' | 'lastId'>): boolean {
  return isBefore(afterId, id) && (lastId === null || !isBefore(lastId, id))
}

/** Ids order emails by the time they were made. */
export function isBefore(a: Id, b: Id): boolean {
  return Buffer.compare(a, b) < 0
}
