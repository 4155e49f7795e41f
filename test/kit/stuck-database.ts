/** Blocks writes to the database of a running service. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { isOnPostgres } from './database.ts'
import type { Mailhorn } from './mailhorn.ts'

type Service = Pick<Mailhorn, 'dataDir' | 'rows' | 'change'>

/** The lock without which no group of commands begins on PostgreSQL. */
const GATE = '1886350436, 1'

/** Writes wait until it is let go, with SQLite for five seconds at most. */
export function holdDatabase(service: Service): () => void {
  if (isOnPostgres) {
    service.rows(`select pg_advisory_lock(${GATE})`)
    return () => void service.rows(`select pg_advisory_unlock(${GATE})`)
  }
  const database = new Database(join(service.dataDir, 'mailhorn.db'))
  database.exec('begin immediate')
  return () => void database.close()
}

/**
 * Writes are refused until they are allowed again: with SQLite after a while, as by a standby with
 * PostgreSQL.
 */
export function refuseWrites(service: Service): () => void {
  if (!isOnPostgres) return holdDatabase(service)
  const set = (how: string) => {
    service.change(`do $$ begin execute format('alter database %I ${how}', current_database()); end $$`)
    service.rows(
      'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
  }
  set('set default_transaction_read_only = on')
  return () => set('reset default_transaction_read_only')
}
