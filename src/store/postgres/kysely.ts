/** Kysely dialect over PostgreSQL connections. Transactions are managed by the writer, not by Kysely. */
import {
  CamelCasePlugin,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  replaceWithNoncontingentExpression,
  type UnknownRow,
} from 'kysely'
import type { Db, Schema } from '../model/schema.ts'
import type { Compilable, ReadTogether, RowsOf, Snapshot } from '../reading/read.ts'
import type { PostgresConnection, PostgresPool, Result, SqlQuery } from './connection.ts'

const camelCase = new CamelCasePlugin()

/** @param close called when Kysely is destroyed */
export function kyselyOver(query: SqlQuery, close = async () => {}): Db {
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driverOver(query),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    plugins: [camelCase, new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })],
  })
  // Kysely does not destroy a driver that ran no query, although other code may have used the connections
  const destroy = db.destroy.bind(db)
  let closing: Promise<void> | undefined
  db.destroy = () => {
    closing ??= destroy().then(close)
    return closing
  }
  return db
}

function driverOver(query: SqlQuery): Driver {
  const session: DatabaseConnection = {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery) =>
      resultOf<R>(await query({ sql, values: parameters })),
    streamQuery: () => {
      throw new Error('rows are read in batches; no cursor is kept open')
    },
  }
  return {
    init: async () => {},
    acquireConnection: async () => session,
    releaseConnection: async () => {},
    beginTransaction: notHere,
    commitTransaction: notHere,
    rollbackTransaction: notHere,
    destroy: async () => {},
  }
}

/** Reads the rows of several queries as of one commit. */
export function readTogetherOver(pool: PostgresPool): ReadTogether {
  return async <Q extends readonly Compilable[]>(...queries: Q) => {
    const compiled = queries.map(query => query.compile())
    const results = await pool.use(connection =>
      inSnapshot(connection, () =>
        Promise.all(compiled.map(({ sql, parameters }) => connection.query({ sql, values: parameters }))),
      ),
    )
    const rows = results.map(async (result, i) => {
      const { queryId } = compiled[i]!
      return (await camelCase.transformResult({ result: resultOf<UnknownRow>(result), queryId })).rows
    })
    return (await Promise.all(rows)) as RowsOf<Q>
  }
}

/** Runs snapshots one after another. */
export function snapshotOver(pool: PostgresPool): Snapshot {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const running = last.then(() =>
      pool.use(connection => inSnapshot(connection, () => work(kyselyOver(connection.query)))),
    )
    last = running.catch(() => {})
    return running
  }
}

async function inSnapshot<T>({ query }: PostgresConnection, work: () => Promise<T>): Promise<T> {
  await query({ sql: 'begin isolation level repeatable read read only' })
  const result = await work()
  await query({ sql: 'commit' })
  return result
}

async function notHere(): Promise<never> {
  throw new Error('transactions belong to the writer; write through a command')
}

function resultOf<R>({ rows, rowCount }: Result): QueryResult<R> {
  return { rows: rows as R[], numAffectedRows: BigInt(rowCount) }
}
