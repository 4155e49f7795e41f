/** Connections to PostgreSQL, opened on demand and reopened after a failure. */
import { Socket } from 'node:net'
import pg from 'pg'
import { StorageUnavailable } from '../command.ts'
import { codeOf } from '../errors.ts'
import type { PostgresAddress } from './address.ts'
import { postgresErrorKind } from './errors.ts'

export interface Statement {
  /** Of several, the last says what came of them. */
  sql: string
  values?: readonly unknown[]
  /** It comes again and again: it is prepared once a connection. */
  kept?: boolean
}

export interface Result {
  rows: unknown[]
  /** Rows found or changed. */
  rowCount: number
  /** What was carried out: `SELECT`, `COMMIT`, … */
  command: string
}

/**
 * Statements of a connection are carried out in the order in which they are asked for; to wait for one before
 * the next is asked for is not necessary.
 * @throws StorageUnavailable when the database cannot be reached, or takes nothing at the moment
 */
export type SqlQuery = (statement: Statement) => Promise<Result>

export interface PostgresConnection {
  query: SqlQuery
  /** Once all that was asked for has been answered: whether a transaction is open that takes more. */
  isInTransaction(): boolean
  /** Each time somebody notifies a channel that is listened to. */
  onNotice(listener: (payload: string) => void): void
  /** Once the connection is lost. */
  onLost(listener: () => void): void
}

export interface PostgresPool {
  /** On whichever connection is free. */
  query: SqlQuery
  /**
   * Lends a connection, always the same object for it, until the work is done. One on which it failed is
   * given up.
   */
  use<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface PoolOptions {
  /** Most connections. */
  size: number
  /** Settings of each session. */
  settings: Readonly<Record<string, string>>
}

/**
 * Small statements that are alike come again and again: what compiling them well would save is not worth its
 * time.
 */
const COMMON_SETTINGS = { jit: 'off', timezone: 'UTC', idle_in_transaction_session_timeout: '60s' }
/**
 * For what is written: every statement of the hot path meets its rows by an index. A planner that has not
 * seen a table grow would read all of it instead. A process that stands still in the middle of a group loses
 * it before its leases run out, so that it keeps nobody from taking them.
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
/** Beyond it the server is taken for gone. */
const ANSWER_TIMEOUT_MS = 60_000
/** As opposed to none, and one that has failed. */
const IN_TRANSACTION = 'T'
const INT8 = 20
const BYTEA = 17
const NUMERIC = 1700

/** Counts and times are numbers here. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8 || oid === NUMERIC) return Number
    return oid === BYTEA ? bytesFromHex : pg.types.getTypeParser(oid, format as 'text')
  },
} as pg.CustomTypesConfig

/** In memory of their own: a part of a shared piece would take all of it along to another thread. */
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
    types,
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
  pool.on('connect', client => client.on('error', () => {})) // what is asked next on it fails, and says so
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
    async query({ sql, values, kept }) {
      const statement = {
        text: sql,
        ...(values && { values: values.map(bindable) }),
        ...(kept && { name: nameOf(sql) }),
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
 * A value as its parameter: what is neither text, number, bytes nor null is an error instead of its text.
 * Text in PostgreSQL cannot hold NUL; it becomes the replacement character there.
 */
function bindable(value: unknown): unknown {
  if (Array.isArray(value)) return value.every(isPlain) ? value : value.map(bindable)
  if (value === null || value instanceof Uint8Array) return value
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new TypeError(`a ${typeof value} cannot be stored`)
}

/** It can be sent as it is. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0')
  return value === null || Number.isFinite(value) || value instanceof Uint8Array
}
