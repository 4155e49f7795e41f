/**
 * Search index blocks on SQLite: prepared statements, and in memory how far each account's emails are sealed.
 */
import { type Id, idKey, sameId } from '../../lib/ids.ts'
import {
  BLOCK_EMAILS,
  GONE,
  ID_BYTES,
  type IndexBlockMove,
  type IndexBlockOps,
  type NewIndexBlock,
  ordinalOf,
  statusByte,
  UNSEALED,
} from '../search-index.ts'
import type { SqliteConnection } from './connection.ts'

/** What is known of an account. */
interface Edge {
  /** No segment reaches beyond this id; it may be greater than need be. */
  sealedTo: Id | undefined
  /** Emails that have come since the last announcement. */
  arrivedCount: number
}

interface Covering {
  id: number
  afterId: Id
  lastId: Id
}

const COVERING = `
  select id, after_id as "afterId", last_id as "lastId" from email_segments
  where account_id = +? and last_id >= +? order by last_id limit 1`
const ACCOUNT_EDGES_MAX = 10_000
/** Segments whose ids are remembered, 16 KB each: emails that came together are mostly delivered together. */
const KNOWN_BLOCKS_MAX = 16

export function sqliteSearchIndex(
  connection: SqliteConnection,
  announce: (topic: string, payload: unknown) => void,
): IndexBlockOps {
  const edges = new Map<string, Edge>()
  /** They never change, and no later segment has the same number. */
  const knownIds = new Map<number, Buffer>()
  let lastSegmentId = 0
  /** Never one that was there before: readers keep what they have unpacked by it. */
  const newSegmentId = () => {
    const { last } = connection.prepare('select max(id) as last from email_segments').get() as {
      last: number | null
    }
    lastSegmentId = Math.max(lastSegmentId, last ?? 0) + 1
    return lastSegmentId
  }

  const edgeOf = (accountId: Id): Edge => {
    const key = idKey(accountId)
    const known = edges.get(key)
    if (known) return known
    const { last } = connection
      .prepare('select max(last_id) as last from email_segments where account_id = +?')
      .get(accountId) as { last: Id | null }
    const edge = { sealedTo: last ?? undefined, arrivedCount: 0 }
    if (edges.size >= ACCOUNT_EDGES_MAX) edges.delete(edges.keys().next().value!)
    edges.set(key, edge)
    return edge
  }
  /** The segment an id lies in; undefined beyond the edge and in a gap. */
  const covering = (accountId: Id, id: Id): Covering | undefined => {
    const { sealedTo } = edgeOf(accountId)
    if (sealedTo === undefined || Buffer.compare(id, sealedTo) > 0) return undefined
    const segment = connection.prepare(COVERING).get(accountId, id) as Covering | undefined
    return segment && covers(segment, id) ? segment : undefined
  }

  const idsOf = (segmentId: number): Buffer => {
    const known = knownIds.get(segmentId)
    if (known) return known
    const { ids } = connection.prepare('select ids from email_segments where id = ?').get(segmentId) as {
      ids: Buffer
    }
    if (knownIds.size >= KNOWN_BLOCKS_MAX) knownIds.delete(knownIds.keys().next().value!)
    knownIds.set(segmentId, ids)
    return ids
  }

  return {
    async arrived(emails) {
      for (const { accountId, id } of emails) {
        const segment = covering(accountId, id)
        if (segment) remove(connection, segment.id)
        const edge = edgeOf(accountId)
        if (++edge.arrivedCount < BLOCK_EMAILS && !segment) continue
        edge.arrivedCount = 0
        announce(UNSEALED, accountId)
      }
    },
    async moved(moves) {
      for (const [segmentId, moved] of Map.groupBy(moves, nearBy(covering)))
        if (segmentId !== undefined) setStatuses(connection, segmentId, idsOf(segmentId), moved)
    },
    async seal(segment) {
      const statuses = statusesFor(connection, segment)
      if (!statuses || overlaps(connection, segment)) return false
      insert(connection, newSegmentId(), segment, statuses)
      const edge = edgeOf(segment.accountId)
      if (!edge.sealedTo || Buffer.compare(edge.sealedTo, segment.lastId) < 0) edge.sealedTo = segment.lastId
      return true
    },
  }
}

/** The segment of one after the other: mostly it is the same again, which is not asked for anew. */
function nearBy(covering: (accountId: Id, id: Id) => Covering | undefined) {
  let near: (Covering & { accountId: Id }) | undefined
  return ({ accountId, id }: IndexBlockMove): number | undefined => {
    if (near && sameId(near.accountId, accountId) && covers(near, id)) return near.id
    const segment = covering(accountId, id)
    if (segment) near = { ...segment, accountId }
    return segment?.id
  }
}

function covers({ afterId, lastId }: Covering, id: Id): boolean {
  return Buffer.compare(afterId, id) < 0 && Buffer.compare(id, lastId) <= 0
}

/** A segment of which nothing is left goes altogether. */
function setStatuses(
  connection: SqliteConnection,
  segmentId: number,
  ids: Buffer,
  moves: readonly IndexBlockMove[],
) {
  const { statuses } = connection
    .prepare('select statuses from email_segment_statuses where segment_id = ?')
    .get(segmentId) as { statuses: Buffer }
  for (const { id, status } of moves) {
    const ordinal = ordinalOf(ids, id)
    if (ordinal >= 0) statuses[ordinal] = statusByte(status)
  }
  if (statuses.every(byte => byte === GONE)) return remove(connection, segmentId)
  connection
    .prepare('update email_segment_statuses set statuses = ? where segment_id = ?')
    .run(statuses, segmentId)
}

function remove(connection: SqliteConnection, segmentId: number) {
  connection.prepare('delete from email_terms where segment_id = ?').run(segmentId)
  connection.prepare('delete from email_segment_statuses where segment_id = ?').run(segmentId)
  connection.prepare('delete from email_segments where id = ?').run(segmentId)
}

/** The statuses its emails have now; undefined when there are others in its range. */
function statusesFor(
  connection: SqliteConnection,
  { accountId, afterId, lastId, ids }: NewIndexBlock,
): Buffer | undefined {
  const rows = connection
    .prepare('select id, status from emails where account_id = +? and id > +? and id <= +? order by id')
    .all(accountId, afterId, lastId) as { id: Buffer; status: Parameters<typeof statusByte>[0] }[]
  const same = rows.length === ids.length / ID_BYTES && Buffer.concat(rows.map(({ id }) => id)).equals(ids)
  return same ? Buffer.from(rows.map(({ status }) => statusByte(status))) : undefined
}

function overlaps(connection: SqliteConnection, { accountId, afterId, lastId }: NewIndexBlock): boolean {
  const next = connection
    .prepare(
      'select after_id as "afterId" from email_segments where account_id = +? and last_id > +? order by last_id limit 1',
    )
    .get(accountId, afterId) as { afterId: Id } | undefined
  return next !== undefined && Buffer.compare(next.afterId, lastId) < 0
}

function insert(connection: SqliteConnection, id: number, segment: NewIndexBlock, statuses: Uint8Array) {
  const { accountId, afterId, lastId, earliestAt, latestAt, ids, subjects, terms, ordinals } = segment
  connection
    .prepare(
      `insert into email_segments (id, account_id, after_id, last_id, earliest_at, latest_at, ids, subjects)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(id, accountId, afterId, lastId, earliestAt, latestAt, ids, subjects)
  connection
    .prepare('insert into email_segment_statuses (segment_id, statuses) values (?, ?)')
    .run(id, statuses)
  const insertTerm = connection.prepare(
    'insert into email_terms (segment_id, term, ordinals) values (?, ?, ?)',
  )
  for (const [i, term] of terms.entries()) insertTerm.run(id, term, ordinals[i])
}
