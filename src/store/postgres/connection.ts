/** Connections to PostgreSQL, opened on demand and reopened after a failure. */
import { Socket } from 'node:net'
import pg from 'pg'
import { StorageUnavailable } from '../model/command.ts'
import { codeOf } from '../model/errors.ts'
import type { PostgresAddress } from './address.ts'
import { postgresErrorKind } from './errors.ts'

export interface Statement {
  /** SQL text. The result of several statements is that of the last. */
  sql: string
  values?: readonly unknown[]
  /** Whether the statement is used often, so that it is prepared once per connection. */
  isPrepared?: boolean
}

export interface Result {
  rows: unknown[]
  /** Number of rows that were found or changed. */
  rowCount: number
  /** Command that was executed, such as `SELECT` or `COMMIT`. */
  command: string
}

/**
 * Executes a statement. Statements of a connection are executed in the order of the calls; a caller need not
 * wait for one before it sends the next.
 * @throws StorageUnavailable when the database cannot be reached or accepts no statements at the moment
 */
export type SqlQuery = (statement: Statement) => Promise<Result>

export interface PostgresConnection {
  query: SqlQuery
  /** Whether a transaction is open that accepts statements. Valid when all statements have been answered. */
  isInTransaction(): boolean
  /** Calls the listener for each notification of a channel to which the connection listens. */
  onNotice(listener: (payload: string) => void): void
  /** Calls the listener once, when the connection is lost. */
  onLost(listener: () => void): void
}

export interface PostgresPool {
  /** Executes a statement on any free connection. */
  query: SqlQuery
  /**
   * Lends a connection until the work is done. A connection is always represented by the same object. A
   * connection on which the work failed is closed.
   */
  use<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface PoolOptions {
  /** Maximum number of connections. */
  size: number
  /** Settings of each session, by name. */
  settings: Readonly<Record<string, string>>
}

/**
 * Settings of all sessions. JIT and parallel workers are off: compiling a statement and starting a worker
 * (50 ms) take more time than they save for small statements.
 */
const COMMON_SETTINGS = {
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  timezone: 'UTC',
  idle_in_transaction_session_timeout: '60s',
}
/**
 * Settings for writing. Every statement of the hot path finds its rows by an index, but a planner that has
 * not seen a table grow would scan the table. The transaction of a process that stops in the middle of a
 * group ends before its delivery leases expire, so that it does not keep other processes from taking them
 * over.
 */
export const WRITING = {
  idle_in_transaction_session_timeout: '10s',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
}
export const READING = { default_transaction_read_only: 'on', enable_seqscan: 'off' }

const CONNECT_TIMEOUT_MS = 10_000
/** Time after which a server that does not answer counts as lost. */
const ANSWER_TIMEOUT_MS = 60_000
/** Transaction status of an open transaction that has not failed. */
const IN_TRANSACTION = 'T'
const INT8 = 20
const BYTEA = 17
const NUMERIC = 1700

/** Parsers of column types. Integers of 64 bits hold counts and times, which are numbers in the program. */
export const columnParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8 || oid === NUMERIC) return Number
    return oid === BYTEA ? bytesFromHex : pg.types.getTypeParser(oid, format as 'text')
  },
} as pg.CustomTypesConfig

/**
 * Decodes bytes into a buffer that shares no memory: a part of a shared buffer would take the whole buffer
 * along to another thread.
 */
function bytesFromHex(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow((text.length - '\\x'.length) / 2)
  bytes.write(text.slice('\\x'.length), 'hex')
  return bytes
}

export function openPool(address: PostgresAddress, { size, settings }: PoolOptions): PostgresPool {
  const { host, port, user, password, database, tls } = address
  const pool = new pg.Pool({
    host,
    port,
    user,
    password: password ?? '',
    database,
    ssl: tls ?? false,
    types: columnParsers,
    max: size,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    pipeline: true,
    stream: batchingSocket,
    application_name: 'mailhorn',
    options: Object.entries({ ...COMMON_SETTINGS, ...settings })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  })
  const names = new Map<string, string>()
  const nameOf = (sql: string) => {
    const known = names.get(sql)
    if (known !== undefined) return known
    const name = `s${names.size}`
    names.set(sql, name)
    return name
  }
  pool.on('connect', client => client.on('error', () => {})) // the next statement on the connection fails
  pool.on('error', () => {}) // an idle connection was lost; the pool opens another when one is needed

  const connections = new WeakMap<pg.PoolClient, OpenConnection>()
  const connectionOf = (client: pg.PoolClient) => {
    const known = connections.get(client)
    if (known) return known
    const connection = connectionOver(client, nameOf)
    connections.set(client, connection)
    return connection
  }
  const use = async <T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> => {
    const client = await pool.connect().catch(unavailable)
    const connection = connectionOf(client)
    let isGood = false
    try {
      const result = await work(connection)
      isGood = !connection.isBroken
      return result
    } finally {
      client.release(!isGood)
    }
  }
  return {
    use,
    query: statement => use(({ query }) => query(statement)),
    close: () => pool.end(),
  }
}

/** Socket that batches the writes of one turn of the event loop, so that the server wakes up once. */
function batchingSocket(): Socket {
  const socket = new Socket()
  const write = socket.write.bind(socket)
  let isCorked = false
  const cork = () => {
    if (isCorked) return
    isCorked = true
    socket.cork()
    process.nextTick(() => {
      isCorked = false
      socket.uncork()
    })
  }
  socket.write = ((...args: Parameters<Socket['write']>) => {
    cork()
    return write(...args)
  }) as Socket['write']
  return socket
}

interface OpenConnection extends PostgresConnection {
  isBroken: boolean
}

function connectionOver(client: pg.PoolClient, nameOf: (sql: string) => string): OpenConnection {
  const connection: OpenConnection = {
    isBroken: false,
    async query({ sql, values, isPrepared }) {
      const statement = {
        text: sql,
        ...(values && { values: values.map(bindable) }),
        ...(isPrepared && { name: nameOf(sql) }),
      }
      try {
        const results: pg.QueryResult | pg.QueryResult[] = await client.query(statement)
        const { rows = [], rowCount, command } = Array.isArray(results) ? results.at(-1)! : results
        return { rows, rowCount: rowCount ?? 0, command }
      } catch (error) {
        connection.isBroken ||= postgresErrorKind(error) === 'unavailable'
        return asUnavailable(error)
      }
    },
    isInTransaction: () => client.getTransactionStatus() === IN_TRANSACTION,
    onNotice: listener => void client.on('notification', ({ payload }) => listener(payload ?? '')),
    onLost: listener => void client.once('end', listener),
  }
  return connection
}

function asUnavailable(error: unknown): never {
  if (postgresErrorKind(error) !== 'unavailable') throw error
  unavailable(error)
}

function unavailable(cause: unknown): never {
  const reason = codeOf(cause) || (cause as Error).message
  throw new StorageUnavailable(`the database cannot be used at the moment (${reason})`, { cause })
}

/**
 * Converts a value to a parameter. Anything but text, numbers, bytes and null is an error. PostgreSQL text
 * cannot contain NUL, which becomes the replacement character.
 */
function bindable(value: unknown): unknown {
  if (Array.isArray(value)) return value.every(isPlain) ? value : value.map(bindable)
  if (value === null || value instanceof Uint8Array) return value
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new TypeError(`a ${typeof value} cannot be stored`)
}

/** Whether the value can be sent without conversion. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0')
  return value === null || Number.isFinite(value) || value instanceof Uint8Array
}
