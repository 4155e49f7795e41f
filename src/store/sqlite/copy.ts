/**
 * Copies a SQLite database while it is in use, and reads and checks such copies. A copy is one file without a
 * write-ahead log, and is opened for reading only.
 */
import Database from 'better-sqlite3'

/** Time to wait for a lock that another process holds. */
const BUSY_TIMEOUT_MS = 5_000
const FAULTS_MAX = 20

/** Blob as a copy names it. */
interface CopiedBlob {
  /** SHA-256 in hex. */
  name: string
  sizeBytes: number
  /** The bytes; null when they are in a file. */
  body: Uint8Array | null
}

/**
 * Writes the state of the last commit to a new file. The writer goes on meanwhile: the read transaction only
 * keeps its log from being reused. Damaged pages of tables and indexes end the copy with an error.
 */
export function copySqlite(file: string, copy: string): void {
  const raw = openReadonly(file)
  try {
    raw.prepare('vacuum into ?').run(copy)
  } finally {
    raw.close()
  }
}

/** Moves the write-ahead log of a database that nobody uses into its file, so that the file is all of it. */
export function closeLog(file: string): void {
  const raw = new Database(file, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
  try {
    raw.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    raw.close()
  }
}

/** @returns names of the migrations that were applied, in order */
export function migrationsInCopy(copy: string): string[] {
  return reading(
    copy,
    raw => raw.prepare('select name from migrations order by name').pluck().all() as string[],
  )
}

/** @returns value of a setting that the copy holds; undefined when there is none */
export function settingInCopy(copy: string, key: string): string | undefined {
  return reading(
    copy,
    raw => raw.prepare('select value from settings where key = ?').pluck().get(key) as string | undefined,
  )
}

/** Runs SQLite's complete checks of pages, indexes and references. @returns one line for each fault */
export function faultsInCopy(copy: string): string[] {
  return reading(copy, raw => {
    const found = raw.prepare(`pragma integrity_check(${FAULTS_MAX})`).pluck().all() as string[]
    const orphans = raw.pragma('foreign_key_check') as { table: string; parent: string }[]
    return [
      ...found.filter(line => line !== 'ok'),
      ...orphans
        .slice(0, FAULTS_MAX)
        .map(({ table, parent }) => `a row of ${table} refers to a missing row of ${parent}`),
    ]
  })
}

/** Lists the blobs whose bytes are in files, in the order of their names. */
export function blobFilesInCopy(copy: string): Generator<CopiedBlob> {
  return blobsIn(copy, 'null as body', 'body is null')
}

/** Lists the blobs whose bytes are in the copy itself. */
export function inlineBlobsInCopy(copy: string): Generator<CopiedBlob> {
  return blobsIn(copy, 'body', 'body is not null')
}

function* blobsIn(copy: string, body: string, condition: string): Generator<CopiedBlob> {
  const raw = openReadonly(copy)
  try {
    yield* raw
      .prepare(
        `select lower(hex(hash)) as name, size_bytes as sizeBytes, ${body} from blobs where ${condition} order by hash`,
      )
      .iterate() as Iterable<CopiedBlob>
  } finally {
    raw.close()
  }
}

function reading<T>(copy: string, read: (raw: Database.Database) => T): T {
  const raw = openReadonly(copy)
  try {
    return read(raw)
  } finally {
    raw.close()
  }
}

function openReadonly(file: string): Database.Database {
  return new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
}
