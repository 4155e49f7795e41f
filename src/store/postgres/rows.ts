/** Bulk row operations on PostgreSQL: one statement for all rows of a shape, with columns as arrays. */
import type { RowOps } from '../model/row-ops.ts'
import { snake } from '../model/sql-names.ts'
import type { ColumnTypes } from './column-types.ts'
import type { SqlQuery, Statement } from './connection.ts'

type Row = Record<string, unknown>

/** SQL texts of the operations on rows. */
export interface RowStatements {
  insert(table: string, columns: readonly string[]): string
  refer(table: string, columns: readonly string[]): string
  update(table: string, key: readonly string[], columns: readonly string[]): string
  find(table: string, key: readonly string[], columns: readonly string[], isLocking: boolean): string
}

/** Maximum number of rows per statement. More would not be faster. */
const STATEMENT_ROWS_MAX = 1_000
const STATEMENT_BYTES_MAX = 8 * 1024 * 1024
const SERIALS_PER_QUERY = 500

/** Executes a statement that returns no rows. */
export type Write = (statement: Statement) => Promise<unknown>

/** @param write may resolve before its statement is executed */
export function postgresRows(query: SqlQuery, statements: RowStatements, write: Write = query): RowOps {
  const serials: number[] = []
  const meet = async (
    table: string,
    keys: readonly Row[],
    columns: readonly string[],
    isLocking: boolean,
  ) => {
    const found: unknown[] = new Array(keys.length).fill(undefined)
    const places = [...keys.keys()]
    if (isLocking) places.sort((a, b) => compareKeys(keys[a]!, keys[b]!))
    for (const { by, some } of shapesOf(places, place => keys[place]!)) {
      const sql = statements.find(table, by, columns, isLocking)
      const values = columnsOf(
        some.map(place => keys[place]!),
        by,
      )
      const { rows } = await query({ sql, values, isPrepared: true })
      for (const { place, ...row } of rows as (Row & { place: number })[]) found[some[place - 1]!] = row
    }
    return found as never
  }
  const add = async (sqlFor: (columns: readonly string[]) => string, rows: readonly object[]) => {
    for (const { by, some } of shapesOf(rows as readonly Row[], row => row))
      for (const part of inParts(some))
        await write({ sql: sqlFor(by), values: columnsOf(part, by), isPrepared: true })
  }
  return {
    insert: (table, rows) => add(by => statements.insert(table, by), rows),
    refer: (table, rows) => add(by => statements.refer(table, by), rows),
    async update(table, key, rows) {
      for (const pass of passesOf(rows as readonly Row[], key))
        for (const { by, some } of shapesOf(pass, row => row)) {
          const columns = by.filter(column => !(key as readonly string[]).includes(column))
          for (const part of inParts(some))
            await write({
              sql: statements.update(table, key, columns),
              values: columnsOf(part, [...key, ...columns]),
              isPrepared: true,
            })
        }
    },
    find: (table, keys, columns) => meet(table, keys as readonly Row[], columns, false),
    lock: (table, keys, columns) => meet(table, keys as readonly Row[], columns, true),
    /**
     * Reserves more keys than requested, for later calls. Keys that are left when the session ends are never
     * used.
     */
    async reserve(table, count) {
      if (serials.length < count) {
        const sql = `select nextval(pg_get_serial_sequence('${table}', 'id')) as id from generate_series(1, $1)`
        const { rows } = await query({ sql, values: [Math.max(count, SERIALS_PER_QUERY)], isPrepared: true })
        serials.push(...(rows as { id: number }[]).map(({ id }) => id))
      }
      return serials.splice(0, count)
    },
  }
}

/** Creates the SQL texts, each once. */
export function rowStatements(typeOf: ColumnTypes): RowStatements {
  const texts = new Map<string, string>()
  const once = (purpose: string, make: () => string): string => {
    const known = texts.get(purpose)
    if (known !== undefined) return known
    const sql = make()
    texts.set(purpose, sql)
    return sql
  }
  const arrays = (table: string, columns: readonly string[]) =>
    columns.map((column, i) => `$${i + 1}::${typeOf(table, column)}[]`).join(', ')
  const names = (columns: readonly string[]) => columns.map(snake).join(', ')
  const same = (key: readonly string[]) =>
    key.map(column => `t.${snake(column)} = r.${snake(column)}`).join(' and ')

  const insert = (table: string, columns: readonly string[]) =>
    once(
      `insert ${table} ${columns}`,
      () => `insert into ${snake(table)} (${names(columns)}) select * from unnest(${arrays(table, columns)})`,
    )

  return {
    insert,
    refer: (table, columns) =>
      once(
        `refer ${table} ${columns}`,
        () =>
          `${insert(table, columns)} on conflict (hash) do update set refs = ${snake(table)}.refs + excluded.refs`,
      ),
    update: (table, key, columns) =>
      once(`update ${table} ${key} ${columns}`, () => {
        const all = [...key, ...columns]
        const assignments = columns.map(column => `${snake(column)} = r.${snake(column)}`).join(', ')
        return `update ${snake(table)} t set ${assignments} from unnest(${arrays(table, all)}) as r(${names(all)}) where ${same(key)}`
      }),
    find: (table, key, columns, isLocking) =>
      once(`${isLocking ? 'lock' : 'find'} ${table} ${key} ${columns}`, () => {
        const selected = columns.map(column => `t.${snake(column)} as "${column}"`).join(', ')
        const lock = isLocking ? ' for update' : ''
        return (
          `select r.place, f.* from unnest(${arrays(table, key)}) with ordinality as r(${names(key)}, place) ` +
          `cross join lateral (select ${selected} from ${snake(table)} t where ${same(key)} limit 1${lock}) f`
        )
      }),
  }
}

/** Returns the values of rows of one shape, column by column. */
function columnsOf(rows: readonly Row[], columns: readonly string[]): unknown[][] {
  return columns.map(column => rows.map(row => row[column]))
}

interface Shape<T> {
  by: string[]
  some: T[]
}

/** Groups things whose rows have the same columns. */
function shapesOf<T>(things: readonly T[], rowOf: (thing: T) => Row): Shape<T>[] {
  const shapes = new Map<string, Shape<T>>()
  let last: { columns: string[]; shape: Shape<T> } | undefined
  for (const thing of things) {
    const columns = Object.keys(rowOf(thing))
    if (!last || !isSame(columns, last.columns))
      last = { columns, shape: shapeOf(shapes, columns.toSorted()) }
    last.shape.some.push(thing)
  }
  return [...shapes.values()]
}

function shapeOf<T>(shapes: Map<string, Shape<T>>, by: string[]): Shape<T> {
  const name = by.join()
  const shape = shapes.get(name) ?? { by, some: [] }
  shapes.set(name, shape)
  return shape
}

/** Whether the columns are the same in the same order, as they are for rows that one function made. */
function isSame(columns: readonly string[], others: readonly string[]): boolean {
  return columns.length === others.length && columns.every((column, i) => column === others[i])
}

/** Distributes rows with the same key to separate passes, so that the last one counts. */
function passesOf(rows: readonly Row[], key: readonly string[]): Row[][] {
  if (rows.length < 2) return [[...rows]]
  const passes: Row[][] = []
  const times = new Map<string, number>()
  for (const row of rows) {
    const text = key.map(column => textOf(row[column])).join()
    const time = times.get(text) ?? 0
    times.set(text, time + 1)
    passes[time] ??= []
    passes[time].push(row)
  }
  return passes
}

/** Splits rows, so that no statement becomes too large. */
function* inParts(rows: readonly Row[]): Iterable<Row[]> {
  let part: Row[] = []
  let bytes = 0
  for (const row of rows) {
    const size = sizeOf(row)
    if (part.length > 0 && (part.length === STATEMENT_ROWS_MAX || bytes + size > STATEMENT_BYTES_MAX)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(row)
    bytes += size
  }
  if (part.length > 0) yield part
}

function sizeOf(row: Row): number {
  let size = 0
  for (const value of Object.values(row))
    if (value instanceof Uint8Array || typeof value === 'string') size += value.length
  return size
}

function compareKeys(a: Row, b: Row): number {
  for (const column of Object.keys(a)) {
    const [one, other] = [a[column], b[column]]
    const order =
      one instanceof Uint8Array && other instanceof Uint8Array
        ? Buffer.compare(one, other)
        : Number(one! > other!) - Number(one! < other!)
    if (order !== 0) return order
  }
  return 0
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : `${typeof value} ${value}`
}
