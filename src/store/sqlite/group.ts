/**
 * Group commits on the SQLite connection. There is one connection, so each group has the database to itself.
 */

import { WEBHOOKS_EDITION } from '../model/subscribers.ts'
import type { CountDelta } from '../writer/effects.ts'
import type { GroupSession } from '../writer/group.ts'
import type { SqliteConnection } from './connection.ts'
import { sqliteErrorKind } from './errors.ts'
import { kyselyOver } from './kysely.ts'
import { sqliteQueue } from './queue.ts'
import { sqliteRows } from './rows.ts'
import { SqliteSearchIndex } from './search-index.ts'

export function sqliteSession(connection: SqliteConnection): GroupSession {
  const run = async (sql: string) => void connection.prepare(sql).run()
  return {
    db: kyselyOver(connection),
    rows: sqliteRows(connection),
    queue: sqliteQueue(connection),
    indexBlocks: announce => new SqliteSearchIndex(connection, announce),
    async storedCount(accountId, kind, period) {
      const row = connection
        .prepare('select count from counters where account_id = ? and kind = ? and period = ?')
        .get(accountId, kind, period) as { count: number } | undefined
      return row?.count ?? 0
    },
    savepointsAreCheap: true,
    async begin() {
      await run('begin immediate')
      const edition = connection.prepare('select value from settings where key = ?').get(WEBHOOKS_EDITION)
      return (edition as { value: string } | undefined)?.value ?? null
    },
    savepoint: () => run('savepoint command'),
    done: async () => {},
    keep: () => run('release command'),
    async undo() {
      await run('rollback to command')
      await run('release command')
    },
    async commit(sums) {
      writeCounts(connection, sums)
      await run('commit')
    },
    async rollback() {
      if (connection.raw.inTransaction) connection.raw.exec('rollback')
    },
    troubleOf: sqliteErrorKind,
  }
}

function writeCounts(connection: SqliteConnection, sums: readonly CountDelta[]) {
  const upsert = connection.prepare(
    `insert into counters (account_id, kind, period, count) values (?, ?, ?, ?)
     on conflict do update set count = count + excluded.count`,
  )
  for (const { accountId, kind, period, delta } of sums) upsert.run(accountId, kind, period, delta)
}
