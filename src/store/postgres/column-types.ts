/** Column types, read from the database. Bulk statements need them for their array parameters. */
import { snake } from '../model/sql-names.ts'
import type { SqlQuery } from './connection.ts'

/**
 * Returns the type of a column, such as `int8`, `bytea` or `text`. Table and column are in camel case.
 * @throws when there is no such column
 */
export type ColumnTypes = (table: string, column: string) => string

export async function readColumnTypes(query: SqlQuery): Promise<ColumnTypes> {
  const { rows } = await query({
    // The views of information_schema take ten times as long.
    sql: `select relname || '.' || attname as place, typname as type
          from pg_attribute
          join pg_class on pg_class.oid = attrelid
          join pg_type on pg_type.oid = atttypid
          where relnamespace in (select oid from pg_namespace where nspname = any(current_schemas(false)))
            and relkind in ('r', 'p', 'v') and attnum > 0 and not attisdropped`,
  })
  return columnTypes(new Map((rows as { place: string; type: string }[]).map(row => [row.place, row.type])))
}

/** @param types types by `table_name.column_name` */
export function columnTypes(types: ReadonlyMap<string, string>): ColumnTypes {
  return (table, column) => {
    const place = `${snake(table)}.${snake(column)}`
    const type = types.get(place)
    if (type === undefined) throw new Error(`there is no column ${place}`)
    return type
  }
}
