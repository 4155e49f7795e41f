/**
 * Search index blocks on PostgreSQL. The changes of a command are looked up together at its end; mostly the
 * emails are in no block yet, which one statement finds out. No state is cached that another process could
 * invalidate.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import type { EmailStatus } from '../model/schema.ts'
import {
  BLOCK_EMAILS,
  GONE,
  ID_BYTES,
  type IndexBlockOps,
  type NewIndexBlock,
  ordinalOf,
  statusByte,
  UNSEALED,
} from '../model/search-index.ts'
import type { SqlQuery } from './connection.ts'

export interface PendingIndexBlocks extends IndexBlockOps {
  /** Executes the collected changes. */
  flush(): Promise<void>
  /** Discards the collected changes. */
  drop(): void
}

interface Change {
  accountId: Id
  id: Id
  /** New status; null when the email was deleted, undefined when it was stored. */
  status: EmailStatus | null | undefined
}

export const COVERING = `
  select e.place, s.id from unnest($1::bytea[], $2::bytea[]) with ordinality as e(account_id, id, place)
  cross join lateral (
    select id, after_id from email_segments
    where account_id = e.account_id and last_id >= e.id order by last_id limit 1) s
  where s.after_id < e.id`
const STATUSES = `
  select st.segment_id as "segmentId", st.statuses, s.ids
  from email_segment_statuses st join email_segments s on s.id = st.segment_id
  where st.segment_id = any($1::int8[]) order by st.segment_id for update of st`
const SET_STATUSES = `
  update email_segment_statuses st set statuses = n.statuses
  from unnest($1::int8[], $2::bytea[]) as n(segment_id, statuses) where st.segment_id = n.segment_id`
const EMAILS = 'select id, status from emails where account_id = $1 and id > $2 and id <= $3 order by id'
const NEXT_SEGMENT = `
  select after_id as "afterId" from email_segments
  where account_id = $1 and last_id > $2 order by last_id limit 1`
const INSERT = `
  insert into email_segments (id, account_id, after_id, last_id, earliest_at, latest_at, ids, subjects, details)
  values (nextval(pg_get_serial_sequence('email_segments', 'id')), $1, $2, $3, $4, $5, $6, $7, $8) returning id`
const COUNTED_ACCOUNTS_MAX = 10_000

/** @param arrivals number of emails stored per account since it was announced; shared by all sessions */
export function postgresSearchIndex(
  query: SqlQuery,
  announce: (topic: string, payload: unknown) => void,
  arrivals: Map<string, number>,
): PendingIndexBlocks {
  let changes: Change[] = []
  return {
    async arrived(emails) {
      for (const { accountId, id } of emails) changes.push({ accountId, id, status: undefined })
    },
    async moved(moves) {
      for (const move of moves) changes.push(move)
    },
    async seal(segment) {
      const statuses = await statusesFor(query, segment)
      if (!statuses || (await overlaps(query, segment))) return false
      await insert(query, segment, statuses)
      return true
    },
    async flush() {
      if (changes.length === 0) return
      const all = changes
      changes = []
      const { rows } = await query({
        sql: COVERING,
        values: [all.map(({ accountId }) => accountId), all.map(({ id }) => id)],
        isPrepared: true,
      })
      const covering = new Map(
        (rows as { place: number; id: number }[]).map(row => [all[row.place - 1]!, row.id]),
      )
      await breakUp(query, all, covering)
      await move(query, all, covering)
      for (const { accountId, status } of arrivedIn(all, covering, arrivals)) {
        if (status === undefined) announce(UNSEALED, accountId)
      }
    },
    drop() {
      changes = []
    },
  }
}

/** Returns emails whose accounts are announced: the email completes an index block, or dissolved one. */
function* arrivedIn(
  all: readonly Change[],
  covering: ReadonlyMap<Change, number>,
  arrivals: Map<string, number>,
): Iterable<Change> {
  for (const one of all) {
    if (one.status !== undefined) continue
    const key = idKey(one.accountId)
    const count = (arrivals.get(key) ?? 0) + 1
    const isDue = count >= BLOCK_EMAILS || covering.has(one)
    if (arrivals.size >= COUNTED_ACCOUNTS_MAX) arrivals.clear()
    arrivals.set(key, isDue ? 0 : count)
    if (isDue) yield one
  }
}

/** Dissolves index blocks in whose range an email was stored. */
async function breakUp(query: SqlQuery, all: readonly Change[], covering: ReadonlyMap<Change, number>) {
  await remove(query, [
    ...new Set(all.flatMap(one => (one.status === undefined ? (covering.get(one) ?? []) : []))),
  ])
}

async function move(query: SqlQuery, all: readonly Change[], covering: ReadonlyMap<Change, number>) {
  const moves = Map.groupBy(
    all.filter(one => one.status !== undefined && covering.has(one)),
    one => covering.get(one)!,
  )
  if (moves.size === 0) return
  const { rows } = await query({ sql: STATUSES, values: [[...moves.keys()]], isPrepared: true })
  const changed: { segmentId: number; statuses: Buffer }[] = []
  const empty: number[] = []
  for (const { segmentId, statuses, ids } of rows as { segmentId: number; statuses: Buffer; ids: Buffer }[]) {
    for (const { id, status } of moves.get(segmentId)!) {
      const ordinal = ordinalOf(ids, id)
      if (ordinal >= 0) statuses[ordinal] = statusByte(status!)
    }
    if (statuses.every(byte => byte === GONE)) empty.push(segmentId)
    else changed.push({ segmentId, statuses })
  }
  await remove(query, empty)
  if (changed.length > 0)
    await query({
      sql: SET_STATUSES,
      values: [changed.map(({ segmentId }) => segmentId), changed.map(({ statuses }) => statuses)],
      isPrepared: true,
    })
}

async function remove(query: SqlQuery, segmentIds: readonly number[]) {
  if (segmentIds.length === 0) return
  for (const [table, column] of [
    ['email_terms', 'segment_id'],
    ['email_segment_statuses', 'segment_id'],
    ['email_segments', 'id'],
  ])
    await query({
      sql: `delete from ${table} where ${column} = any($1::int8[])`,
      values: [segmentIds],
      isPrepared: true,
    })
}

/** @returns the current statuses of the emails; undefined when other emails lie in the range */
async function statusesFor(
  query: SqlQuery,
  { accountId, afterId, lastId, ids }: NewIndexBlock,
): Promise<Buffer | undefined> {
  const { rows } = await query({ sql: EMAILS, values: [accountId, afterId, lastId], isPrepared: true })
  const emails = rows as { id: Buffer; status: EmailStatus }[]
  const same =
    emails.length === ids.length / ID_BYTES && Buffer.concat(emails.map(({ id }) => id)).equals(ids)
  return same ? Buffer.from(emails.map(({ status }) => statusByte(status))) : undefined
}

async function overlaps(query: SqlQuery, { accountId, afterId, lastId }: NewIndexBlock): Promise<boolean> {
  const { rows } = await query({ sql: NEXT_SEGMENT, values: [accountId, afterId], isPrepared: true })
  const next = (rows as { afterId: Id }[])[0]
  return next !== undefined && Buffer.compare(next.afterId, lastId) < 0
}

async function insert(query: SqlQuery, segment: NewIndexBlock, statuses: Uint8Array) {
  const { accountId, afterId, lastId, earliestAt, latestAt, ids, subjects, details, terms, ordinals } =
    segment
  const values = [accountId, afterId, lastId, earliestAt, latestAt, ids, subjects, details]
  const { rows } = await query({ sql: INSERT, values, isPrepared: true })
  const [{ id }] = rows as [{ id: number }]
  await query({
    sql: 'insert into email_segment_statuses (segment_id, statuses) values ($1, $2)',
    values: [id, statuses],
    isPrepared: true,
  })
  await query({
    sql: 'insert into email_terms (segment_id, term, ordinals) select $1, * from unnest($2::text[], $3::bytea[])',
    values: [id, terms, ordinals],
    isPrepared: true,
  })
}
