/**
 * The databases that tests run on: SQLite files, or databases of the PostgreSQL that
 * MAILHORN_TEST_DATABASE_URL names by one that may make others.
 */
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import type { Answer, PostgresThreadData, Question } from './postgres-thread.ts'

export interface TestDatabase {
  /** For the setting `database.url`. */
  url: string
  /** Rows as committed; `?` stands for parameters. */
  rows<T = Record<string, unknown>>(sql: string, ...parameters: unknown[]): T[]
  /** Changes it behind the service's back, where no command can bring about what a test needs. */
  change(sql: string, ...parameters: unknown[]): void
  /** Closes the connection that the test holds, so that the service can be the last to close the database. */
  release(): void
  drop(): void
}

const adminUrl = process.env.MAILHORN_TEST_DATABASE_URL

/** Tests of what only one of the databases does ask for it. */
export const isOnPostgres = adminUrl !== undefined
/** Options of tests that only one of the databases can pass. */
export const SQLITE_ONLY = { skip: isOnPostgres ? 'it is about the file of SQLite' : undefined }
export const POSTGRES_ONLY = { skip: isOnPostgres ? undefined : 'it needs PostgreSQL' }

/**
 * A database of the test's own. @param file where a SQLite file would be. @param isMigrated of the present
 * schema
 */
export function createDatabase(file: string, { isMigrated = false } = {}): TestDatabase {
  if (adminUrl === undefined) return sqliteDatabase(file)
  const database = postgresDatabase(adminUrl, isMigrated)
  const drop = () => {
    process.off('exit', drop)
    database.drop()
  }
  process.once('exit', drop)
  return { ...database, drop }
}

const ofFolders = new Map<string, TestDatabase>()

/** The database of the service whose data is in a folder, one and the same for every life of it. */
export function databaseOf(dataDir: string): TestDatabase {
  const known = ofFolders.get(dataDir)
  if (known) return known
  const database = createDatabase(join(dataDir, 'mailhorn.db'), { isMigrated: true })
  ofFolders.set(dataDir, database)
  return database
}

/** The setting that makes the service use it; none where it does so by itself. */
export function settingsFor(dataDir: string): { DATABASE_URL?: string } {
  return isOnPostgres ? { DATABASE_URL: databaseOf(dataDir).url } : {}
}

/** Returns the query plan as the database explains it, with sequential scans disabled. */
export function planOf(database: Pick<TestDatabase, 'rows'>, sql: string, ...parameters: unknown[]): string {
  const explain = isOnPostgres ? 'explain' : 'explain query plan'
  return database
    .rows<Record<string, string>>(`${explain} ${sql}`, ...parameters)
    .map(step => step.detail ?? step['QUERY PLAN'])
    .join('; ')
}

const PARAMETERS_MAX = 30_000
const STATEMENTS_MAX = 200

/** Puts rows straight into the database, all of one shape. */
export function insertRows(
  database: Pick<TestDatabase, 'change'>,
  table: string,
  rows: readonly Record<string, unknown>[],
): void {
  const columns = Object.keys(rows[0] ?? {})
  const places = `(${columns.map(() => '?').join(', ')})`
  const atOnce = Math.floor(PARAMETERS_MAX / Math.max(1, columns.length))
  for (let at = 0; at < rows.length; at += atOnce) {
    const some = rows.slice(at, at + atOnce)
    database.change(
      `insert into ${table} (${columns.join(', ')}) values ${some.map(() => places).join(', ')}`,
      ...some.flatMap(row => columns.map(column => row[column])),
    )
  }
}

/**
 * The SQLite file is made by whoever opens it first. One connection stays open, since to open another for
 * every question means to read the schema every time; `release` closes it.
 */
export function sqliteDatabase(file: string): TestDatabase {
  let remaining: { database: Database.Database; inode: number } | undefined
  /** Statements by their SQL. To prepare those that read every table takes longer than to run them. */
  const statements = new Map<string, Database.Statement>()
  const release = () => {
    statements.clear()
    remaining?.database.close()
    remaining = undefined
  }
  const database = () => {
    const { ino: inode } = statSync(file)
    // A test may have put another file in its place.
    if (remaining?.inode !== inode) release()
    remaining ??= { database: new Database(file, { fileMustExist: true, timeout: 5_000 }), inode }
    return remaining.database
  }
  const statement = (sql: string) => {
    const open = database()
    const known = statements.get(sql) ?? open.prepare(sql)
    if (statements.size === STATEMENTS_MAX) statements.clear()
    statements.set(sql, known)
    return known
  }
  return {
    url: `sqlite:${file}`,
    rows: <T>(sql: string, ...parameters: unknown[]) => statement(sql).all(...parameters) as T[],
    change: (sql, ...parameters) => void statement(sql).run(...parameters),
    release,
    drop: release,
  }
}

/** @param serverUrl names a database that may make others */
export function postgresDatabase(serverUrl: string, isMigrated = false): TestDatabase {
  const ask = askerFor(serverUrl)
  const wanted = `mailhorn_test_${randomBytes(8).toString('hex')}`
  const [{ name }] = ask({ ask: 'create', name: wanted, isMigrated }) as [{ name: string }]
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const query = (sql: string, values: unknown[]) => ask({ ask: 'query', name, sql: numbered(sql), values })
  return {
    url: url.href,
    rows: <T>(sql: string, ...parameters: unknown[]) => query(sql, parameters) as T[],
    change: (sql, ...parameters) => void query(sql, parameters),
    release() {},
    drop: () => void ask({ ask: 'drop', name }),
  }
}

/** Parameters in the way of PostgreSQL. */
function numbered(sql: string): string {
  let count = 0
  return sql.replace(/'[^']*'|\?/g, part => (part === '?' ? `$${++count}` : part))
}

type Ask = (question: Question) => unknown[]

const ANSWER_MS_MAX = 30_000
let requests = 0
const askers = new Map<string, Ask>()
process.setMaxListeners(0)

/** One thread a server, for as long as the process lives. */
function askerFor(url: string): Ask {
  const known = askers.get(url)
  if (known) return known
  const { port1, port2 } = new MessageChannel()
  const bell = new Int32Array(new SharedArrayBuffer(4))
  const data: PostgresThreadData = { url, port: port2, bell }
  new Worker(new URL('./postgres-thread.ts', import.meta.url), {
    workerData: data,
    transferList: [port2],
  }).unref()
  const ask: Ask = question => answerOf(port1, bell, question)
  if (url === adminUrl) process.once('exit', () => ask({ ask: 'end' }))
  askers.set(url, ask)
  return ask
}

/** The bell may still ring for the answer before, and the answer to what was given up may come after all. */
function answerOf(port: MessagePort, bell: Int32Array, question: Question): unknown[] {
  const number = ++requests
  port.postMessage({ ...question, number })
  for (;;) {
    const rung = Atomics.load(bell, 0)
    const answer = receiveMessageOnPort(port)?.message as Answer | undefined
    if (answer?.number === number) return rowsOf(answer, question)
    if (answer === undefined && Atomics.wait(bell, 0, rung, ANSWER_MS_MAX) === 'timed-out')
      throw new Error(`PostgreSQL did not answer: ${JSON.stringify(question)}`)
  }
}

function rowsOf(answer: Answer, question: Question): unknown[] {
  if ('error' in answer) throw new Error(`${answer.error}: ${JSON.stringify(question)}`)
  return answer.rows.map(withBuffers)
}

/** Converts byte arrays to Buffers, which SQLite returns. */
function withBuffers(row: unknown): unknown {
  return Object.fromEntries(
    Object.entries(row as object).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value) : value,
    ]),
  )
}
