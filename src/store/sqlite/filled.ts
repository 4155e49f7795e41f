/** A temporary SQLite database of the current schema that is filled with single rows of another database. */
import Database from 'better-sqlite3'
import type { Kysely } from 'kysely'
import { migrate } from '../migrations/migrate.ts'
import { openForWriting } from './connection.ts'
import { kyselyOver } from './kysely.ts'

export interface FilledDatabase {
  /**
   * Adds a row, whatever other rows it refers to.
   * @param table name in snake case
   * @param row values by columns; bytes are in hex after `\\x`, as PostgreSQL writes them
   */
  add(table: string, row: Readonly<Record<string, string | null>>): void
  close(): void
}

type Value = string | bigint | Buffer | null

/** @param file path at which there is none */
export async function createFilled(file: string): Promise<FilledDatabase> {
  const empty = openForWriting(file)
  await migrate(kyselyOver(empty) as unknown as Kysely<unknown>, 'sqlite', 0)
  empty.close()
  const raw = new Database(file)
  raw.pragma('foreign_keys = OFF')
  return {
    add(table, row) {
      const columns = raw.pragma(`table_info(${table})`) as { name: string; type: string }[]
      const known = columns.filter(({ name }) => row[name] !== undefined)
      const names = known.map(({ name }) => `"${name}"`).join(', ')
      const values = known.map(({ name, type }) => valueIn(row[name]!, type.toLowerCase()))
      raw.prepare(`insert into ${table} (${names}) values (${known.map(() => '?').join(', ')})`).run(values)
    },
    close: () => void raw.close(),
  }
}

function valueIn(text: string | null, type: string): Value {
  if (text === null) return null
  if (type === 'blob') return Buffer.from(text.slice(HEX_PREFIX.length), 'hex')
  return type === 'integer' ? BigInt(text) : text
}

const HEX_PREFIX = '\\x'
