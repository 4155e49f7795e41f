/**
 * Search index blocks on SQLite. For each account, the writer keeps in memory up to which id emails are
 * sealed.
 */

import { BoundedMap } from '../../lib/bounded-map.ts'
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
} from '../model/search-index.ts'
import type { SqliteConnection } from './connection.ts'

/** State of an account. */
interface Edge {
  /** Upper bound of the ids in index blocks. It may be greater than necessary. */
  sealedTo: Id | undefined
  /** Number of emails stored since the last announcement. */
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
/**
 * Number of index blocks whose ids are cached, 16 KB each. Emails that arrive together are mostly delivered
 * together.
 */
const KNOWN_BLOCKS_MAX = 16

export class SqliteSearchIndex implements IndexBlockOps {
  readonly #connection: SqliteConnection
  readonly #announce: (topic: string, payload: unknown) => void
  readonly #edges = new BoundedMap<string, Edge>(ACCOUNT_EDGES_MAX)
  /** Ids by index block. They never change, and numbers of index blocks are not reused. */
  readonly #knownIds = new BoundedMap<number, Buffer>(KNOWN_BLOCKS_MAX)
  #lastSegmentId = 0

  constructor(connection: SqliteConnection, announce: (topic: string, payload: unknown) => void) {
    this.#connection = connection
    this.#announce = announce
  }

  async arrived(emails: Parameters<IndexBlockOps['arrived']>[0]): Promise<void> {
    for (const { accountId, id } of emails) {
      const segment = this.#covering(accountId, id)
      if (segment) remove(this.#connection, segment.id)
      const edge = this.#edgeOf(accountId)
      if (++edge.arrivedCount < BLOCK_EMAILS && !segment) continue
      edge.arrivedCount = 0
      this.#announce(UNSEALED, accountId)
    }
  }

  async moved(moves: Parameters<IndexBlockOps['moved']>[0]): Promise<void> {
    const near = nearBy((accountId, id) => this.#covering(accountId, id))
    for (const [segmentId, moved] of Map.groupBy(moves, near))
      if (segmentId !== undefined) setStatuses(this.#connection, segmentId, this.#idsOf(segmentId), moved)
  }

  async seal(segment: Parameters<IndexBlockOps['seal']>[0]): Promise<boolean> {
    const statuses = statusesFor(this.#connection, segment)
    if (!statuses || overlaps(this.#connection, segment)) return false
    insert(this.#connection, this.#newSegmentId(), segment, statuses)
    const edge = this.#edgeOf(segment.accountId)
    if (!edge.sealedTo || Buffer.compare(edge.sealedTo, segment.lastId) < 0) edge.sealedTo = segment.lastId
    return true
  }

  /** Returns a number that no index block has had, because readers cache unpacked blocks by number. */
  #newSegmentId(): number {
    const { last } = this.#connection.prepare('select max(id) as last from email_segments').get() as {
      last: number | null
    }
    this.#lastSegmentId = Math.max(this.#lastSegmentId, last ?? 0) + 1
    return this.#lastSegmentId
  }

  #edgeOf(accountId: Id): Edge {
    const key = idKey(accountId)
    const known = this.#edges.get(key)
    if (known) return known
    const { last } = this.#connection
      .prepare('select max(last_id) as last from email_segments where account_id = +?')
      .get(accountId) as { last: Id | null }
    const edge = { sealedTo: last ?? undefined, arrivedCount: 0 }
    this.#edges.set(key, edge)
    return edge
  }

  /** Returns the index block that contains an id; undefined beyond the last block and in a gap. */
  #covering(accountId: Id, id: Id): Covering | undefined {
    const { sealedTo } = this.#edgeOf(accountId)
    if (sealedTo === undefined || Buffer.compare(id, sealedTo) > 0) return undefined
    const segment = this.#connection.prepare(COVERING).get(accountId, id) as Covering | undefined
    return segment && covers(segment, id) ? segment : undefined
  }

  #idsOf(segmentId: number): Buffer {
    const known = this.#knownIds.get(segmentId)
    if (known) return known
    const { ids } = this.#connection
      .prepare('select ids from email_segments where id = ?')
      .get(segmentId) as {
      ids: Buffer
    }
    this.#knownIds.set(segmentId, ids)
    return ids
  }
}

/**
 * Returns the index block of each email. Consecutive emails mostly lie in the same block, which is then not
 * looked up again.
 */
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

/** Changes statuses of an index block. A block in which every email is deleted is removed. */
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

/** @returns the current statuses of the emails; undefined when other emails lie in the range */
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
  const { accountId, afterId, lastId, earliestAt, latestAt, ids, subjects, details, terms, ordinals } =
    segment
  connection
    .prepare(
      `insert into email_segments
         (id, account_id, after_id, last_id, earliest_at, latest_at, ids, subjects, details)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(id, accountId, afterId, lastId, earliestAt, latestAt, ids, subjects, details)
  connection
    .prepare('insert into email_segment_statuses (segment_id, statuses) values (?, ?)')
    .run(id, statuses)
  const insertTerm = connection.prepare(
    'insert into email_terms (segment_id, term, ordinals) values (?, ?, ?)',
  )
  for (const [i, term] of terms.entries()) insertTerm.run(id, term, ordinals[i])
}
