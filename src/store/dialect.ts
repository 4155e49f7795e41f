/** Selects the database engine of a store. Only this file knows both SQLite and PostgreSQL. */
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseUrlFault, describeAddress, readPostgresUrl } from './postgres/address.ts'
import {
  lacksTable as lacksPostgresTable,
  postgresErrorKind as postgresTroubleOf,
} from './postgres/errors.ts'
import { openPostgresReader, type PostgresLocation } from './postgres/reading.ts'
import { openPostgresWriting } from './postgres/writing.ts'
import type { Reader } from './read.ts'
import { isDamaged as isDamagedSqlite, lacksTable as lacksSqliteTable } from './sqlite/errors.ts'
import { openSqliteReader, type SqliteLocation } from './sqlite/reading.ts'
import { openSqliteWriting } from './sqlite/writing.ts'
import type { GroupOptions } from './writer/group.ts'
import type { WritingStore } from './writer/serve.ts'

/** What a thread needs to open the store by itself. */
export type StoreLocation = ({ kind: 'sqlite' } & SqliteLocation) | ({ kind: 'postgres' } & PostgresLocation)

/** What is wrong with a URL, completing "database.url …"; undefined when it can be used. */
export function faultIn(url: string): string | undefined {
  try {
    located({ dataDir: '', url })
    return undefined
  } catch (error) {
    if (error instanceof DatabaseUrlFault) return error.message
    throw error
  }
}

/** @throws when the URL names no database that there can be */
export function locate(place: { dataDir: string; url: string }): StoreLocation {
  const fault = faultIn(place.url)
  if (fault !== undefined) throw new Error(`database.url ${fault}`)
  return located(place)
}

/** @throws AddressFault */
function located({ dataDir, url }: { dataDir: string; url: string }): StoreLocation {
  const blobFolder = join(resolve(dataDir), 'blobs')
  if (/^postgres(?:ql)?:/.test(url)) return { kind: 'postgres', address: readPostgresUrl(url), blobFolder }
  const file = /^sqlite:(.+)$/.exec(url)?.[1]
  if (file === undefined)
    throw new DatabaseUrlFault('must be sqlite:<file> or postgres://user:password@host:port/database')
  return { kind: 'sqlite', databaseFile: resolve(dataDir, file), blobFolder }
}

/** For people. */
export function describe(location: StoreLocation): string {
  return location.kind === 'sqlite' ? location.databaseFile : describeAddress(location.address)
}

/** Undefined where it is kept elsewhere. */
export function databaseFile(location: StoreLocation): string | undefined {
  return location.kind === 'sqlite' ? location.databaseFile : undefined
}

/** Whether other processes may be at work on the store. */
export function isShared(location: StoreLocation): boolean {
  return location.kind === 'postgres'
}

/** False where the database has certainly not been made yet. */
export function databaseExists(location: StoreLocation): boolean {
  return location.kind === 'postgres' || existsSync(location.databaseFile)
}

/**
 * Whether nothing is stored yet, as far as can be told from outside: a file that is missing or has no bytes.
 */
export function isBlank(location: StoreLocation): boolean {
  if (location.kind === 'postgres') return false
  return (statSync(location.databaseFile, { throwIfNoEntry: false })?.size ?? 0) === 0
}

/** Whether an error says that the database holds no sound data. */
export function isDamaged(error: unknown): boolean {
  return isDamagedSqlite(error) || postgresTroubleOf(error) === 'fatal'
}

/** For the operator. @param error of which `isDamaged` is true */
export function damageText(location: StoreLocation, { message }: Error): string {
  return `the database ${describe(location)} is damaged (${message}): restore a backup, see "Backup" in docs/operations.md`
}

/** Whether a query failed for want of a table. */
export function lacksTable(error: unknown): boolean {
  return lacksSqliteTable(error) || lacksPostgresTable(error)
}

/** The reading half, for any thread. @param now tells when attachments were staged */
export function openReader(location: StoreLocation, now?: () => number): Reader {
  return location.kind === 'sqlite' ? openSqliteReader(location, now) : openPostgresReader(location, now)
}

/**
 * The writing half, for the writer thread; brings the database to the present schema.
 * @param mayBegin whether an empty database may become a store
 */
export function openWriting(
  location: StoreLocation,
  options: GroupOptions,
  nowMs: number,
  mayBegin = true,
): Promise<WritingStore> {
  return location.kind === 'sqlite'
    ? openSqliteWriting(location.databaseFile, options, nowMs, mayBegin)
    : openPostgresWriting(location.address, options, nowMs, mayBegin)
}
