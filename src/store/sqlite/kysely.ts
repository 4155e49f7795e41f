/**
 * Kysely dialect over a SQLite connection with cached statements. Transactions are managed by the writer, not
 * by Kysely.
 */
import {
  type BinaryOperationNode,
  CamelCasePlugin,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  ReferenceNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type UnknownRow,
  ValueNode,
} from 'kysely'
import type { Db, Schema } from '../model/schema.ts'
import type { Compilable, ReadTogether, RowsOf, Snapshot } from '../reading/read.ts'
import type { SqliteConnection } from './connection.ts'

const camelCase = new CamelCasePlugin()

export function kyselyOver(connection: SqliteConnection): Db {
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SharedAdapter(),
      createDriver: () => driverOf(connection),
      createIntrospector: db => new SqliteIntrospector(db),
      createQueryCompiler: () => new StatementCompiler(),
    },
    plugins: [camelCase],
  })
}

/**
 * Columns in the conditions of partial indexes. Statements contain the values that these columns are compared
 * with, since SQLite chooses a partial index by them.
 */
const PARTIAL_INDEX_COLUMNS = new Set(['state', 'status', 'notice_due', 'unread'])

/**
 * Words statements so that SQLite plans each once. SQLite plans a statement again when a value is bound that
 * the plan might depend on: a limit, a value that a statement with an order compares with, or a value in the
 * condition of a partial index. The unary plus before a placeholder does not change the value and rules that
 * out (decision 0073).
 */
class StatementCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder() {
    return '+?'
  }

  protected override visitBinaryOperation(node: BinaryOperationNode) {
    const { leftOperand, rightOperand } = node
    const isImmediate = ValueNode.is(rightOperand) && isPartialIndexColumn(leftOperand)
    super.visitBinaryOperation(
      isImmediate ? { ...node, rightOperand: ValueNode.createImmediate(rightOperand.value) } : node,
    )
  }
}

function isPartialIndexColumn(operand: BinaryOperationNode['leftOperand']): boolean {
  if (!ReferenceNode.is(operand) || operand.column.kind !== 'ColumnNode') return false
  return PARTIAL_INDEX_COLUMNS.has(operand.column.column.name)
}

/**
 * Lets Kysely run statements and streams at the same time. Statements are synchronous, and each stream has
 * a statement that no other query uses.
 */
class SharedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true
  }
}

function driverOf(connection: SqliteConnection): Driver {
  const session: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery) => execute<R>(connection, query),
    streamQuery: <R>(query: CompiledQuery) => stream<R>(connection, query),
  }
  return {
    init: async () => {},
    acquireConnection: async () => session,
    releaseConnection: async () => {},
    beginTransaction: notHere,
    commitTransaction: notHere,
    rollbackTransaction: notHere,
    destroy: async () => connection.close(),
  }
}

/** Reads the rows of several queries as of one commit: the commit that open streams see, if there are any. */
export function readTogetherOver(connection: SqliteConnection): ReadTogether {
  const begin = connection.prepare('begin')
  const commit = connection.prepare('commit')
  return async <Q extends readonly Compilable[]>(...queries: Q) => {
    const compiled = queries.map(query => query.compile())
    const isOwn = connection.streamCount === 0 && !connection.raw.inTransaction
    if (isOwn) begin.run()
    let results: QueryResult<unknown>[]
    try {
      results = compiled.map(query => execute(connection, query))
    } finally {
      if (isOwn) commit.run()
    }
    const rows = results.map(async (result, i) => {
      const { queryId } = compiled[i]!
      return (await camelCase.transformResult({ result: result as QueryResult<UnknownRow>, queryId })).rows
    })
    return (await Promise.all(rows)) as RowsOf<Q>
  }
}

/**
 * Keeps the connection in one read transaction. Other reads on the connection see the same commit meanwhile.
 */
export function snapshotOver(connection: SqliteConnection, db: Db): Snapshot {
  const begin = connection.prepare('begin')
  const commit = connection.prepare('commit')
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const running = last.then(async () => {
      begin.run()
      try {
        return await work(db)
      } finally {
        commit.run()
      }
    })
    last = running.catch(() => {})
    return running
  }
}

async function notHere(): Promise<never> {
  throw new Error('transactions belong to the writer; write through a command')
}

function execute<R>(connection: SqliteConnection, { sql, parameters }: CompiledQuery): QueryResult<R> {
  const statement = connection.prepare(sql)
  if (statement.reader) return { rows: statement.all(...parameters) as R[] }
  const { changes, lastInsertRowid } = statement.run(...parameters)
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
}

/**
 * Streams rows from a new statement, because a cached statement cannot run again while its rows are being
 * read.
 */
async function* stream<R>(connection: SqliteConnection, query: CompiledQuery) {
  const statement = connection.raw.prepare(query.sql)
  connection.streamCount++
  try {
    for (const row of statement.iterate(...query.parameters)) yield { rows: [row as R] }
  } finally {
    connection.streamCount--
  }
}
