/** Row operations on SQLite: kept single-row statements, run in a loop. */
import type { RowOps } from '../command.ts'
import type { Schema } from '../schema.ts'
import { snake } from '../sql-names.ts'
import type { SqliteConnection } from './connection.ts'

type Row = Record<string, unknown>

export function sqliteRows(connection: SqliteConnection): RowOps {
  const sqlOf = remembered()
  const find: RowOps['find'] = async (table, keys, columns) =>
    (keys as readonly Row[]).map(key => {
      const by = Object.keys(key)
      const sql = sqlOf(`find ${table} ${by} ${columns}`, () => findSql(table, by, columns))
      return connection.prepare(sql).get(...Object.values(key)) as never
    })
  return {
    async insert(table, rows) {
      for (const row of rows as readonly Row[]) {
        const columns = Object.keys(row)
        const sql = sqlOf(`insert ${table} ${columns}`, () => insertSql(table, columns))
        connection.prepare(sql).run(...Object.values(row))
      }
    },
    async update(table, key, rows) {
      for (const row of rows as readonly Row[]) {
        const columns = Object.keys(row).filter(column => !(key as readonly string[]).includes(column))
        const sql = sqlOf(`update ${table} ${key} ${columns}`, () => updateSql(table, key, columns))
        connection.prepare(sql).run(...columns.map(column => row[column]), ...key.map(column => row[column]))
      }
    },
    find,
    /** There is only one who writes. */
    lock: find,
    async reserve(table, count) {
      const sql = sqlOf(`reserve ${table}`, () => `select coalesce(max(id), 0) + 1 as next from ${table}`)
      const { next } = connection.prepare(sql).get() as { next: number }
      return Array.from({ length: count }, (_, i) => next + i)
    },
  }
}

/** SQL texts by what they are for; the same text object makes statement look-ups cheap. */
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
