/** SQLite connection with a cache of prepared statements. */
import Database, { type Statement } from 'better-sqlite3'
import { BoundedMap } from '../../lib/bounded-map.ts'

export interface SqliteConnection {
  readonly raw: Database.Database
  /** Returns the statement of a SQL text, which is prepared once. */
  prepare(sql: string): Statement<unknown[], unknown>
  /**
   * Number of statements whose rows are being read one by one. They keep the connection in one read
   * transaction.
   */
  streamCount: number
  close(): void
}

const STATEMENT_CACHE_MAX = 500
const CACHE_KIB = 16_384
/** Time to wait for a write lock that another process holds, such as a backup tool. */
const BUSY_TIMEOUT_MS = 5_000

/**
 * Opens the write connection. It uses WAL, and every commit is synced to the disk before it returns. The
 * writer runs the checkpoints, so that none delays a commit.
 */
export function openForWriting(file: string): SqliteConnection {
  const raw = new Database(file, { timeout: BUSY_TIMEOUT_MS })
  raw.pragma('auto_vacuum = INCREMENTAL')
  raw.pragma('journal_mode = WAL')
  raw.pragma('synchronous = FULL')
  raw.pragma('wal_autocheckpoint = 0')
  raw.pragma('foreign_keys = ON')
  raw.pragma('temp_store = MEMORY')
  raw.pragma(`cache_size = -${CACHE_KIB}`)
  return withStatements(raw)
}

/** Opens a read-only connection. Each statement sees the last commit. */
export function openForReading(file: string): SqliteConnection {
  const raw = new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
  raw.pragma(`cache_size = -${CACHE_KIB / 2}`)
  return withStatements(raw)
}

function withStatements(raw: Database.Database): SqliteConnection {
  const statements = new BoundedMap<string, Statement<unknown[], unknown>>(STATEMENT_CACHE_MAX)
  return {
    raw,
    streamCount: 0,
    prepare(sql) {
      const known = statements.get(sql)
      if (known) return known
      const statement = raw.prepare<unknown[], unknown>(sql)
      statements.set(sql, statement)
      return statement
    },
    close: () => void raw.close(),
  }
}
