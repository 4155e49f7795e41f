/** Write access to a SQLite store: migrates it, runs one group at a time, and runs checkpoints. */
import type { Kysely } from 'kysely'
import { migrate } from '../migrations/migrate.ts'
import { type GroupOptions, SessionGroups } from '../writer/group.ts'
import type { WritingStore } from '../writer/serve.ts'
import { openForWriting, type SqliteConnection } from './connection.ts'
import { sqliteErrorKind } from './errors.ts'
import { sqliteSession } from './group.ts'
import { kyselyOver } from './kysely.ts'

/** Pages of 4 KiB per step. Each returned page is replaced by moving another one, and a commit follows. */
const PAGES_PER_STEP = 128
/** One page in this many stays free for the next mail, since returned pages must be requested again. */
const FREE_SHARE = 16

export async function openSqliteWriting(
  file: string,
  options: GroupOptions,
  nowMs: number,
): Promise<WritingStore> {
  const connection = openForWriting(file)
  const groups = new SessionGroups(sqliteSession(connection), options)
  const migrations = await migrated(connection, nowMs)
  return {
    migrations,
    run: requests => groups.run(requests),
    groupsAtOnce: 1,
    onHeard() {},
    checkpoint: () => attempted(() => checkpoint(connection, 'PASSIVE')),
    tidy: () => attempted(() => giveSpaceBack(connection)),
    async close() {
      attempted(() => checkpoint(connection, 'TRUNCATE'))
      connection.close()
    },
  }
}

async function migrated(connection: SqliteConnection, nowMs: number): Promise<string[]> {
  connection.raw.exec('begin immediate')
  try {
    const applied = await migrate(kyselyOver(connection) as unknown as Kysely<unknown>, 'sqlite', nowMs)
    connection.raw.exec('commit')
    return applied
  } catch (error) {
    connection.raw.exec('rollback')
    throw error
  }
}

/** Moves the write-ahead log into the database file. */
function checkpoint(connection: SqliteConnection, mode: 'PASSIVE' | 'TRUNCATE'): boolean {
  connection.raw.pragma(`wal_checkpoint(${mode})`)
  return true
}

/** @returns false also when the disk has no space for the maintenance, which is tried again later */
function attempted(upkeep: () => boolean): boolean {
  try {
    return upkeep()
  } catch (error) {
    if (sqliteErrorKind(error) !== 'unavailable') throw error
    return false
  }
}

/**
 * Returns free pages to the file system by incremental vacuum, a few at a time, because writers wait
 * meanwhile.
 * @returns false when there was nothing to return
 */
export function giveSpaceBack(connection: SqliteConnection): boolean {
  const pagesOf = (pragma: string) => connection.raw.pragma(pragma, { simple: true }) as number
  const spare = pagesOf('freelist_count') - Math.ceil(pagesOf('page_count') / FREE_SHARE)
  if (spare <= 0) return false
  connection.raw.pragma(`incremental_vacuum(${Math.min(spare, PAGES_PER_STEP)})`)
  return true
}
