/** Reads a database file before a start and leaves the file and its write-ahead log as they are. */
import { closeSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Inspection } from '../model/inspection.ts'

/** Time to wait for a lock that another process holds. */
const BUSY_TIMEOUT_MS = 5_000

/** Up to this size `quick_check` takes less than a second on a disk that reads 100 MB/s. */
const CHECKED_AT_ONCE_BYTES_MAX = 64 * 1024 * 1024

/** Place of the format versions for writing and for reading in the header (SQLite file format, §1.3). */
const VERSIONS_AT = 18
/** Rollback journal; write-ahead log. */
const VERSIONS = [1, 2]

/**
 * A log with contents is read by a read-only connection, which does not move it into the database file.
 * Without such a log, a read-only connection would leave an empty log behind, whereas a writable one
 * removes it.
 */
export async function inspectSqlite<T>(file: string, inspect: Inspection<T>): Promise<T> {
  requireKnownFormat(file)
  const index = `${file}-shm`
  const hadIndex = sizeOf(index) !== undefined
  const hasLog = wasKilled(file)
  const raw = new Database(file, { readonly: hasLog, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
  try {
    return await inspect(async sql => raw.prepare(sql).all() as Record<string, unknown>[])
  } finally {
    raw.close()
    if (hasLog && !hadIndex) rmSync(index, { force: true })
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

/**
 * SQLite opens a file of another version for writing as a read-only one, and of another for reading not at
 * all.
 */
function requireKnownFormat(file: string) {
  const versions = Buffer.from([VERSIONS[0]!, VERSIONS[0]!])
  const descriptor = openSync(file, 'r')
  readSync(descriptor, versions, 0, versions.length, VERSIONS_AT)
  closeSync(descriptor)
  if (versions.every(version => VERSIONS.includes(version))) return
  throw Object.assign(new Error('file is not a database, or its header is damaged'), {
    code: 'SQLITE_NOTADB',
  })
}

/** Whether the service that used the database last did not close it: its log has contents. */
export function wasKilled(file: string): boolean {
  return (sizeOf(`${file}-wal`) ?? 0) > 0
}

export function isCheckedAtOnce(file: string): boolean {
  return (sizeOf(file) ?? 0) <= CHECKED_AT_ONCE_BYTES_MAX
}

/**
 * Runs SQLite's `quick_check`, which reads the whole database. It finds broken pages, trees and free lists;
 * it compares neither indexes with tables nor contents with anything.
 * @returns the first fault; undefined when there is none
 * @throws the error of a database that is too damaged to be checked
 */
export function faultInSqlite(file: string): string | undefined {
  const raw = new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
  try {
    const found = raw.pragma('quick_check(1)', { simple: true }) as string
    return found === 'ok' ? undefined : found.replaceAll('\n', ' ')
  } finally {
    raw.close()
  }
}
