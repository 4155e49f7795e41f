/** Selects the database engine of a store. Only this file knows both SQLite and PostgreSQL. */
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Inspection } from '../model/inspection.ts'
import { DatabaseUrlFault, describeAddress, readPostgresUrl } from '../postgres/address.ts'
import {
  lacksTable as lacksPostgresTable,
  postgresErrorKind as postgresTroubleOf,
} from '../postgres/errors.ts'
import { RESTORE_MARK } from '../postgres/own-schema.ts'
import { openPostgresReader, type PostgresLocation } from '../postgres/reading.ts'
import { inspectPostgres } from '../postgres/start.ts'
import { openPostgresWriting } from '../postgres/writing.ts'
import type { Reader } from '../reading/read.ts'
import { copySqlite } from '../sqlite/copy.ts'
import { isDamaged as isDamagedSqlite, lacksTable as lacksSqliteTable } from '../sqlite/errors.ts'
import { faultInSqlite, inspectSqlite, isCheckedAtOnce, wasKilled } from '../sqlite/inspect.ts'
import { openSqliteReader, type SqliteLocation } from '../sqlite/reading.ts'
import { openSqliteWriting } from '../sqlite/writing.ts'
import type { GroupOptions } from '../writer/group.ts'
import type { WritingStore } from '../writer/serve.ts'

export { dumpBytes, type PostgresSnapshot, readSnapshot } from '../postgres/dump.ts'
export { contentsOfDump, type DumpedRow, rowsInDump } from '../postgres/dump-contents.ts'
export { type LoadingDatabase, openLoading } from '../postgres/load.ts'
export {
  blobFilesInCopy,
  closeLog,
  faultsInCopy,
  inlineBlobsInCopy,
  migrationsInCopy,
  settingInCopy,
} from '../sqlite/copy.ts'
export { createFilled } from '../sqlite/filled.ts'

/** Everything that a thread needs to open the store. */
export type StoreLocation = ({ kind: 'sqlite' } & SqliteLocation) | ({ kind: 'postgres' } & PostgresLocation)

/**
 * @returns what is wrong with a URL, as the rest of a sentence that starts with "database.url"; undefined
 * when it can be used
 */
export function faultIn(url: string): string | undefined {
  try {
    located({ dataDir: '', url })
    return undefined
  } catch (error) {
    if (error instanceof DatabaseUrlFault) return error.message
    throw error
  }
}

/** @throws when the URL names no possible database */
export function locate(place: { dataDir: string; url: string }): StoreLocation {
  const fault = faultIn(place.url)
  if (fault !== undefined) throw new Error(`database.url ${fault}`)
  return located(place)
}

/** @throws DatabaseUrlFault */
function located({ dataDir, url }: { dataDir: string; url: string }): StoreLocation {
  const blobFolder = join(resolve(dataDir), 'blobs')
  if (/^postgres(?:ql)?:/.test(url)) return { kind: 'postgres', address: readPostgresUrl(url), blobFolder }
  const file = /^sqlite:(.+)$/.exec(url)?.[1]
  if (file === undefined)
    throw new DatabaseUrlFault('must be sqlite:<file> or postgres://user:password@host:port/database')
  return { kind: 'sqlite', databaseFile: resolve(dataDir, file), blobFolder }
}

/** @returns a description of the database for messages */
export function describe(location: StoreLocation): string {
  return location.kind === 'sqlite' ? location.databaseFile : describeAddress(location.address)
}

/** @returns undefined when the database is not a file */
export function databaseFile(location: StoreLocation): string | undefined {
  return location.kind === 'sqlite' ? location.databaseFile : undefined
}

/** Whether other processes may use the store at the same time. */
export function isShared(location: StoreLocation): boolean {
  return location.kind === 'postgres'
}

/** @returns false when the database certainly does not exist yet */
export function databaseExists(location: StoreLocation): boolean {
  return location.kind === 'postgres' || existsSync(location.databaseFile)
}

/** Whether the database file is missing or empty. A PostgreSQL database cannot be judged from outside. */
export function isBlank(location: StoreLocation): boolean {
  if (location.kind === 'postgres') return false
  return (statSync(location.databaseFile, { throwIfNoEntry: false })?.size ?? 0) === 0
}

/** Query that has a result only in a PostgreSQL database into which a restore was interrupted. */
export const RESTORE_QUERY = `select count(*) from ${RESTORE_MARK}`

/** Whether an error means that the database is corrupt. */
export function isDamaged(error: unknown): boolean {
  return isDamagedSqlite(error) || postgresTroubleOf(error) === 'fatal'
}

/**
 * @returns a message for the operator
 * @param error an error of which `isDamaged` is true
 */
export function damageText(location: StoreLocation, { message }: Error): string {
  return `the database ${describe(location)} is damaged (${message}): restore a backup, see "Restore" in docs/backup.md`
}

/** Whether a query failed because a table is missing. */
export function lacksTable(error: unknown): boolean {
  return lacksSqliteTable(error) || lacksPostgresTable(error)
}

/**
 * Reads the database before a start, without changing it.
 * @throws StartFault when a PostgreSQL server cannot be used
 */
export function inspectStore<T>(location: StoreLocation, inspect: Inspection<T>): Promise<T> {
  return location.kind === 'sqlite'
    ? inspectSqlite(location.databaseFile, inspect)
    : inspectPostgres(location.address, inspect)
}

/**
 * @returns whether the pages of the database have to be checked, since the last service was killed:
 * `at-once` takes less than a second, `later` belongs on another thread. PostgreSQL checks its own pages.
 */
export function checkNeededFor(location: StoreLocation): 'no' | 'at-once' | 'later' {
  if (location.kind === 'postgres' || !wasKilled(location.databaseFile)) return 'no'
  return isCheckedAtOnce(location.databaseFile) ? 'at-once' : 'later'
}

/** @returns the first fault in the pages of the database; undefined when none is found */
export function faultInPages(location: StoreLocation): string | undefined {
  if (location.kind === 'postgres') return undefined
  try {
    return faultInSqlite(location.databaseFile)
  } catch (error) {
    if (!isDamagedSqlite(error)) throw error
    return (error as Error).message
  }
}

/**
 * Opens the reading half of a store, for any thread.
 * @param now returns the time at which attachments are staged, in ms since the epoch
 */
export function openReader(location: StoreLocation, now?: () => number): Reader {
  return location.kind === 'sqlite' ? openSqliteReader(location, now) : openPostgresReader(location, now)
}

/**
 * Opens the writing half of a store, for the writer thread, and migrates the database to the current schema.
 */
export function openWriting(
  location: StoreLocation,
  options: GroupOptions,
  nowMs: number,
): Promise<WritingStore> {
  return location.kind === 'sqlite'
    ? openSqliteWriting(location.databaseFile, options, nowMs)
    : openPostgresWriting(location.address, options, nowMs)
}

/**
 * Copies a SQLite database to a new file while it is in use.
 * @throws when the database is PostgreSQL, which `readSnapshot` reads
 */
export function copyDatabase(location: StoreLocation, copy: string): void {
  if (location.kind === 'postgres') throw new Error('a PostgreSQL database is not copied by this program')
  copySqlite(location.databaseFile, copy)
}

/** @returns size of the database with its write-ahead log; 0 for PostgreSQL */
export function databaseBytes(location: StoreLocation): number {
  const file = databaseFile(location)
  if (file === undefined) return 0
  return [file, `${file}-wal`].reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
