/**
 * Group commits on a PostgreSQL connection. Several groups may run concurrently, in this process and others.
 */
import { hash } from 'node:crypto'
import { WEBHOOKS_EDITION } from '../model/subscribers.ts'
import type { ConflictKeys } from '../writer/conflict-keys.ts'
import type { CountDelta } from '../writer/effects.ts'
import type { GroupSession } from '../writer/group.ts'
import type { PostgresConnection, SqlQuery } from './connection.ts'
import { postgresErrorKind } from './errors.ts'
import { kyselyOver } from './kysely.ts'
import { postgresQueue } from './queue.ts'
import { postgresRows, type RowStatements } from './rows.ts'
import { type PendingIndexBlocks, postgresSearchIndex } from './search-index.ts'
import { createWrites } from './writes.ts'

/** Key of the advisory lock of groups. A group takes it shared, or exclusively to run alone. */
const GATE = '1886350436, 1'

export const COUNT = `
  insert into counters (account_id, kind, period, count)
  select * from unnest($1::bytea[], $2::text[], $3::text[], $4::int8[])
  on conflict (account_id, kind, period) do update set count = counters.count + excluded.count`

export function postgresSession(
  connection: PostgresConnection,
  { statements, arrivals }: { statements: RowStatements; arrivals: Map<string, number> },
): GroupSession {
  const { query, write, done, dropped } = createWrites(connection.query)
  const run = async (sql: string) => void (await query({ sql }))
  let indexBlocks: PendingIndexBlocks | undefined
  return {
    db: kyselyOver(query),
    rows: postgresRows(query, statements, write),
    queue: postgresQueue(query),
    indexBlocks(announce) {
      indexBlocks = postgresSearchIndex(query, announce, arrivals)
      return indexBlocks
    },
    async storedCount(accountId, kind, period) {
      const { rows } = await query({
        sql: 'select count from counters where account_id = $1 and kind = $2 and period = $3',
        values: [accountId, kind, period],
        isPrepared: true,
      })
      return (rows[0] as { count: number } | undefined)?.count ?? 0
    },
    savepointsAreCheap: false,
    async begin(holds) {
      const { rows } = await query({ sql: beginSql(holds) })
      return (rows[0] as { value: string } | undefined)?.value ?? null
    },
    savepoint: () => run('savepoint command'),
    async done() {
      await indexBlocks?.flush()
      await done()
      if (!connection.isInTransaction()) throw new Error('the transaction ended before its time')
    },
    keep: () => run('release command'),
    async undo() {
      indexBlocks?.drop()
      await dropped()
      await run('rollback to command; release command')
    },
    /**
     * Sends the last statements together. A transaction in which a statement failed is rolled back by
     * `commit`, which is reported as an error.
     */
    async commit(sums) {
      const [, { command }] = await Promise.all([writeCounts(query, sums), query({ sql: 'commit' })])
      if (command !== 'COMMIT') throw new Error('the transaction was not committed')
    },
    /** Rolls back. The transaction of a broken connection ends with it. */
    async rollback() {
      indexBlocks?.drop()
      await dropped()
      await run('rollback').catch(() => {})
    },
    troubleOf: postgresErrorKind,
  }
}

/**
 * Begins a transaction and takes its locks. All groups take their locks in the same order before they read,
 * so that no two groups wait for each other. While the gate is held, no other process changes webhooks, so
 * the edition stays valid until the end of the transaction.
 */
export function beginSql({ alone, names }: ConflictKeys): string {
  const gate = `begin; select pg_advisory_xact_lock${alone ? '' : '_shared'}(${GATE})`
  const edition = `select value from settings where key = '${WEBHOOKS_EDITION}'`
  if (alone || names.length === 0) return `${gate}; ${edition}`
  const keys = [...new Set(names.map(keyOf))].sort((a, b) => (a < b ? -1 : 1))
  return `${gate}; select pg_advisory_xact_lock(key) from unnest('{${keys}}'::int8[]) as key; ${edition}`
}

/** @returns 64 bits of a hash of the name */
function keyOf(name: string): bigint {
  return hash('sha1', name, 'buffer').readBigInt64BE()
}

/** Writes counters in the order of their keys, so that no two groups wait for each other's rows. */
async function writeCounts(query: SqlQuery, sums: readonly CountDelta[]) {
  if (sums.length === 0) return
  const sorted = sums.toSorted(
    (a, b) =>
      Buffer.compare(a.accountId, b.accountId) ||
      compareText(a.kind, b.kind) ||
      compareText(a.period, b.period),
  )
  const values = [
    sorted.map(({ accountId }) => accountId),
    sorted.map(({ kind }) => kind),
    sorted.map(({ period }) => period),
    sorted.map(({ delta }) => delta),
  ]
  await query({ sql: COUNT, values, isPrepared: true })
}

function compareText(a: string, b: string): number {
  return Number(a > b) - Number(a < b)
}
