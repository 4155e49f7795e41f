/** Bulk row operations on SQLite: prepared single-row statements, run in a loop. */
import type { Statement } from 'better-sqlite3'
import type { RowOps } from '../model/row-ops.ts'
import type { Schema } from '../model/schema.ts'
import { snake } from '../model/sql-names.ts'
import type { SqliteConnection } from './connection.ts'

type Row = Record<string, unknown>

export function sqliteRows(connection: SqliteConnection): RowOps {
  const sqlOf = remembered()
  /**
   * Returns a function that binds rows. The statement is looked up once for consecutive rows with the same
   * columns.
   */
  const bindings = (
    purpose: string,
    sqlFor: (columns: readonly string[]) => string,
    orderOf = (columns: readonly string[]) => columns,
  ) => {
    let last: { columns: readonly string[]; order: readonly string[]; statement: Statement } | undefined
    return (row: Row) => {
      const columns = Object.keys(row)
      if (!last || !sameNames(last.columns, columns)) {
        const sql = sqlOf(`${purpose} ${columns}`, () => sqlFor(columns))
        last = { columns, order: orderOf(columns), statement: connection.prepare(sql) }
      }
      return { statement: last.statement, values: last.order.map(column => row[column]) }
    }
  }
  const find: RowOps['find'] = async (table, keys, selected) => {
    const bind = bindings(`find ${table} ${selected} by`, by => findSql(table, by, selected))
    return (keys as readonly Row[]).map(key => {
      const { statement, values } = bind(key)
      return statement.get(...values) as never
    })
  }
  return {
    async insert(table, rows) {
      runEach(
        bindings(`insert ${table}`, columns => insertSql(table, columns)),
        rows,
      )
    },
    async update(table, key, rows) {
      const assigned = (columns: readonly string[]) =>
        columns.filter(column => !(key as readonly string[]).includes(column))
      const bind = bindings(
        `update ${table} ${key}`,
        columns => updateSql(table, key, assigned(columns)),
        columns => [...assigned(columns), ...(key as readonly string[])],
      )
      runEach(bind, rows)
    },
    find,
    /** SQLite has one writer, so no row needs a lock. */
    lock: find,
    async refer(table, rows) {
      runEach(
        bindings(`refer ${table}`, columns => referSql(table, columns)),
        rows,
      )
    },
    async reserve(table, count) {
      const sql = sqlOf(`reserve ${table}`, () => `select coalesce(max(id), 0) + 1 as next from ${table}`)
      const { next } = connection.prepare(sql).get() as { next: number }
      return Array.from({ length: count }, (_, i) => next + i)
    },
  }
}

type Bind = (row: Row) => { statement: Statement; values: unknown[] }

function runEach(bind: Bind, rows: readonly object[]) {
  for (const row of rows as readonly Row[]) {
    const { statement, values } = bind(row)
    statement.run(...values)
  }
}

function sameNames(names: readonly string[], others: readonly string[]): boolean {
  return names.length === others.length && names.every((name, i) => name === others[i])
}

/** Caches SQL texts by their purpose. The same string object makes looking up statements cheap. */
function remembered() {
  const texts = new Map<string, string>()
  return (purpose: string, make: () => string): string => {
    const known = texts.get(purpose)
    if (known !== undefined) return known
    const sql = make()
    texts.set(purpose, sql)
    return sql
  }
}

function insertSql(table: keyof Schema, columns: readonly string[]): string {
  const places = columns.map(() => '?').join(', ')
  return `insert into ${snake(table)} (${columns.map(snake).join(', ')}) values (${places})`
}

function referSql(table: keyof Schema, columns: readonly string[]): string {
  return `${insertSql(table, columns)} on conflict (hash) do update set refs = refs + excluded.refs`
}

function updateSql(table: keyof Schema, key: readonly string[], columns: readonly string[]): string {
  const assignments = columns.map(column => `${snake(column)} = ?`).join(', ')
  return `update ${snake(table)} set ${assignments} where ${conditions(key)}`
}

function findSql(table: keyof Schema, key: readonly string[], columns: readonly string[]): string {
  const selected = columns.map(column => `${snake(column)} as "${column}"`).join(', ')
  return `select ${selected} from ${snake(table)} where ${conditions(key)}`
}

function conditions(key: readonly string[]): string {
  return key.map(column => `${snake(column)} = ?`).join(' and ')
}
